"""Claims: bytes somebody is about to refer to are not taken away meanwhile.

Between a put and the commit that refers to its bytes nothing says that they are needed; a commit may take
long, and a clock may be set. So whoever puts holds a shared lock on the file, and whoever removes needs it
alone. The kernel lets go of a lock however its holder ends. A remover asks whether the bytes are needed only
once it has the lock: by then a claim was refused to it, or what it was for is committed. A put that meets a
remover does not wait but puts a file of its own in the other's place.

The way not taken, sparing what is young, loses bytes whose commit takes longer than youth lasts.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from threading import Lock

from penstock.engines.disk.aside import Stop
from penstock.engines.disk.locking import lock

_BLOB = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW


class Claims:
    """Locked files, let go together; one that comes after the end is let go at once."""

    def __init__(self) -> None:
        self._files: list[int] = []
        self._busy = Lock()
        self._closed = False

    def add(self, file: int) -> None:
        """Keep a file and its lock."""
        with self._busy:
            if not self._closed:
                self._files.append(file)
                return
        os.close(file)

    def close(self) -> None:
        """Let go of all of them."""
        with self._busy:
            self._closed = True
            files, self._files = self._files, []
        for file in files:
            os.close(file)


_current: ContextVar[Claims | None] = ContextVar("penstock_claims", default=None)


@contextmanager
def claiming() -> Iterator[None]:
    """What the task puts or verifies in this block stays until its end."""
    claims = Claims()
    before = _current.set(claims)
    try:
        yield
    finally:
        _current.reset(before)
        claims.close()


def current() -> Claims | None:
    """The claims of the running task, to be asked for on its own thread."""
    return _current.get()


def shared(path: Path) -> int | None:
    """The file, which nobody can remove while it is open; None where it is gone or about to go."""
    return _locked(path, fcntl.LOCK_SH)


def shared_soon(path: Path, stop: Stop) -> int | None:
    """The same, after whoever thinks of removing it has made up his mind; never with a folder's lock held."""
    file = _opened(path)
    if file is None:
        return None
    try:
        lock(file, fcntl.LOCK_SH, path, stop)
        if is_at(path, file):
            return file
    except BaseException:
        os.close(file)
        raise
    os.close(file)
    return None


def alone(path: Path) -> int | None:
    """The file, which nobody claims and nobody can claim; None where it is gone or somebody does."""
    return _locked(path, fcntl.LOCK_EX)


def is_at(path: Path, file: int) -> bool:
    """Whether a path still leads to this very file."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False


def _opened(path: Path) -> int | None:
    try:
        return os.open(path, _BLOB)
    except FileNotFoundError:
        return None


def _locked(path: Path, how: int) -> int | None:
    file = _opened(path)
    if file is None:
        return None
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return None
    except BaseException:
        os.close(file)
        raise
    return file
