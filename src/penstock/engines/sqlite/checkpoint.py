"""Moving the write-ahead log into the database, and keeping the log short.

A log that starts over in place is synced twice as fast as one that grows, because its blocks are on disk
already. So a side thread makes a passive pass every few commits, which stops no one; under load it may never
quite catch up, and then SQLite's own pass in the writing thread does, once the log has so many pages. Should
a reader hold even that up, a pass with the turn in hand empties the log as soon as the reader is gone, so its
size is bounded.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from pathlib import Path

from penstock.engines.sqlite.turnstile import Turnstile

COMMITS = 16
"""A passive pass after so many commits."""
PAGES = 2000
"""At so many pages the writing thread itself makes a pass."""
TRUNCATE_BYTES = 64 << 20
RETRY_SECONDS = 1.0


class Checkpointer:
    """One thread; `look` is cheap enough to be called after every commit."""

    def __init__(self, db: sqlite3.Connection, turnstile: Turnstile, path: Path) -> None:
        self._db = db
        self._db.execute("PRAGMA busy_timeout = 0")
        self._not_before = 0.0
        self._commits = 0
        self._turnstile = turnstile
        self._log = f"{path}-wal"
        self._due = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="penstock-checkpoint", daemon=True)
        self._thread.start()

    def look(self) -> None:
        """Count a commit; start a pass if it is time."""
        self._commits += 1
        if self._commits >= COMMITS:
            self._commits = 0
            self._due.set()

    def close(self) -> None:
        """End the thread."""
        self._closing = True
        self._due.set()
        self._thread.join()

    def _size(self) -> int:
        try:
            return os.stat(self._log).st_size
        except FileNotFoundError:
            return 0

    def _run(self) -> None:
        try:
            while True:
                self._due.wait()
                if self._closing:
                    return
                self._due.clear()
                # Busy: another process is at it. Where locks fail the writing thread meets them, and tells.
                with contextlib.suppress(sqlite3.OperationalError, OSError):
                    self._pass()
        finally:
            self._db.close()
            self._turnstile.close()

    def _pass(self) -> None:
        if self._size() < TRUNCATE_BYTES:
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)")
            return
        if time.monotonic() < self._not_before:
            return
        self._turnstile.enter()
        try:
            busy = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        finally:
            self._turnstile.leave()
        if busy:  # a reader is in the way: waiting for it would hold up every writer
            self._not_before = time.monotonic() + RETRY_SECONDS
