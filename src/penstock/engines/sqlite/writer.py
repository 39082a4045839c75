"""One thread writes; what arrives while it writes becomes the next group and shares one commit.

Each caller's work runs in a savepoint of its own, so one that raises takes nothing of its neighbours with it,
and everyone is answered after the commit. The way not taken, a connection per caller, would pay one disk sync
each.

A group is on disk before it is answered, unless all its work can be lost in a power cut without harm: a beat,
an idle worker's claim. Such a group is committed for every process to see, and reaches the disk with the next
one that counts; see docs/decisions/0009.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Generic, TypeVar, cast

from penstock.engines.sqlite.faults import fault_of
from penstock.engines.sqlite.turnstile import Turnstile
from penstock.model.errors import Unavailable

log = logging.getLogger("penstock.sqlite")
T = TypeVar("T")
GROUP_MAX = 512
WAITING_MAX = 100_000
FULL = 2
"""SQLite's number for synchronous=FULL."""


@dataclass(slots=True, eq=False)
class _Request(Generic[T]):
    work: Callable[[sqlite3.Connection], T]
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[T]
    isolated: bool
    durable: bool
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
    ) -> None:
        self._db = db
        self._full = db.execute("PRAGMA synchronous").fetchone()[0] == FULL
        self._syncs = self._full
        """Whether the next commit waits for the disk."""
        self._turnstile = turnstile
        self._path = path
        self._committing = committing
        """Called with the turn in hand, just before a commit; the commit may still fail."""
        self._committed = committed
        self._requests: SimpleQueue[_Request[Any] | None] = SimpleQueue()
        """None stands at its end, once there is one."""
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
    ) -> T:
        """Run `work` in the next group; its result once the group is committed.

        Isolated work gets a savepoint. The engine's own verbs go without, which halves their cost; should one
        of them raise after it changed something, the group is rolled back and the others run again, each by
        itself. Work that is not `durable` may be gone after a power cut.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        request = _Request(work=work, loop=loop, answer=answer, isolated=isolated, durable=durable)
        with self._gate:
            if self._closing:
                raise Unavailable("the database is closed", code="ERR_STORE_UNAVAILABLE")
            if self._requests.qsize() >= WAITING_MAX:
                raise Unavailable("too many writes are waiting", code="ERR_STORE_BUSY")
            self._requests.put(request)
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
        self._thread.join()

    def _run(self) -> None:
        try:
            while group := self._next_group():
                self._commit(group)
                self._answer(group)
        finally:
            self._db.close()
            self._turnstile.close()

    def _next_group(self) -> list[_Request[Any]]:
        """Whoever waits by now; empty at the end."""
        group: list[_Request[Any]] = []
        request = self._requests.get()
        while request is not None and not self._abandoned:
            group.append(request)
            if len(group) == GROUP_MAX or self._requests.empty():
                return group
            request = self._requests.get()
        if group:
            self._requests.put(None)
        return [] if self._abandoned else group

    def _commit(self, group: list[_Request[Any]]) -> None:
        if not self._try_commit(group):
            for request in group:
                if request.error is None:
                    self._try_commit([request])

    def _try_commit(self, group: list[_Request[Any]]) -> bool:
        """False if one request spoilt the transaction for the others; it has its error, they have none."""
        self._turnstile.enter()
        try:
            self._wait_for_disk(any(request.durable for request in group))
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

    def _wait_for_disk(self, wanted: bool) -> None:
        """Whether the commit to come is synced; a database set to less than full never changes."""
        if self._full and wanted != self._syncs:
            self._db.execute(f"PRAGMA synchronous = {'FULL' if wanted else 'NORMAL'}")
            self._syncs = wanted

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
