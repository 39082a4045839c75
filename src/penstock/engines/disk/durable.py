"""Writing so that a name either leads to all of the bytes or to none, also after the machine lost power.

A writer holds a lock on its unfinished file from its first moment to its last, and the kernel lets go of it
however the writer ends. So whoever gets the lock knows that nobody will finish the file: neither ages nor
process numbers, which deceive across containers, are asked.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_UNFINISHED = re.compile(r".*[0-9a-f]{16}\.part", re.DOTALL)
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


@contextmanager
def unfinished(folder: Path, *, prefix: str = "", mode: int = 0o600) -> Iterator[tuple[int, Path]]:
    """A new locked file that is removed at the end, unless it was given another name before."""
    file, path = begin_unfinished(folder, prefix=prefix, mode=mode)
    try:
        yield file, path
    finally:
        with suppress(FileNotFoundError):
            path.unlink()
        os.close(file)


def begin_unfinished(folder: Path, *, prefix: str = "", mode: int = 0o600) -> tuple[int, Path]:
    """A new locked file, to be closed by the caller, and removed unless it was given another name."""
    while True:
        path = folder / f"{prefix}{secrets.token_hex(8)}.part"
        file = os.open(path, _NEW, mode)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file).st_nlink:
                return file, path
        except BlockingIOError:
            # A sweeper found it between its birth and its lock; it is about to go.
            pass
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def abandoned(folder: Path) -> int:
    """How many unfinished files have no writer any more."""
    return _each_abandoned(folder, remove=False)


def sweep_unfinished(folder: Path) -> int:
    """Remove unfinished files whose writers are gone; how many."""
    return _each_abandoned(folder, remove=True)


def is_unfinished(name: str) -> bool:
    """Whether a file is called as unfinished ones are."""
    return _UNFINISHED.fullmatch(name) is not None


def _each_abandoned(folder: Path, *, remove: bool) -> int:
    found = 0
    for name in sorted(os.listdir(folder)) if folder.is_dir() else ():
        if not is_unfinished(name):
            continue
        path = folder / name
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            continue
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                continue
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The lock is held while the name goes, so a writer in its first moment sees that it lost it.
            if remove:
                path.unlink()
            found += 1
        except (BlockingIOError, FileNotFoundError):
            continue
        finally:
            os.close(file)
    return found


def write_all(file: int, data: bytes | memoryview) -> None:
    """Every byte; a write may take fewer than it was given."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def write_whole(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """The file with these bytes in place of whatever was there, or still that; never half."""
    with unfinished(path.parent, prefix=f".{path.name[:100]}.", mode=mode) as (file, temporary):
        write_all(file, data)
        os.fsync(file)
        temporary.rename(path)
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder as durable as the bytes they lead to."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    """The folder and its parents, durably; nothing if it is there."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    with suppress(FileExistsError):
        folder.mkdir()
    sync_folder(folder.parent)
