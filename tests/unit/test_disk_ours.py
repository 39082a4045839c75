"""What the program keeps in its data folder is found by no walk, and read through no link."""

import os
from pathlib import Path

import pytest

from penstock.engines.disk.ours import HEAD, NAME, is_kept, keep_out_of_walks
from tests.support.trees import found, plant

KEPT = ("penstock.db", "penstock.db-wal", "blobs/ab/abcd", "run/turn.lock", "strays/x", "watch.lock")


async def test_a_walk_around_a_data_folder_finds_nothing_of_it(tmp_path: Path) -> None:
    """F1: neither the database nor kept bytes, nor what people have dropped there for another collection."""
    plant(tmp_path, {"note.md": "", **{f"data/{name}": "" for name in (*KEPT, "sources/a/incoming/b.md")}})

    keep_out_of_walks(tmp_path / "data")

    assert await found(tmp_path) == ["note.md"]
    assert await found(tmp_path / "data" / "sources") == ["a/incoming/b.md"]


async def test_a_folder_that_is_its_owners_too_keeps_his_files(tmp_path: Path) -> None:
    """A data folder may be the very folder whose files are taken in; only our names are left out there."""
    plant(tmp_path, {"note.md": "", "mine/blobs.md": "", **dict.fromkeys(KEPT, "")})

    keep_out_of_walks(tmp_path)

    assert await found(tmp_path) == ["mine/blobs.md", "note.md"]


@pytest.mark.parametrize("owners", [b"", b"*.tmp\n", b"!blobs/\n!penstock.db\n"])
async def test_an_owners_ignore_file_lets_no_walk_in(tmp_path: Path, owners: bytes) -> None:
    """His rules hold for his files: what the program keeps is left out whatever they say, or do not say."""
    plant(tmp_path, {"note.md": "", f"data/{NAME}": owners, **{f"data/{name}": "" for name in KEPT}})
    plant(tmp_path, {"data/mine.md": "", "data/sources/a/incoming/b.md": "", "data/penstock.db": bytes(4096)})

    assert await found(tmp_path) == ["data/mine.md", "note.md"]


async def test_names_like_ours_are_anybodys_elsewhere(tmp_path: Path) -> None:
    """A folder without our database is no data folder, and a file that only is called so is none."""
    plant(tmp_path, {"blobs/a.md": "", "sources/b.md": "", "run/c.md": "", "penstock.db": "a list of mine"})

    assert await found(tmp_path) == ["blobs/a.md", "penstock.db", "run/c.md", "sources/b.md"]


def test_the_file_is_written_once_and_renewed(tmp_path: Path) -> None:
    """An empty one, or one of an earlier version, is replaced; somebody else's stays, and so do his lines."""
    keep_out_of_walks(tmp_path)
    first = os.stat(tmp_path / NAME)
    keep_out_of_walks(tmp_path)
    again = os.stat(tmp_path / NAME)
    assert (again.st_ino, again.st_mtime_ns) == (first.st_ino, first.st_mtime_ns)

    (tmp_path / NAME).write_bytes(HEAD + b"/less/\n")
    keep_out_of_walks(tmp_path)
    assert b"/blobs" in (tmp_path / NAME).read_bytes()

    (tmp_path / NAME).write_bytes(b"")
    keep_out_of_walks(tmp_path)
    (tmp_path / NAME).write_bytes((tmp_path / NAME).read_bytes() + b"/mine/\n")
    keep_out_of_walks(tmp_path)
    assert (tmp_path / NAME).read_bytes().startswith(HEAD)
    assert (tmp_path / NAME).read_bytes().endswith(b"/mine/\n")

    (tmp_path / NAME).write_bytes(b"*.md\n")
    keep_out_of_walks(tmp_path)
    assert (tmp_path / NAME).read_bytes() == b"*.md\n"
    assert sorted(os.listdir(tmp_path)) == [NAME]


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing else fails for it."""
    (tmp_path / NAME).mkdir()

    keep_out_of_walks(tmp_path)

    assert "cannot be written" in caplog.text


@pytest.mark.parametrize(
    ("name", "kept"), [(name, True) for name in KEPT] + [("sources/a/b", False), ("x", False)]
)
def test_what_is_kept_is_known_by_any_path(tmp_path: Path, name: str, kept: bool) -> None:
    """Also through a link, or around a corner."""
    plant(tmp_path, {f"data/{name}": ""})
    (tmp_path / "link").symlink_to(tmp_path / "data" / name)

    for path in (tmp_path / "data" / name, tmp_path / "link", tmp_path / "data" / ".." / "data" / name):
        assert is_kept(tmp_path / "data", path) is (name in KEPT)
