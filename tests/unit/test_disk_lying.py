"""A look at a folder whose files are taken away: what waits, and what nobody will ever take."""

# ruff: noqa: ASYNC240 -- a test's own loop may be held up by a file of its own.

import os
from pathlib import Path

import pytest

from penstock.engines.disk import lying as lying_module
from penstock.engines.disk.lying import LINK, Lying, lying
from tests.support.nobody import as_nobody, let_in
from tests.support.trees import plant


async def test_files_wait_and_are_told_apart_from_the_rest(tmp_path: Path) -> None:
    """Names that are left out on purpose are neither; a folder of files is no thing by itself."""
    plant(tmp_path, {"a.md": "1", "deep/b.md": "2", ".hidden": "3", "half.part": "4", ".git/config": "5"})

    found = await lying(tmp_path)

    assert (found.files, found.untaken, found.is_whole) == (2, 0, True)
    assert found.first in ("a.md", "deep/b.md")


@pytest.mark.parametrize("kind", ["link", "pipe", "name", "link to a folder"])
async def test_what_is_never_taken_is_counted_with_why(tmp_path: Path, kind: str) -> None:
    """Links, pipes and names that are no text: each with a path people can read."""
    match kind:
        case "link":
            (tmp_path / "x").symlink_to("/etc/hostname")
        case "link to a folder":
            (tmp_path / "x").symlink_to("/etc")
        case "pipe":
            os.mkfifo(tmp_path / "x")
        case _:
            Path(os.fsdecode(os.fsencode(tmp_path) + b"/x\xff")).touch()

    found = await lying(tmp_path)

    assert (found.files, found.untaken) == (0, 1)
    assert found.example == ("x\\udcff" if kind == "name" else "x")
    assert {"pipe": "ordinary", "name": "text"}.get(kind, LINK) in found.why


async def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    """It is made when its collection is first watched."""
    assert await lying(tmp_path / "nope") == Lying()


async def test_a_folder_that_is_a_link_is_never_looked_into(tmp_path: Path) -> None:
    """As its watch refuses it: nothing of what it leads to is taken."""
    (tmp_path / "x").symlink_to("/etc")

    found = await lying(tmp_path / "x")

    assert (found.files, found.untaken, found.why) == (0, 1, LINK)


async def test_what_may_not_be_read_is_told(tmp_path: Path) -> None:
    """Whatever lies in it is not taken."""
    (tmp_path / "locked").mkdir(mode=0o000)
    let_in(tmp_path)

    with as_nobody():
        found = await lying(tmp_path)

    assert (found.untaken, found.example) == (1, "locked")


async def test_what_is_not_told_is_counted_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Empty folders and hidden names are looked at too, and there may be any number of them."""
    monkeypatch.setattr(lying_module, "ENTRIES_MAX", 4)
    plant(tmp_path, {f".{number}": "" for number in range(3)})
    (tmp_path / "empty").mkdir()
    assert (await lying(tmp_path)).is_whole

    (tmp_path / "empty" / "deep").mkdir()
    assert not (await lying(tmp_path)).is_whole


async def test_a_look_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of very many files is not read to its end, and the counts say so."""
    monkeypatch.setattr(lying_module, "ENTRIES_MAX", 3)
    plant(tmp_path, {f"{number}.md": "" for number in range(9)})

    found = await lying(tmp_path)

    assert (found.files, found.is_whole) == (3, False)
