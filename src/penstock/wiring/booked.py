"""A store whose jobs are booked in the database and handed out by Redis."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from penstock.engines.redis.comparing import Comparing
from penstock.engines.redis.describing import describe
from penstock.engines.redis.hints import Hints
from penstock.engines.redis.names import Inbox, Names
from penstock.engines.redis.store import RedisPorts, ports_on
from penstock.engines.sqlite import SqliteStore
from penstock.engines.sqlite.measuring import SqliteMeter
from penstock.intake.messages import Declared
from penstock.intake.yields import Yields
from penstock.model.catalogue import LOCAL_TENANT, LOCAL_WORKSPACE
from penstock.model.errors import Fault
from penstock.model.events import LoggedEvent
from penstock.model.jobs import JobId, NewJob
from penstock.model.messages import Refusal
from penstock.model.priorities import ranks_of
from penstock.model.tallies import QUEUE_OF_RANK, queues_of
from penstock.ports.database import Transaction
from penstock.ports.telemetry import Telemetry
from penstock.settings import Settings
from penstock.wiring.redis import open_redis
from penstock.work.booked import BookedQueue
from penstock.work.booked_desk import BookedDesk
from penstock.work.crew import Trade
from penstock.work.pace import jittered_around
from penstock.work.reaper import Reaper
from penstock.work.relay import Comparer

log = logging.getLogger("penstock.booked")
T = TypeVar("T")
HINT_WAIT_SECONDS = 60.0
DECLARED_SECONDS = 3.0
"""How long a collection made elsewhere may go unnoticed by those who read messages."""


class BookedStore:
    """The database's store with another queue in it; every write brings its messages over at once."""

    def __init__(
        self,
        book: SqliteStore,
        engine: RedisPorts,
        reading: Reading,
        hints: Hints,
        queues: Sequence[str] = QUEUE_OF_RANK,
    ) -> None:
        """`queues` names the queue of each priority."""
        self._book = book
        self.hints = hints
        self.engine = engine
        self.reading = reading
        self.clock = book.clock
        self.footing = book.footing
        self._yields = Yields(book, book.catalogue)
        engine.access.begun = book.ledger.begun
        self.queue = BookedQueue(book.ledger, engine.queue, engine.desk, self._describe, reading.strangers)
        self.desk = BookedDesk(book.desk, engine.desk, self.queue.relay)
        self.batches = book.batches
        self.catalogue = book.catalogue
        self.transcript = book.transcript
        self.reception = book.reception
        self.register = book.register
        self.browser = book.browser
        self.index = book.index
        self.manifest = book.manifest
        self.auditor = book.auditor
        self.meter = engine.meter(SqliteMeter(book, queues), queues)
        self.tickets = book.tickets
        self.feed = book.feed

    async def write(
        self, work: Callable[[Transaction], T], *, timeout: float | None = None, patient: bool = False
    ) -> T:
        """Run `work` in a transaction; its result after the commit, whether or not the queue is there."""
        written = await self._book.write(work, timeout=timeout, patient=patient)
        try:
            await self.queue.relay.send()
        except Fault as fault:
            log.warning("jobs are booked, the queue hears of them later: %s", fault.message)
        return written

    async def events_after(self, user: str, seq: int, *, limit: int = 1000) -> list[LoggedEvent]:
        """The user's events with a higher number, in order."""
        return await self._book.events_after(user, seq, limit=limit)

    async def forget_events(self, before: float, *, limit: int = 1000) -> int:
        """Remove old events; how many."""
        return await self._book.forget_events(before, limit=limit)

    async def close(self) -> None:
        """Finish what was accepted; the client is closed by those who opened it."""
        await self._book.close()

    async def _describe(self, jobs: Mapping[JobId, JobId]) -> None:
        """Tell in their hashes what jobs made; the numbers are worth less than the end of the job."""
        try:
            for theirs, job in jobs.items():
                await describe(self.engine.access, theirs, await self._yields.of(job))
        except Fault as fault:
            log.warning("what jobs made is not in their hashes: %s", fault.message)

    def comparer(self) -> Comparer:
        """What tells the queue again of jobs it has lost."""
        comparing = Comparing(self.engine.access)
        return Comparer(self._book.ledger, self.engine.queue, self.engine.desk, comparing.unheld, comparing)


