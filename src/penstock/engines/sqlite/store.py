"""One data folder's database: the writing thread, a few readers, the bell and the checkpointer."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from penstock.engines.sqlite.accounts import SqliteRegister
from penstock.engines.sqlite.auditing import SqliteAuditor
from penstock.engines.sqlite.browsing import SqliteBrowser
from penstock.engines.sqlite.catalogue import SqliteCatalogue
from penstock.engines.sqlite.checkpoint import PAGES, Checkpointer
from penstock.engines.sqlite.connection import Synchronous, connect, prepare
from penstock.engines.sqlite.desk import SqliteDesk
from penstock.engines.sqlite.doorbell import Doorbell
from penstock.engines.sqlite.faults import fault_of, folder_fault
from penstock.engines.sqlite.feed import SqliteFeed
from penstock.engines.sqlite.footing import SqliteFooting
from penstock.engines.sqlite.index import VECTORS_MAX, SqliteIndex
from penstock.engines.sqlite.ledger import SqliteLedger
from penstock.engines.sqlite.manifest import SqliteManifest
from penstock.engines.sqlite.measuring import SqliteMeter
from penstock.engines.sqlite.queue import SqliteQueue
from penstock.engines.sqlite.respelling import read_leniently, respell, unreadable
from penstock.engines.sqlite.shortcut import Shortcut
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.tickets import TICKET_SECONDS, SqliteTickets
from penstock.engines.sqlite.times import iso, seconds
from penstock.engines.sqlite.transaction import SqliteTransaction
from penstock.engines.sqlite.transcript import SqliteTranscript
from penstock.engines.sqlite.turnstile import turnstiles
from penstock.engines.sqlite.uploads import SqliteReception
from penstock.engines.sqlite.writer import Writer
from penstock.engines.system.rolls import Rolls
from penstock.model.catalogue import LOCAL_WORKSPACE, WorkspaceId
from penstock.model.errors import Broken, Unavailable
from penstock.model.events import LoggedEvent
from penstock.model.rules import Rules
from penstock.ports.clock import Clock
from penstock.ports.database import Transaction
from penstock.ports.index import Index

T = TypeVar("T")
READERS = 2
READ_CACHE_KIB = 32_768
MAPPED_BYTES = 2_147_418_112
"""Readers see so much of the file as memory, SQLite's own limit: a search jumps about in all of its words."""


