"""Fair turns at the one write lock, between processes.

SQLite's busy handler sleeps longer and longer, so a process that lost a few races may wait a second while
others write hundreds of times. Here a writer walks along a line of places, each a lock: it holds one until it
has the next, and the last place is the turn. Nobody overtakes within the line, and whoever gives up the turn
begins at its end; only those who do not fit into the line race for its last place. A holder that hangs costs
the others `patience`, not for ever: they go on to SQLite's own lock, which stays the truth.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

PLACES = ("place-4.lock", "place-3.lock", "place-2.lock", "place-1.lock", "turn.lock")
"""From the end of the line to the turn."""
POLL_SECONDS = 0.00025
SOON_SECONDS = 0.003
SOON_POLL_SECONDS = 0.0001


class Turnstile:
    """A handful of lock files under the data folder; used by one thread."""

    def __init__(self, folder: Path, patience: float = 1.0) -> None:
        self._places: list[int] = []
        try:
            for name in PLACES:
                self._places.append(os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666))
        except OSError:
            self.close()
            raise
        self._patience = patience

    def enter(self) -> bool:
        """Wait for the turn, or for as long as patience lasts; whether it is ours."""
        return self._walk(self._patience, POLL_SECONDS)

    def enter_soon(self) -> bool:
        """The same for who would rather do without than wait longer than a moment."""
        return self._walk(SOON_SECONDS, SOON_POLL_SECONDS)

    def leave(self) -> None:
        """Give the turn up; harmless if it was never had."""
        fcntl.flock(self._places[-1], fcntl.LOCK_UN)

    def close(self) -> None:
        """Let go of the files."""
        while self._places:
            os.close(self._places.pop())

    def _walk(self, patience: float, poll: float) -> bool:
        deadline = time.monotonic() + patience
        behind: int | None = None
        for place in self._places:
            taken = _take(place, deadline, poll)
            if behind is not None:
                fcntl.flock(behind, fcntl.LOCK_UN)
            if not taken:
                return False
            behind = place
        return True


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


def _take(lock: int, deadline: float, poll: float) -> bool:
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(poll)
        else:
            return True