class Reading:
    """What messages of other programs are read by; kept up to date while it runs."""

    def __init__(self, settings: Settings) -> None:
        from penstock.wiring.declared import translator

        self._settings = settings
        self._declared = Declared()
        self._translate = translator(settings, lambda: self._declared)
        self._store: BookedStore | None = None
        self._read: dict[JobId, NewJob] = {}
        """Each once: a message that cannot be adopted now is read anew by every claim."""

    def translate(self, message: bytes, inbox: Inbox) -> NewJob | Refusal:
        """A message becomes a job, or a reason why not."""
        found = self._translate(message, inbox.name)
        if isinstance(found, NewJob):
            self._read[found.id] = found
        return found

    def strangers(self) -> list[NewJob]:
        """The jobs messages have become since this was last asked."""
        read, self._read = self._read, {}
        return list(read.values())

    async def begin(self, store: BookedStore) -> None:
        """Know the collections before the first message is read."""
        self._store = store
        await self._look(store)

    async def run(self) -> None:
        """Look now and then."""
        while True:
            await asyncio.sleep(jittered_around(DECLARED_SECONDS))
            if self._store is not None:
                with contextlib.suppress(Fault):  # what is known stays good until the store is back
                    await self._look(self._store)

    async def _look(self, store: BookedStore) -> None:
        from penstock.wiring.declared import declared_by

        self._declared = await declared_by(store, self._settings)
        store.engine.access.know({place.collection: place.tenant for place in self._declared.places})


@asynccontextmanager
async def open_booked(
    settings: Settings, book: SqliteStore, *, patient: bool = False
) -> AsyncIterator[BookedStore]:
    """Redis beside the book."""
    reading = Reading(settings)
    async with open_redis(settings, book.clock, patient=patient) as client:
        engine = ports_on(
            client, names=names_of(settings), rules=book.rules, clock=book.clock, translate=reading.translate
        )
        there = await book.catalogue.collections(LOCAL_WORKSPACE)
        engine.access.know(dict.fromkeys([each.name for each in there], LOCAL_TENANT))
        hints = Hints(client, engine.access.names.commits)
        book.on_commit.append(hints.committed)
        try:
            queues = queues_of(ranks_of(settings.worker.priorities))
            yield BookedStore(book, engine, reading, hints, queues)
        finally:
            book.on_commit.remove(hints.committed)
            await hints.close()


@asynccontextmanager
async def heeding(settings: Settings, store: object) -> AsyncIterator[None]:
    """Let the feed hear of commits by Redis, where there is one; meanwhile it looks more seldom itself."""
    if not isinstance(store, BookedStore):
        yield
        return
    bell, feed, live = store.hints.listen(), store.feed, settings.live
    feed.look_seconds = lambda: live.hinted_look_interval if bell.listening else live.look_interval

    async def heed() -> None:
        while True:
            if await bell.wait(HINT_WAIT_SECONDS):
                feed.committed()

    heeds = asyncio.create_task(heed(), name="heed-hints")
    try:
        yield
    finally:
        heeds.cancel()
        await asyncio.gather(heeds, return_exceptions=True)


async def trades_of(settings: Settings, store: object, telemetry: Telemetry) -> tuple[Trade, ...]:
    """What a worker of such a store runs beside its jobs."""
    if not isinstance(store, BookedStore):
        return ()
    await store.reading.begin(store)
    store.engine.access.telemetry = telemetry
    given = settings.reaper
    reaper = Reaper(
        store.engine.reaper(count=given.scan_count),
        interval=given.interval,
        between=given.base_delay,
        telemetry=telemetry,
    )
    return store.queue.relay, store.comparer(), store.reading, reaper


def names_of(settings: Settings) -> Names:
    """The keys the settings name."""
    worker = settings.worker
    ranks = ranks_of(worker.priorities)
    return Names(
        home=LOCAL_TENANT,
        lists={rank: worker.queues[name] for name, rank in ranks.items()},
        collections=dict.fromkeys(settings.collections, LOCAL_TENANT),
        processing=worker.processing_list_pattern,
        heartbeat=worker.heartbeat_key_pattern,
        completed=worker.completed_list,
        dead_letter=worker.dead_letter_list,
    )
