"""Globs: what only a clock or a malformed pattern could show; git itself judges the rest."""

import re

import pytest

from penstock.model.globs import NeverMatches, translate
from penstock.model.ignoring import glob_rules, is_temporary, parse_ignore_file


@pytest.mark.parametrize(
    "pattern",
    [b"*a" * 100 + b"b", b"**/a*" * 60 + b"/b", b"a*" * 100 + b"/x", b"*?" * 100 + b"b", b"*" * 200 + b"b"],
)
def test_no_pattern_takes_long(pattern: bytes) -> None:
    """Names made to be tried in every way at every star are answered before the test's own limit."""
    expression = re.compile(translate(pattern), re.DOTALL)

    assert expression.fullmatch(b"a" * 255) is None
    assert expression.fullmatch(b"/".join([b"a" * 60] * 60)) is None


@pytest.mark.parametrize("pattern", [b"[a", b"a\\", b"[[:nope:]]", b"[a-", b"[!"])
def test_malformed_patterns_match_nothing(pattern: bytes) -> None:
    """As in git, they are no error of whoever wrote the file."""
    with pytest.raises(NeverMatches):
        translate(pattern)
    assert not glob_rules([pattern.decode()])


def test_many_rules_are_asked_as_one() -> None:
    """A thousand lines decide by the last one that matches."""
    rules = parse_ignore_file(b"".join(b"*.x%d\n!keep.x%d\n" % (n, n) for n in range(1000)))

    assert rules.verdict(b"deep/a.x500", is_folder=False) is True
    assert rules.verdict(b"deep/keep.x500", is_folder=False) is False
    assert rules.verdict(b"deep/a.y", is_folder=False) is None


@pytest.mark.parametrize(
    "name", [".a.swp", "a~", "a.tmp", "a.PART", "4913", "~$a.docx", ".#a", "a.crdownload"]
)
def test_temporary_names_are_known(name: str) -> None:
    """What editors, browsers and copy programs call a file they have not finished."""
    assert is_temporary(name)
    assert not is_temporary("a.txt")
