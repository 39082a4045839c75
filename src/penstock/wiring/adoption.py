"""Where legacy rows go: into the store, or, in a dry run, past what it holds and no further."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from penstock.engines.sqlite import SqliteStore, adopting
from penstock.engines.sqlite.adopting import Adopted
from penstock.engines.sqlite.rehearsing import Rehearsal
from penstock.model.legacy import LegacyJob, Taken
from penstock.settings import Settings
from penstock.wiring.store import open_sqlite_store


class Adopter(Protocol):
    """Takes rows over, and says what was taken over before."""

    async def adopt(self, rows: Sequence[LegacyJob], now: float) -> list[Adopted]: ...
    async def compare(self, rows: Sequence[LegacyJob]) -> dict[str, Taken]: ...


@asynccontextmanager
async def open_adopter(settings: Settings, *, dry_run: bool) -> AsyncIterator[Adopter]:
    """The store's writer; or a look at its file, if there is one yet, that leaves it untouched."""
    if dry_run:
        with Rehearsal(settings.data, busy_seconds=settings.sqlite.busy_timeout) as rehearsal:
            yield _Rehearsing(rehearsal)
    else:
        async with open_sqlite_store(settings) as store:
            yield _Writing(store)


class _Writing:
    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    async def adopt(self, rows: Sequence[LegacyJob], now: float) -> list[Adopted]:
        def work(db: sqlite3.Connection) -> list[Adopted]:
            self._store.announce()
            return adopting.adopt(db, rows, now)

        return await self._store.change(work)

    async def compare(self, rows: Sequence[LegacyJob]) -> dict[str, Taken]:
        return await self._store.look(lambda db: adopting.compare(db, rows))


class _Rehearsing:
    def __init__(self, rehearsal: Rehearsal) -> None:
        self._rehearsal = rehearsal

    async def adopt(self, rows: Sequence[LegacyJob], now: float) -> list[Adopted]:
        return await asyncio.to_thread(self._rehearsal.adopt, rows)

    async def compare(self, rows: Sequence[LegacyJob]) -> dict[str, Taken]:
        return await asyncio.to_thread(self._rehearsal.compare, rows)
