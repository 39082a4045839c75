"""From settings to a store: which engine, by which rules."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal, Protocol, cast

from penstock.engines.disk.ours import keep_out_of_walks
from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.engines.sqlite.connection import DATABASE
from penstock.engines.system.clock import SystemClock
from penstock.model.catalogue import LOCAL_WORKSPACE, WorkspaceId
from penstock.model.errors import Refused
from penstock.model.payloads import ItemType
from penstock.model.rules import Backoff, Rules
from penstock.ports.accounts import Register
from penstock.ports.auditing import Auditor
from penstock.ports.batches import Batches
from penstock.ports.browsing import Browser
from penstock.ports.catalogue import Catalogue
from penstock.ports.clock import Clock
from penstock.ports.conversations import Transcript
from penstock.ports.database import Database
from penstock.ports.desk import Desk
from penstock.ports.feed import Feed
from penstock.ports.footing import Footing
from penstock.ports.index import Index
from penstock.ports.manifest import Manifest
from penstock.ports.queue import Queue
from penstock.ports.telemetry import Meter
from penstock.ports.tokens import Tickets
from penstock.ports.uploads import Reception
from penstock.settings import Settings
from penstock.wiring.vectors import open_index


class Store(Database, Protocol):
    """What every engine offers, whatever it stands on."""

    @property
    def clock(self) -> Clock: ...
    @property
    def footing(self) -> Footing: ...
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
    def manifest(self) -> Manifest: ...
    @property
    def auditor(self) -> Auditor: ...
    @property
    def meter(self) -> Meter: ...
    @property
    def tickets(self) -> Tickets: ...
    @property
    def feed(self) -> Feed: ...


def has_store(settings: Settings) -> bool:
    """Whether there is one already where the settings say, which opening would make otherwise."""
    _refuse_absent_engines(settings)
    try:
        (settings.data / DATABASE).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        pass  # opening it tells what is wrong
    return True


@asynccontextmanager
async def open_store(settings: Settings, *, patient: bool = False) -> AsyncIterator[Store]:
    """The store the settings name, closed at the end.

    `patient`: a queue outside the database that cannot be reached now may be told later.
    """
    if settings.queue.scheme == "database":
        async with open_sqlite_store(settings) as store:
            yield store
        return
    from penstock.wiring.booked import open_booked

    async with open_sqlite_store(settings) as book, open_booked(settings, book, patient=patient) as booked:
        yield booked


@asynccontextmanager
async def open_sqlite_store(settings: Settings) -> AsyncIterator[SqliteStore]:
    """The same for work that knows SQLite's table, such as taking over legacy rows."""
    _refuse_absent_engines(settings)
    store = await open_sqlite(
        settings.data,
        rules=rules_of(settings),
        clock=SystemClock(),
        synchronous=cast(Literal["full", "normal"], settings.sqlite.synchronous),
        busy_seconds=settings.sqlite.busy_timeout,
        poll_seconds=settings.worker.poll_interval,
        vectors_max=settings.sqlite.vectors_max,
        ticket_seconds=settings.auth.ticket_ttl,
        booked=settings.queue.scheme != "database",
        newcomers=newcomers_of(settings),
    )
    keep_out_of_walks(settings.data)
    store.feed.look_seconds = lambda: settings.live.look_interval
    try:
        async with open_index(settings, store.manifest, store.index, store.clock) as store.index:
            yield store
    finally:
        await store.close()


def newcomers_of(settings: Settings) -> WorkspaceId | None:
    """The workspace of tenants nobody knows: the local one where its user is the only one, else none."""
    return LOCAL_WORKSPACE if settings.auth.mode == "local" else None


def rules_of(settings: Settings) -> Rules:
    """The queue's rules as the settings say, as far as the engine that hands jobs out can keep them."""
    worker = settings.worker
    backoff = Backoff(delays=tuple(worker.retry_delays))
    if worker.backoff is not None:
        backoff = Backoff(base=worker.backoff.base, max=worker.backoff.max)
    rules = Rules(
        backoff=backoff,
        lease_seconds=worker.lease,
        lease_seconds_by_type={kind: worker.lease_for(kind) for kind in ItemType},
        dead_after_seconds=worker.heartbeat_ttl,
        park_seconds=worker.park_delay,
        park_seconds_max=worker.park_max,
        longest_waiting_every=worker.longest_waiting_every,
        tenant_limit=worker.tenant_limit,
        payload_bytes_max=settings.limits.payload_bytes,
        metadata_bytes_max=settings.limits.metadata_bytes,
        bulk_max=settings.limits.bulk,
    )
    if settings.queue.scheme == "database":
        return rules
    from penstock.engines.redis.bounds import fitting

    return fitting(rules)


def _refuse_absent_engines(settings: Settings) -> None:
    if settings.database.scheme != "sqlite":
        raise Refused(
            f"database: {settings.database} names an engine this version does not have; use sqlite",
            code="ERR_CONFIGURATION",
        )
