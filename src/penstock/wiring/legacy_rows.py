"""The rows of a legacy table as jobs, a portion at a time: memory does not grow with the table."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from penstock.engines.legacy.layout import Layout
from penstock.engines.legacy.mapping import LegacyRow, Mapped, Skip, job_of
from penstock.engines.legacy.source import Cursor, LegacySource
from penstock.model.rules import Rules

Portion = list[tuple[LegacyRow, Mapped | Skip]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyRows:
    """A source, and what turns its rows into jobs."""

    source: LegacySource
    name: str
    rules: Rules

    def job(self, row: LegacyRow, now: float) -> Mapped | Skip:
        """The job a row becomes if it is taken over at that time."""
        return job_of(row, source=self.name, now=now, rules=self.rules)

    async def portions(self, layout: Layout, now: float) -> AsyncIterator[Portion]:
        """All rows of a table in the order of its cursor."""
        cursor: Cursor | None = None
        while True:
            portion, cursor = await asyncio.to_thread(self._portion, layout, cursor, now)
            if not portion:
                return
            yield portion

    def _portion(self, layout: Layout, after: Cursor | None, now: float) -> tuple[Portion, Cursor | None]:
        rows, behind = self.source.portion(layout, after)
        return [(row, self.job(row, now)) for row in rows], behind
