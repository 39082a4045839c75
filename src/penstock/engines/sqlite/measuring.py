"""What the table itself can count: how much could be claimed, and what is new, whoever inserted it."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence

from penstock.engines.sqlite.access import Access
from penstock.engines.sqlite.statements import sql
from penstock.model.tallies import QUEUE_OF_RANK


class SqliteMeter:
    """Implements the meter port by reads beside the writer."""

    def __init__(self, store: Access, queues: Sequence[str] = QUEUE_OF_RANK) -> None:
        """`queues` names the queue of each priority."""
        self._store = store
        self._queues = queues
        self._newest: int | None = None

    async def lengths(self) -> Mapping[str, int]:
        """Ready jobs by queue."""
        return await self._store.look(lambda db: self._by_queue(db.execute(sql("meter_ready")).fetchall()))

    async def produced(self) -> Mapping[str, int]:
        """Rows inserted since the last call; row numbers begin anew only in a table that was emptied."""

        def look(db: sqlite3.Connection) -> tuple[int, Mapping[str, int]]:
            newest = int(db.execute(sql("submit_newest")).fetchone()[0])
            if self._newest is None or newest == self._newest:
                return newest, {}
            since = self._newest if newest > self._newest else 0
            return newest, self._by_queue(db.execute(sql("meter_since"), (since,)).fetchall())

        self._newest, found = await self._store.look(look)
        return found

    def _by_queue(self, rows: list[tuple[int, int]]) -> dict[str, int]:
        found: Counter[str] = Counter()
        for rank, count in rows:
            found[self._queues[rank]] += count
        return dict(found)
