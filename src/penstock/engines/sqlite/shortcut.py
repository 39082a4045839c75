"""Writing on the caller's own thread, where the work is shorter than the way to the writing thread and back.

An idle worker that hears the bell has nothing else to do, and somebody waits for it. Its claim needs no disk
sync (docs/decisions/0009), so it is done in less time than two threads need to wake each other. The bell
rings a moment before the submit's commit is on disk, so the claim waits that long for its turn, but hardly
longer: then it goes the usual way, and no event loop is held up.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from typing import TypeVar

from penstock.engines.sqlite.turnstile import Turnstile

T = TypeVar("T")


class Shortcut:
    """A connection of its own; who finds it in use goes the usual way."""

    def __init__(self, db: sqlite3.Connection, turnstile: Turnstile) -> None:
        self._db = db
        self._db.execute("PRAGMA busy_timeout = 0")
        if self._db.execute("PRAGMA synchronous").fetchone()[0]:
            self._db.execute("PRAGMA synchronous = NORMAL")
        self._turnstile = turnstile
        self._use = threading.Lock()
        self._closed = False

    def attempt(self, work: Callable[[sqlite3.Connection], T]) -> tuple[T] | None:
        """What `work` returned, committed for all to see but not yet synced; None if it was not done."""
        if not self._use.acquire(blocking=False):
            return None
        try:
            return self._in_turn(work) if not self._closed and self._enter() else None
        finally:
            self._use.release()

    def close(self) -> None:
        """Let go of the files; closing twice is closing once."""
        with self._use:
            if self._closed:
                return
            self._closed = True
            self._db.close()
            self._turnstile.close()

    def _enter(self) -> bool:
        try:
            return self._turnstile.enter_soon()
        except OSError:  # the writing thread finds out, and tells
            return False

    def _in_turn(self, work: Callable[[sqlite3.Connection], T]) -> tuple[T] | None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            result = work(self._db)
            self._db.execute("COMMIT")
        except sqlite3.Error:  # busy, full, broken: likewise
            return None
        else:
            return (result,)
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            self._turnstile.leave()
