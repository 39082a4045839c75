"""Fair turns at the one write lock, between processes.

SQLite's busy handler sleeps longer and longer, so a process that lost a few races may wait a second while
others write hundreds of times. Here a writer first takes a place (`line`), then the turn (`turn`), and only
then lets the next one have the place: whoever gives up the turn cannot have it back before the one who waits.
A holder that hangs costs the others `patience`, not for ever: they go on to SQLite's own lock, which stays
the truth.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

POLL_SECONDS = 0.00025


class Turnstile:
    """Two lock files under the data folder; used by one thread."""

    def __init__(self, folder: Path, patience: float = 1.0) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._line = os.open(folder / "line.lock", flags, 0o666)
        try:
            self._turn = os.open(folder / "turn.lock", flags, 0o666)
        except OSError:
            os.close(self._line)
            raise
        self._patience = patience

    def enter(self) -> None:
        """Wait for the turn, or for as long as patience lasts."""
        deadline = time.monotonic() + self._patience
        if not _take(self._line, deadline):
            return
        try:
            _take(self._turn, deadline)
        finally:
            fcntl.flock(self._line, fcntl.LOCK_UN)

    def leave(self) -> None:
        """Give the turn up; harmless if it was never had."""
        fcntl.flock(self._turn, fcntl.LOCK_UN)

    def close(self) -> None:
        """Let go of the files."""
        os.close(self._line)
        os.close(self._turn)


def turnstiles(folder: Path, count: int) -> list[Turnstile]:
    """So many of them, for as many threads; all or none."""
    made: list[Turnstile] = []
    try:
        for _ in range(count):
            made.append(Turnstile(folder))
    except OSError:
        for turnstile in made:
            turnstile.close()
        raise
    return made


def _take(lock: int, deadline: float) -> bool:
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(POLL_SECONDS)
        else:
            return True
