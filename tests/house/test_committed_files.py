"""What is committed works for everyone: no path of one machine, no registry, no promise left in a comment."""

import re
from pathlib import Path

import pytest

from tests.house.tree import TOP, committed, place

# Written with escapes and brackets so that this file does not match itself.
FORBIDDEN = {
    "a package registry's host": (
        rb"pypi\.org|pythonhosted\.org|npmjs\.(org|com)|yarnpkg\.com|crates\.io|"
        rb"proxy\.golang\.org|rubygems\.org|repo\.maven\.apache\.org|conda\.anaconda\.org"
    ),
    # A folder named `work` inside the tree has something before its slash; a path of a machine has not.
    "a path of one machine": rb"(?<![\w.*}\])>-])/(wo[r]k|ro[o]t|home/[a-z_][\w-]*|Users/[A-Za-z][\w-]*)/",
    "a promise left in a comment": rb"\b(TO[D]O|FIX[M]E)\b",
}

LINK = re.compile(r"\]\(\s*<?([^)\s>]+)")


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_committed_file_carries(what: str) -> None:
    """Text that is true on one machine, or true one day, is not committed."""
    pattern = re.compile(FORBIDDEN[what])

    found = [
        f"{place(path, number)}: {line.decode(errors='replace').strip()}"
        for path in committed()
        for number, line in enumerate(path.read_bytes().splitlines(), start=1)
        if pattern.search(line)
    ]

    assert found == []


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("a package registry's host", b"https://py" + b"pi.org/simple"),
        ("a path of one machine", b'open("/ro' + b'ot/x")'),
        ("a path of one machine", b"cd /ho" + b"me/ann/src"),
        ("a path of one machine", b"see /wo" + b"rk/x"),
        ("a promise left in a comment", b"# TO" + b"DO: later"),
    ],
)
def test_forbidden_text_is_recognised(what: str, line: bytes) -> None:
    """The patterns find what they are for, so that finding nothing means something."""
    assert re.search(FORBIDDEN[what], line)


def test_the_room_named_work_is_no_machine_path() -> None:
    """A path inside the tree may go through the room `work`."""
    assert not re.search(FORBIDDEN["a path of one machine"], b"src/penstock/wo" + b"rk/worker.py")


def test_requirements_carry_no_address() -> None:
    """Pinned versions and hashes say what is installed; where it comes from is the installer's affair."""
    files = sorted((TOP / "requirements").iterdir())
    found = [
        f"{place(path, number)}: {line}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if "://" in line or re.match(r"\s*(-i|-f|--(extra-)?index-url|--find-links|--trusted-host)\b", line)
    ]

    assert {path.suffix for path in files} == {".in", ".txt"}
    assert found == []


def test_readme_is_there() -> None:
    """A newcomer finds a README that opens with the project's name."""
    assert (TOP / "README.md").read_text(encoding="utf-8").startswith("# Penstock")


def test_links_in_the_docs_lead_somewhere() -> None:
    """Every relative link in a committed Markdown file points at something that exists."""
    pages = {TOP / "README.md", *(path for path in committed() if path.suffix == ".md")}

    broken = [
        f"{place(page)} -> {target}"
        for page in sorted(pages)
        for target in links(page)
        if not (page.parent / target).exists()
    ]

    assert broken == []


def links(page: Path) -> list[str]:
    """The relative targets a page links to, without their anchors."""
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    return [
        target.partition("#")[0]
        for target in targets
        if not re.match(r"[a-z][a-z0-9+.-]*:", target) and not target.startswith("#")
    ]
