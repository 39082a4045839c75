"""The page of formats names every format and ending there is, and only codes that exist."""

from __future__ import annotations

import re

from penstock.model.codes import CODES
from penstock.model.parsed import Media
from penstock.pipeline.parse.endings import FORMATS, LANGUAGES
from penstock.settings.parser import Parser
from tests.house.tree import TOP

PAGE = (TOP / "docs/reference/formats.md").read_text(encoding="utf-8")


def test_every_format_and_ending_is_on_the_page() -> None:
    """Whoever looks an ending up finds it with its format."""
    rows = {row[1]: row[2] for row in re.finditer(r"^\| `(\w+)` \| (.*)$", PAGE, re.MULTILINE)}

    assert set(rows) == {media.value for media in Media}
    missing = [
        ending for ending, media in FORMATS.items() if f".{ending}" not in rows[media.value].split("|")[0]
    ]
    assert missing == []


def test_the_page_lists_the_endings_of_source_code() -> None:
    """The list is the table, sorted."""
    (listed,) = re.findall(r"^Source code: (.*)\.$", PAGE, re.MULTILINE)

    assert listed.split() == [f".{ending}" for ending in sorted(LANGUAGES)]


def test_the_page_names_only_codes_and_settings_that_exist() -> None:
    """A code on the page can be looked up, and a limit on it can be set."""
    codes = set(re.findall(r"`(ERR_[A-Z_]+)`", PAGE))
    keys = set(re.findall(r"`parser\.(\w+)`", PAGE))

    assert codes <= set(CODES)
    assert keys <= set(Parser.__dataclass_fields__)
