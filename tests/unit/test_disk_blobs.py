"""What only the blob store on a disk can meet: a full disk, a folder it may not write, dead writers."""

import fcntl
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from penstock.engines.disk import DiskBlobs, locking
from penstock.engines.disk.durable import sweep_unfinished, unfinished, write_whole
from penstock.model.errors import Unavailable

TOP = Path(__file__).resolve().parents[2]

FULL = """
import asyncio, resource, sys
from pathlib import Path
from penstock.engines.disk import DiskBlobs
from penstock.model.errors import Fault

async def main() -> None:
    blobs = DiskBlobs(Path(sys.argv[1]))
    await blobs.put_bytes(b"small")
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    for put in (blobs.put_bytes(bytes(200_000)), blobs.put_file(Path(sys.argv[2]), limit=1 << 30)):
        try:
            await put
        except Fault as fault:
            print(type(fault).__name__, fault.code)

asyncio.run(main())
"""


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_disk_that_takes_no_more_is_exhausted_and_nothing_stays(tmp_path: Path) -> None:
    """The system's own refusal to let the file grow is told as a full disk; the blobs before it stay."""
    source = tmp_path / "big.bin"
    source.write_bytes(bytes(3_000_000))

    ran = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path / "blobs", source],
        cwd=TOP,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )

    assert ran.stdout.splitlines() == ["Exhausted ERR_DISK_FULL"] * 2, ran.stderr
    assert len(files_in(tmp_path / "blobs")) == 1


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """A file where the folder should be: the store says which place it cannot write."""
    (tmp_path / "blobs").write_text("a file")

    with pytest.raises(Unavailable) as told:
        await DiskBlobs(tmp_path / "blobs").put_bytes(b"x")

    assert told.value.code == "ERR_STORE_READ_ONLY"
    assert str(tmp_path / "blobs") in told.value.message


@pytest.mark.parametrize("of_folder", [False, True])
async def test_a_lock_that_is_never_let_go_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_folder: bool
) -> None:
    """Whoever holds a blob or its folder may have been stopped; whoever waits is told, and when."""
    monkeypatch.setattr(locking, "PATIENCE_SECONDS", 0.1)
    blobs = DiskBlobs(tmp_path)
    blob = await blobs.put_bytes(b"x")
    (file,) = files_in(tmp_path)
    locked = file.parent if of_folder else file
    held = os.open(locked, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)

    async with blobs.claiming():
        with pytest.raises(Unavailable) as told:
            await (blobs.put_bytes(b"x") if of_folder else blobs.verify(blob.hash))
    os.close(held)

    assert told.value.code == "ERR_STORE_UNAVAILABLE"
    assert told.value.message == f"{locked} has been locked by another process for 0.1 s"
    assert files_in(tmp_path) == [file]
    assert await blobs.remove(blob.hash)


@pytest.mark.parametrize("is_known", [False, True], ids=["new", "known"])
async def test_bytes_are_on_disk_before_their_name_and_that_before_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    """B2: after a power cut a name leads to all of the bytes, and what was answered has its name."""
    blobs = DiskBlobs(tmp_path)
    if is_known:
        await blobs.put_bytes(b"text")
    done, fsync, rename = list[str](), os.fsync, Path.rename

    def synced(file: int) -> None:
        fsync(file)
        done.append("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else "bytes")

    def renamed(path: Path, target: Path) -> Path:
        done.append("name")
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "rename", renamed)
    await blobs.put_bytes(b"text")

    assert done[-3:] == (["folder"] if is_known else ["bytes", "name", "folder"])


def test_a_living_writers_file_is_not_swept(tmp_path: Path) -> None:
    """However old it is, an unfinished file with a writer stays; without one it goes, however young."""
    with unfinished(tmp_path) as (_, path):
        os.utime(path, (0, 0))
        assert sweep_unfinished(tmp_path) == 0
        assert path.exists()

    left = tmp_path / "0123456789abcdef.part"
    left.write_bytes(b"half")
    assert sweep_unfinished(tmp_path) == 1
    assert files_in(tmp_path) == []


def test_a_whole_write_replaces_and_leaves_nothing_beside(tmp_path: Path) -> None:
    """The new bytes stand where the old ones stood."""
    path = tmp_path / "note.json"
    for text in (b"old", b"new and longer"):
        write_whole(path, text)

    assert path.read_bytes() == b"new and longer"
    assert files_in(tmp_path) == [path]


async def test_stored_bytes_are_protected_from_accidents(tmp_path: Path) -> None:
    """A blob's file may be read by its owner and written by nobody."""
    blobs = DiskBlobs(tmp_path)
    blob = await blobs.put_bytes(b"text")

    async with blobs.path_of(blob.hash) as path:
        assert path.stat().st_mode & 0o777 == 0o400


@pytest.mark.parametrize("is_known", [False, True], ids=["new", "known"])
async def test_a_blob_is_put_at_the_time_of_our_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    """B8: not at that of the file system, which lags a tick behind it, or more where it is another's."""
    store, later = DiskBlobs(tmp_path), time.time() + 5
    if is_known:
        await store.put_bytes(b"text")
    monkeypatch.setattr(time, "time_ns", lambda: int(later * 1e9) + 1000)

    blob = await store.put_bytes(b"text")

    assert await store.remove(blob.hash, before=later) is False
    assert await store.remove(blob.hash, before=later + 1) is True
