"""Moving the write-ahead log into the database from a side thread, so that no commit pays for it.

A passive pass stops no one but may never quite catch up under load; once the log has grown far, a pass with
the turn in hand empties it, so its size is bounded.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from pathlib import Path

from penstock.engines.sqlite.turnstile import Turnstile

PASSIVE_BYTES = 4 << 20
TRUNCATE_BYTES = 64 << 20
RETRY_SECONDS = 1.0


class Checkpointer:
    """One thread; `look` is cheap enough to be called after every commit."""

    def __init__(self, db: sqlite3.Connection, turnstile: Turnstile, path: Path) -> None:
        self._db = db
        self._db.execute("PRAGMA busy_timeout = 0")
        self._not_before = 0.0
        self._turnstile = turnstile
        self._log = f"{path}-wal"
        self._due = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="penstock-checkpoint", daemon=True)
        self._thread.start()

    def look(self) -> None:
        """Start a pass if the log has grown."""
        if self._size() >= PASSIVE_BYTES:
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
                with contextlib.suppress(sqlite3.OperationalError):  # busy: another process is at it
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
