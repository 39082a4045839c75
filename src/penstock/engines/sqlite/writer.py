"""One thread writes; what arrives while it writes becomes the next group and shares one commit.

Each caller's work runs in a savepoint of its own, so one that raises takes nothing of its neighbours with it,
and everyone is answered after the commit. The way not taken, a connection per caller, would pay one disk sync
each.

A group is on disk before it is answered, unless all its work can be lost in a power cut without harm: a beat,
an idle worker's claim. The disk is waited for after the commit, when others may write again; see
docs/decisions/0009 and 0016.

Patient work, whose caller knows that others have enough to go on with, is committed at most once in a moment:
what comes within it shares the next commit, and whoever is not patient takes along who waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Generic, TypeVar, cast

from penstock.engines.sqlite.faults import fault_of
from penstock.engines.sqlite.turnstile import Turnstile
from penstock.model.errors import Fault, Unavailable

log = logging.getLogger("penstock.sqlite")
T = TypeVar("T")
GROUP_MAX = 512
WAITING_MAX = 100_000
MOMENT_SECONDS = 0.02
"""From one commit of patient work to the next, if nobody else comes."""
FULL = 2
"""SQLite's number for synchronous=FULL."""
sync_log: Callable[[int], None] = os.fdatasync if hasattr(os, "fdatasync") else os.fsync
"""Brings a file to disk; macOS has only the slower way."""


@dataclass(slots=True, eq=False)
class _Request(Generic[T]):
    work: Callable[[sqlite3.Connection], T]
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[T]
    isolated: bool
    durable: bool
    patient: bool
    result: T | None = None
    error: BaseException | None = None

    def deliver(self) -> None:
        if self.answer.done():
            return
        if isinstance(self.error, StopIteration):  # a future cannot carry it
            failure = RuntimeError("the function raised StopIteration")
            failure.__cause__ = self.error
            self.answer.set_exception(failure)
        elif self.error is not None:
            self.answer.set_exception(self.error)
        else:
            self.answer.set_result(cast(T, self.result))