class SqliteStore:
    """Everything one process needs of the database; implements the database port."""

    def __init__(
        self,
        path: Path,
        *,
        rules: Rules,
        clock: Clock,
        synchronous: Synchronous,
        busy_seconds: float,
        poll_seconds: float,
        vectors_max: int,
        ticket_seconds: float = TICKET_SECONDS,
        booked: bool = False,
        newcomers: WorkspaceId | None = LOCAL_WORKSPACE,
    ) -> None:
        self.booked = booked
        """Jobs are handed out by an engine outside; see the ledger."""
        self._newcomers = newcomers
        self.path, self.rules, self.clock = path, rules, clock
        self.on_commit: list[Callable[[], None]] = []
        """Called after each commit of this process, on the thread that made it."""
        self._patience = busy_seconds + 5.0
        self._news = False
        run = path.parent / "run"

        def opened() -> sqlite3.Connection:
            return connect(path, synchronous=synchronous, busy_seconds=busy_seconds)

        self._open = opened
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="penstock-reader")
        turns = turnstiles(run, 3)  # first: only they may find the folder unusable
        self._bell = Doorbell(run, opened(), poll_seconds)
        self._checkpointer = Checkpointer(opened(), turns[0], path)
        writing = opened()
        writing.execute(f"PRAGMA wal_autocheckpoint = {PAGES}")
        self.feed = SqliteFeed(self, opened, run)
        self.footing = SqliteFooting(path)
        self._writer = Writer(
            writing, turns[1], str(path), self._committing, self._committed, check=self.footing.check
        )
        self._shortcut = Shortcut(opened(), turns[2])
        self._opening = threading.Lock()
        self._closed = False
        self._alive: Writer | None = None
        self.rolls = Rolls(run)
        self.queue = SqliteQueue(self)
        self.ledger = SqliteLedger(self, self.queue)
        self.desk = SqliteDesk(self)
        self.batches = self.desk
        self.catalogue = SqliteCatalogue(self)
        self.transcript = SqliteTranscript(self)
        self.register = SqliteRegister(self)
        self.browser = SqliteBrowser(self)
        self.index: Index = SqliteIndex(self, vectors_max=vectors_max)
        self.manifest = SqliteManifest(self)
        self.auditor = SqliteAuditor(self)
        self.meter = SqliteMeter(self)
        self.tickets = SqliteTickets(self, ticket_seconds=ticket_seconds)
        self.reception = SqliteReception(self)

    async def write(
        self, work: Callable[[Transaction], T], *, timeout: float | None = None, patient: bool = False
    ) -> T:
        """Run `work` in a transaction; its result after the commit."""

        def run(db: sqlite3.Connection) -> T:
            now = self.clock.now()
            tx = SqliteTransaction(db, now, self.rules, booked=self.booked, newcomers=self._newcomers)
            result = work(tx)
            if tx.may_bring_work:
                self.announce()
            return result

        return await self._writer.write(run, timeout or self._patience, isolated=True, patient=patient)

    async def change(
        self,
        work: Callable[[sqlite3.Connection], T],
        *,
        timeout: float | None = None,
        durable: bool = True,
        swift: bool = False,
        punctual: bool = False,
    ) -> T:
        """Run an engine's own statements in the next group commit; durable ones are then on disk.

        Swift work is short, not durable, and its caller has nothing else to do: it is done here and now if
        it can be. Punctual work is not durable either, and waits for no other's disk: it tells that somebody
        is alive. A row that cannot be read is made readable first.
        """
        durable = durable and not punctual
        writer = await self._timely() if punctual else self._writer
        if swift:
            self.footing.check()
        if swift and (done := self._shortcut.attempt(work)) is not None:
            self._committed()
            return done[0]
        try:
            return await writer.write(work, timeout or self._patience, durable=durable)
        except Broken as fault:
            if not unreadable(fault):
                raise
        await writer.write(respell, self._patience)

        def again(db: sqlite3.Connection) -> T:  # what is left is refused where it matters, never stored
            return read_leniently(db, work, "surrogateescape")

        return await writer.write(again, timeout or self._patience, durable=durable)

    async def look(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a read beside the writer, on what is committed."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, work)

    async def events_after(self, user: str, seq: int, *, limit: int = 1000) -> list[LoggedEvent]:
        """The user's events with a higher number, in order."""
        rows = await self.look(lambda db: db.execute(sql("events_after"), (user, seq, limit)).fetchall())
        return [
            LoggedEvent(user=row[0], seq=row[1], ts=seconds(row[2]), type=row[3], payload_json=row[4])
            for row in rows
        ]

    async def forget_events(self, before: float, *, limit: int = 1000) -> int:
        """Remove old events; how many."""
        where = {"before": iso(before), "limit": limit}
        return await self.change(lambda db: db.execute(sql("events_forget"), where).rowcount)

    def announce(self) -> None:
        """Called inside a write: there may be new work once it is committed."""
        self._news = True

    def ring(self) -> None:
        """Wake everyone who waits for work."""
        self._bell.ring()

    def version(self) -> int:
        """A number that stays as it is while nobody writes; asking costs next to nothing."""
        try:
            return self._bell.version()
        except sqlite3.Error as error:
            raise fault_of(error, str(self.path)) from error

    async def arrival(self, timeout: float) -> bool:
        """Wait for the bell."""
        try:
            return await self._bell.wait(timeout)
        except sqlite3.Error as error:
            raise fault_of(error, str(self.path)) from error

    async def close(self) -> None:
        """Finish what was accepted and let go of the files."""
        for writer in self._writers():
            await asyncio.get_running_loop().run_in_executor(None, writer.close)
        self._let_go()

    def abandon(self) -> None:
        """Drop everything at once, as a crash would: what waits is never written."""
        for writer in self._writers():
            writer.close(abandon=True)
        self._let_go()

    def _writers(self) -> list[Writer]:
        """All there will be."""
        with self._opening:
            self._closed = True
            return [self._writer] if self._alive is None else [self._writer, self._alive]

    async def _timely(self) -> Writer:
        """The writer of what tells others that we are alive, made by the first who does.

        It never syncs, so it waits for no disk, by which others would take us for dead (decision 21). It
        rings no bell: it would do so for what the other one has not committed yet.
        """
        if self._alive is None:
            return await asyncio.get_running_loop().run_in_executor(None, self._make_timely)
        return self._alive

    def _make_timely(self) -> Writer:
        with self._opening:
            if self._alive is None and not self._closed:
                try:
                    self._alive = self._made_timely()
                except sqlite3.Error as error:
                    raise fault_of(error, str(self.path)) from error
                except OSError as error:
                    raise Unavailable(
                        f"{self.path.parent} cannot be used ({error})", code="ERR_STORE_UNAVAILABLE"
                    ) from error
            return self._alive or self._writer  # which is closed, and says so

    def _made_timely(self) -> Writer:
        """Or nothing: whoever needs it asks again every second."""
        with contextlib.ExitStack() as undone:
            (turns,) = turnstiles(self.path.parent / "run", 1)
            undone.callback(turns.close)
            writer = Writer(
                self._open(), turns, str(self.path), _silent, self._committed, check=self.footing.check
            )
            undone.pop_all()
        return writer

    def _let_go(self) -> None:
        self._shortcut.close()
        self.rolls.close()
        self._checkpointer.close()
        self._readers.shutdown()
        for db in self._connections:
            db.close()
        self._bell.close()
        self.feed.close()

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            db = self._reader()
            db.execute("BEGIN")
            try:
                return work(db)
            except sqlite3.OperationalError as error:
                if not unreadable(error):
                    raise
                return read_leniently(db, work, "replace")
            finally:
                db.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise fault_of(error, str(self.path)) from error

    def _reader(self) -> sqlite3.Connection:
        found: sqlite3.Connection | None = getattr(self._local, "db", None)
        if found is None:
            found = self._open()
            found.execute("PRAGMA query_only = 1")
            found.execute(f"PRAGMA cache_size = -{READ_CACHE_KIB}")
            found.execute(f"PRAGMA mmap_size = {MAPPED_BYTES}")
            self._local.db = found
            self._connections.append(found)
        return found

    def _committed(self) -> None:
        self._checkpointer.look()
        self.feed.committed()
        for told in self.on_commit:
            told()

    def _committing(self) -> None:
        """Ring while the disk is at it: who wakes up then finds the turn taken, and next the news."""
        if self._news:
            self._news = False
            self._bell.ring()


def _silent() -> None:
    """Nobody waits for it."""


async def open_sqlite(
    folder: Path,
    *,
    rules: Rules,
    clock: Clock,
    synchronous: Synchronous = "full",
    busy_seconds: float = 10.0,
    poll_seconds: float = 0.25,
    vectors_max: int = VECTORS_MAX,
    ticket_seconds: float = TICKET_SECONDS,
    booked: bool = False,
    newcomers: WorkspaceId | None = LOCAL_WORKSPACE,
) -> SqliteStore:
    """Open (and make, and migrate) the database of a data folder.

    `newcomers` is the workspace tenants join that nobody knows; None refuses them.
    """

    def opened() -> SqliteStore:
        path = prepare(folder, synchronous=synchronous, busy_seconds=busy_seconds)
        try:
            return SqliteStore(
                path,
                rules=rules,
                clock=clock,
                synchronous=synchronous,
                busy_seconds=busy_seconds,
                poll_seconds=poll_seconds,
                vectors_max=vectors_max,
                ticket_seconds=ticket_seconds,
                booked=booked,
                newcomers=newcomers,
            )
        except sqlite3.Error as error:
            raise fault_of(error, str(path)) from error
        except OSError as error:
            raise folder_fault(error, folder) from error

    return await asyncio.get_running_loop().run_in_executor(None, opened)
