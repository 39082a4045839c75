"""Waiting for a lock on a file, but not for ever: its holder may have been stopped, or his disk hangs."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.engines.disk.aside import Stop
from penstock.engines.disk.faults import printable
from penstock.model.errors import Unavailable

PATIENCE_SECONDS = 30.0
"""Locks are held for a look into the database, the sync of a folder, the move of a file."""
POLL_SECONDS = 0.005


def lock(file: int, how: int, path: Path, stop: Stop | None = None) -> None:
    """Lock an open file as soon as others let it; Unavailable when they do not, Stopped when nobody waits."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return fcntl.flock(file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise Unavailable(
                    f"{printable(path)} has been locked by another process for {PATIENCE_SECONDS:g} s",
                    code="ERR_STORE_UNAVAILABLE",
                ) from None
        if stop is not None:
            stop.look()
        time.sleep(POLL_SECONDS)


@contextmanager
def alone_in(folder: Path) -> Iterator[int]:
    """The folder, opened; nobody else who asks for it gives or takes names in it meanwhile."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        lock(handle, fcntl.LOCK_EX, folder)
        yield handle
    finally:
        os.close(handle)
