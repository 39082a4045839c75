"""Opening a file for reading without being led elsewhere, kept waiting, or deceived while reading."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.engines.disk.faults import printable, reading_fault
from penstock.model.errors import Exhausted, Refused

# A pipe without a writer would hold the opener for ever; a link would lead out of the folder.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


@contextmanager
def opened(path: Path, *, limit: int, beneath: Path | None = None) -> Iterator[tuple[int, os.stat_result]]:
    """An ordinary file of at most `limit` bytes, and how it stood before the first byte was read."""
    try:
        file = _open_beneath(path, beneath) if beneath is not None else os.open(path, _FILE)
    except ValueError:
        raise Refused(f"{printable(path)[:200]!r} holds a NUL character", code="ERR_PATH_INVALID") from None
    except OSError as error:
        raise reading_fault(error, path) from error
    try:
        before = os.fstat(file)
        if not stat.S_ISREG(before.st_mode):
            raise Refused(f"{printable(path)} is not an ordinary file", code="ERR_FILE_NOT_REGULAR")
        if before.st_size > limit:
            raise Refused(
                f"{printable(path)} has {before.st_size} bytes, the limit is {limit}",
                code="ERR_FILE_TOO_LARGE",
            )
        yield file, before
    finally:
        os.close(file)


def check_unchanged(file: int, before: os.stat_result, read: int, path: Path) -> None:
    """Raise unless what was read is what stood there before and still stands there now."""
    after = os.fstat(file)
    stood = (before.st_size, before.st_mtime_ns, before.st_ctime_ns)
    if read != before.st_size or stood != (after.st_size, after.st_mtime_ns, after.st_ctime_ns):
        raise Exhausted(f"{printable(path)} changed while it was read", code="ERR_FILE_CHANGING")


def open_folder_beneath(root: Path, parts: tuple[str, ...]) -> int:
    """A descriptor of a folder below the root; a link on the way is an error of the system."""
    # The root itself was chosen by whoever declared it: links above it are his affair.
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in parts:
        try:
            inner = os.open(part, FOLDER, dir_fd=folder)
        finally:
            os.close(folder)
        folder = inner
    return folder


def _open_beneath(path: Path, beneath: Path) -> int:
    if ".." in path.parts or not path.is_relative_to(beneath) or path == beneath:
        raise Refused(
            f"{printable(path)} does not lie beneath {printable(beneath)}", code="ERR_SOURCE_FORBIDDEN"
        )
    *folders, name = path.relative_to(beneath).parts
    folder = open_folder_beneath(beneath, tuple(folders))
    try:
        return os.open(name, _FILE, dir_fd=folder)
    finally:
        os.close(folder)