class Writer:
    """The writing thread of one process; callers may live on several event loops."""

    def __init__(
        self,
        db: sqlite3.Connection,
        turnstile: Turnstile,
        path: str,
        committing: Callable[[], None],
        committed: Callable[[], None],
        sync: Callable[[int], None] | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """`check` raises where nothing may be written any more."""
        self._db = db
        self._full = db.execute("PRAGMA synchronous").fetchone()[0] == FULL
        if self._full:
            db.execute("PRAGMA synchronous = NORMAL")  # the log is synced here, once the turn is given up
        self._sync = sync or sync_log
        self._check = check
        self._log: int | None = None
        self._doubtful = False
        """The log failed to reach the disk: only a copy of all of it counts."""
        self._turnstile = turnstile
        self._path = path
        self._committing = committing
        """Called with the turn in hand, just before a commit; the commit may still fail."""
        self._committed = committed
        self._requests: SimpleQueue[_Request[Any] | None] = SimpleQueue()
        """None stands at its end, once there is one."""
        self._hurry = threading.Event()
        """Somebody has come who is not patient, or the end."""
        self._patient_at = float("-inf")
        """When patient work was committed last."""
        self._gate = threading.Lock()
        self._closing = False
        self._abandoned = False
        self._thread = threading.Thread(target=self._run, name="penstock-writer", daemon=True)
        self._thread.start()

    async def write(
        self,
        work: Callable[[sqlite3.Connection], T],
        timeout: float,
        *,
        isolated: bool = False,
        durable: bool = True,
        patient: bool = False,
    ) -> T:
        """Run `work` in the next group; its result once the group is committed.

        Isolated work gets a savepoint. The engine's own verbs go without, which halves their cost; should one
        of them raise after it changed something, the group is rolled back and the others run again, each by
        itself. Work that is not `durable` may be gone after a power cut; `patient` work may wait a moment.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        request = _Request(
            work=work, loop=loop, answer=answer, isolated=isolated, durable=durable, patient=patient
        )
        with self._gate:
            if self._closing:
                raise Unavailable("the database is closed", code="ERR_STORE_UNAVAILABLE")
            if self._requests.qsize() >= WAITING_MAX:
                raise Unavailable("too many writes are waiting", code="ERR_STORE_BUSY")
            self._requests.put(request)
            if not patient:
                self._hurry.set()
        try:
            async with asyncio.timeout(timeout):
                return await answer
        except TimeoutError:
            raise Unavailable(
                f"{self._path} could not be written for {timeout:g} s", code="ERR_STORE_BUSY"
            ) from None

    def close(self, *, abandon: bool = False) -> None:
        """Finish what waits (or drop it, as a crash would) and end the thread."""
        with self._gate:
            self._closing = True
            self._abandoned = abandon
            self._requests.put(None)
            self._hurry.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while group := self._next_group():
                try:
                    self._commit(group)
                    self._reach_disk(group)
                except Exception as error:  # without this thread every later write would wait for nothing
                    self._fail(group, error)
                if any(request.patient for request in group):
                    self._patient_at = time.monotonic()
                self._answer(group)
        finally:
            if self._log is not None:
                os.close(self._log)
            self._db.close()
            self._turnstile.close()

    def _fail(self, group: list[_Request[Any]], error: Exception) -> None:
        """Something but the database failed: the group may be written, and nobody is told that it is."""
        log.error("a write to %s failed", self._path, exc_info=error)
        told = error
        if isinstance(error, OSError):
            told = Unavailable(f"{self._path} cannot be written ({error})", code="ERR_STORE_UNAVAILABLE")
            told.__cause__ = error
        for request in group:
            request.error = request.error or told

    def _next_group(self) -> list[_Request[Any]]:
        """Whoever waits by now, or comes within the moment of those who are patient; empty at the end."""
        self._hurry.clear()
        group: list[_Request[Any]] = []
        self._take_all(group)
        moment = self._patient_at + MOMENT_SECONDS - time.monotonic()
        if moment > 0 and 0 < len(group) < GROUP_MAX and all(request.patient for request in group):
            self._hurry.wait(moment)
            if not self._requests.empty():
                self._take_all(group)
        return [] if self._abandoned else group

    def _take_all(self, group: list[_Request[Any]]) -> None:
        """Let those who wait join, as far as there is room; the end stays where it is while there are any."""
        while len(group) < GROUP_MAX:
            request = self._requests.get()
            if request is None:
                if group:
                    self._requests.put(None)
                return
            group.append(request)
            if self._requests.empty():
                return

    def _commit(self, group: list[_Request[Any]]) -> None:
        try:
            self._check()
        except Fault as fault:
            for request in group:
                request.error = fault
            return
        if not self._try_commit(group):
            for request in group:
                if request.error is None:
                    self._try_commit([request])

    def _try_commit(self, group: list[_Request[Any]]) -> bool:
        """False if one request spoilt the transaction for the others; it has its error, they have none."""
        self._turnstile.enter()
        try:
            self._db.execute("BEGIN IMMEDIATE")
            careful = len(group) > 1 and any(request.isolated for request in group)
            for request in group:
                if not self._run_one(request, savepoint=careful):
                    return False
            self._tell(self._committing)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            for request in group:
                request.error = request.error or self._translated(error)
        finally:
            if self._db.in_transaction:
                with contextlib.suppress(sqlite3.Error):  # the failure itself is already told
                    self._db.execute("ROLLBACK")
            self._turnstile.leave()
        return True

    def _reach_disk(self, group: list[_Request[Any]]) -> None:
        """Sync the log; whoever is committed but perhaps not on disk is told so."""
        counting = [request for request in group if request.durable and request.error is None]
        if not self._full or not counting:
            return
        try:
            if self._log is None:
                self._log = os.open(f"{self._path}-wal", os.O_RDONLY | os.O_CLOEXEC)
            if not self._doubtful:
                self._sync(self._log)
        except OSError as error:
            log.warning("the log of %s could not be synced: %s", self._path, error)
            self._doubtful = True
        if self._doubtful:
            self._doubtful = not self._copied()
        if self._doubtful:
            for request in counting:
                request.error = Unavailable(
                    f"what was written to {self._path} may not have reached the disk; look at its health",
                    code="ERR_STORE_UNAVAILABLE",
                )

    def _copied(self) -> bool:
        """Is all of the log in the database file, and that on disk?

        After a failed sync the kernel forgets what it could not write, and the next sync succeeds for
        nothing. The copy reads the log's pages again and syncs another file.
        """
        try:
            busy, pages, copied = self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error:
            return False
        return not busy and pages == copied

    def _run_one(self, request: _Request[Any], *, savepoint: bool) -> bool:
        """Run one caller's work; False if it failed and left changes that cannot be undone by themselves."""
        if request.answer.cancelled():
            return True
        before = self._db.total_changes
        if savepoint:
            self._db.execute("SAVEPOINT one")
        try:
            request.result = request.work(self._db)
        except BaseException as error:  # delivered to the caller, whatever it is
            request.error = self._translated(error)
            if not self._db.in_transaction:  # a full disk ends the whole transaction
                return False
            if not savepoint:
                return self._db.total_changes == before
            self._db.execute("ROLLBACK TO one")
        if savepoint:
            self._db.execute("RELEASE one")
        return True

    def _translated(self, error: BaseException) -> BaseException:
        if not isinstance(error, sqlite3.Error):
            return error
        fault = fault_of(error, self._path)
        fault.__cause__ = error
        return fault

    def _tell(self, hook: Callable[[], None]) -> None:
        try:
            hook()
        except Exception:  # the commit counts; its callers must hear of it whatever the bell does
            log.exception("beside a commit")

    def _answer(self, group: list[_Request[Any]]) -> None:
        self._tell(self._committed)
        for loop in {request.loop for request in group}:
            mine = [request for request in group if request.loop is loop]
            with contextlib.suppress(RuntimeError):  # that loop is closed: nobody is left to tell
                loop.call_soon_threadsafe(_deliver, mine)


def _deliver(group: list[_Request[Any]]) -> None:
    for request in group:
        request.deliver()
