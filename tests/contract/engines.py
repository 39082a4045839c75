"""The engines the contract suite runs on, one line each; a new engine joins by its line."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from penstock.engines.sqlite import open_sqlite
from penstock.model.jobs import JobId
from penstock.model.rules import Rules
from penstock.ports.batches import Batches
from penstock.ports.catalogue import Catalogue
from penstock.ports.clock import Clock
from penstock.ports.database import Database
from penstock.ports.desk import Desk
from penstock.ports.index import Index
from penstock.ports.queue import Queue
from tests.contract.redis_store import open_redis_store, spoil_redis


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
    def index(self) -> Index: ...

    def abandon(self) -> None:
        """Drop everything at once, as a crash would."""
        ...


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


ENGINES: dict[str, Engine] = {
    "sqlite": Engine(open_sqlite_store, spoil_sqlite),
    "redis": Engine(open_redis_store, spoil_redis, holds_database=False),
}


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
