"""Ignore files are read as git reads them: the same files come out of a walk and of git itself."""

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model.files import Selection
from tests.support.trees import found, git, plant

NAMES = (
    "a",
    "b",
    "ab",
    "foo",
    "foobar",
    "a.py",
    "b.txt",
    "x y",
    "é",
    "a-b",
    "[a]",
    "A1",
    "bar",
    "a\\b",
    "!a",
    "#b",
)
FOLDERS = ("", "a/", "foo/", "a/b/", "foo/bar/", "foobar/", "é/", "a/foo/a/", "x y/")
TOKENS = (
    *("a", "b", "ab", "foo", "bar", "*", "*", "**", "/", "/", "?", ".py", "*.py", "é", " ", "!", "#", "***"),
    *("[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "[a-]", "[--a]", "[b-a]", "[[:alpha:]]", "[[:nope:]]", "[/]"),
    *("\\a", "\\*", "x\\ y", "[a", "\\", "\\/", "[\\]]", "[[a]", "[[:alpha:]0-9]", "\r", "\t"),
)

patterns = st.builds(
    lambda start, tokens, end: start + "".join(tokens) + end,
    st.sampled_from(["", "", "", "!", "/", "!/"]),
    st.lists(st.sampled_from(TOKENS), min_size=1, max_size=6),
    st.sampled_from(["", "", "/", "/**", " ", "\r"]),
)
ignore_files = st.lists(patterns, min_size=1, max_size=5).map("\n".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    git(root, "init", "-q")
    taken = {folder.split("/")[0] for folder in FOLDERS if folder}
    plant(
        root,
        {
            folder + name: ""
            for folder in FOLDERS
            for name in NAMES
            if folder or name not in taken
            if not (root / folder / name).is_dir()
            and folder + name + "/" not in FOLDERS
            and not any(other.startswith(folder + name + "/") for other in FOLDERS)
        },
    )
    return root


@settings(max_examples=150)
@given(top=ignore_files, inner=st.none() | ignore_files)
def test_walks_find_what_git_finds(repository: Path, top: str, inner: str | None) -> None:
    """Negation, anchoring, folders only, classes, escapes, stars and malformed lines, at two levels."""
    (repository / ".gitignore").write_bytes(top.encode())
    below = repository / "foo" / ".gitignore"
    below.unlink(missing_ok=True)
    if inner is not None:
        below.write_bytes(inner.encode())

    theirs = git(repository, "ls-files", "-z", "--others", "--exclude-standard").split(b"\0")

    ours = asyncio.run(found(repository, Selection(hidden=True)))
    assert sorted(map(os.fsencode, ours)) == sorted(name for name in theirs if name)
