"""The engines the contract suite runs on, one line each; a new engine joins by its line."""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest

from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.model.errors import Fault
from penstock.model.events import LoggedEvent
from penstock.model.jobs import JobId
from penstock.model.rules import Rules
from penstock.ports.accounts import Register
from penstock.ports.batches import Batches
from penstock.ports.browsing import Browser
from penstock.ports.catalogue import Catalogue
from penstock.ports.clock import Clock
from penstock.ports.conversations import Transcript
from penstock.ports.database import Database, Transaction
from penstock.ports.desk import Desk
from penstock.ports.feed import Feed
from penstock.ports.index import Index
from penstock.ports.queue import Queue
from penstock.ports.uploads import Reception
from penstock.work.booked import BookedQueue
from penstock.work.booked_desk import BookedDesk
from tests.contract.redis_store import open_redis_store, spoil_redis

T = TypeVar("T")


class Store(Database, Protocol):
    """An opened engine: the database, and the ports that live in it."""

    @property
    def queue(self) -> Queue: ...

    @property
    def desk(self) -> Desk: ...

    @property
    def batches(self) -> Batches: ...

    @property
    def catalogue(self) -> Catalogue: ...

    @property
    def transcript(self) -> Transcript: ...
    @property
    def reception(self) -> Reception: ...
    @property
    def register(self) -> Register: ...
    @property
    def browser(self) -> Browser: ...

    @property
    def index(self) -> Index: ...

    @property
    def feed(self) -> Feed: ...

    def abandon(self) -> None:
        """Drop everything at once, as a crash would."""
        ...


class Closing(Protocol):
    """What an engine outside is let go by."""

    async def close(self) -> None: ...
    def abandon(self) -> None: ...


async def _nobody(jobs: Mapping[JobId, JobId]) -> None:
    """Wants to know what was done."""


class BookedStore:
    """A database that books jobs, and an engine outside that hands them out."""

    def __init__(self, book: SqliteStore, queue: Queue, desk: Desk, engine: Closing) -> None:
        self._book = book
        self._engine = engine
        self.queue = BookedQueue(book.ledger, queue, desk, _nobody)
        self.desk = BookedDesk(book.desk, desk, self.queue.relay)
        self.batches = book.batches
        self.catalogue = book.catalogue
        self.transcript = book.transcript
        self.reception = book.reception
        self.register = book.register
        self.browser = book.browser
        self.index = book.index
        self.feed = book.feed

    async def write(
        self, work: Callable[[Transaction], T], *, timeout: float | None = None, patient: bool = False
    ) -> T:
        """Write, and bring the messages over, as a relay would a moment later."""
        written = await self._book.write(work, timeout=timeout, patient=patient)
        with contextlib.suppress(Fault, RuntimeError):  # the next one brings them over
            await self.queue.relay.send()
        return written

    async def events_after(self, user: str, seq: int, *, limit: int = 1000) -> list[LoggedEvent]:
        return await self._book.events_after(user, seq, limit=limit)

    async def forget_events(self, before: float, *, limit: int = 1000) -> int:
        return await self._book.forget_events(before, limit=limit)

    async def close(self) -> None:
        await self._engine.close()
        await self._book.close()

    def abandon(self) -> None:
        self._engine.abandon()
        self._book.abandon()


class Opener(Protocol):
    """Opening again on the same folder is a restart, or a second process beside the first."""

    async def __call__(self, folder: Path, rules: Rules, clock: Clock) -> Store: ...


@dataclass(frozen=True, slots=True)
class Engine:
    """How to open one, and how to damage a stored payload behind its back."""

    open: Opener
    spoil: Callable[[Path, JobId, str], None]
    holds_database: bool = True
    """False where only queue, desk and batches are its own, and the database beside them is another's."""


async def open_sqlite_store(folder: Path, rules: Rules, clock: Clock) -> Store:
    return await open_sqlite(folder, rules=rules, clock=clock)


def spoil_sqlite(folder: Path, job: JobId, payload_json: str) -> None:
    """Write a payload as a foreign program with the database open would."""
    connection = sqlite3.connect(folder / "penstock.db")
    with connection:
        changed = connection.execute(
            "UPDATE unified_queue SET payload_json = ? WHERE queue_id = ?", (payload_json, job)
        )
    connection.close()
    assert changed.rowcount == 1


async def open_booked_store(folder: Path, rules: Rules, clock: Clock) -> Store:
    """The database keeps the book and Redis hands the jobs out, as the product joins the two."""
    book = await open_sqlite(folder, rules=rules, clock=clock, booked=True)
    engine = await open_redis_store(folder, rules, clock)
    engine.access.begun = book.ledger.begun
    return BookedStore(book, engine.queue, engine.desk, engine)


ENGINES: dict[str, Engine] = {
    "sqlite": Engine(open_sqlite_store, spoil_sqlite),
    "redis": Engine(open_redis_store, spoil_redis, holds_database=False),
}
SELF_SUFFICIENT = tuple(sorted(ENGINES))
"""Engines whose leases outlive a process: a booked queue's are its process's own."""
if os.environ.get("PENSTOCK_SWEEP") == "1":  # what it adds is tested by itself in tests/unit/test_booked.py
    ENGINES["booked"] = Engine(open_booked_store, spoil_sqlite)


class Home:
    """One folder and its rules, opened as often as a test wants; each store is closed at the end."""

    def __init__(self, engine: Engine, folder: Path, rules: Rules, clock: Clock) -> None:
        self.folder = folder
        self._engine, self._rules, self._clock = engine, rules, clock
        self._opened: list[Store] = []

    async def open(self) -> Store:
        """A store on this folder: the first, the next after a restart, or one more process."""
        store = await self._engine.open(self.folder, self._rules, self._clock)
        self._opened.append(store)
        return store

    async def restart(self, store: Store) -> Store:
        """Close it in good order and open it again."""
        await self._close(store)
        return await self.open()

    async def crash(self, store: Store) -> Store:
        """Lose it without a word and open it again."""
        self._opened.remove(store)
        store.abandon()
        return await self.open()

    async def close(self) -> None:
        for store in list(self._opened):
            await self._close(store)

    def spoil(self, job: JobId, payload_json: str) -> None:
        self._engine.spoil(self.folder, job, payload_json)

    async def _close(self, store: Store) -> None:
        self._opened.remove(store)
        await store.close()


def with_rules(**rules: Any) -> pytest.MarkDecorator:
    """Run the test on a store with these rules instead of the defaults."""
    name = "-".join(f"{key}={value}" for key, value in rules.items())
    return pytest.mark.parametrize("rules", [Rules(**rules)], indirect=True, ids=[name])
