"""Migration from legacy queues: take over, mark, verify, drop, each step only after the one before.

A run can be stopped anywhere and started again: portions are committed whole, each row is remembered with its
job, and the marks and the drop come after everything they speak of.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from penstock.engines.legacy.deprecation import Hold, Mark, check_markable, mark
from penstock.engines.legacy.layout import Layout
from penstock.engines.legacy.mapping import Mapped, Skip
from penstock.engines.legacy.roles import LEGACY_TABLES, MIGRATED
from penstock.engines.legacy.source import LegacySource, open_source
from penstock.engines.legacy.unreadable import CODE
from penstock.engines.system.clock import SystemClock
from penstock.model.errors import Refused
from penstock.model.legacy import Adoption
from penstock.model.legacy_report import LegacyReport, TableReport
from penstock.settings import Settings
from penstock.wiring.adoption import Adopter, open_adopter
from penstock.wiring.legacy_check import Kept, verify_table
from penstock.wiring.legacy_rows import LegacyRows, Portion
from penstock.wiring.store import rules_of
from penstock.wiring.tallies import Tallies

Progress = Callable[[str, int, int], None]
"""Told after every portion: the table, how many of its rows were looked at, how many there are."""

Surveyed = list[tuple[TableReport, Layout | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a run is asked to do beside taking rows over."""

    dry_run: bool = False
    verify: bool = False
    drop: bool = False
    name: str = ""
    """Tells the rows of several legacy databases apart; the same name must be given in every run."""


async def migrate_legacy(
    settings: Settings, file: Path, wish: Wish, *, progress: Progress = lambda *_: None
) -> LegacyReport:
    """Migrate a legacy file; a report that was verified and does not agree means that nothing was dropped."""
    if wish.drop and not wish.verify:
        raise Refused("nothing is dropped unverified: --drop needs --verify in the same run")
    busy_seconds = settings.sqlite.busy_timeout
    with await asyncio.to_thread(open_source, file, busy_seconds=busy_seconds) as source:
        surveyed = await asyncio.to_thread(_survey, source)
        if not wish.dry_run:
            await asyncio.to_thread(check_markable, file, busy_seconds=busy_seconds)
        rows = LegacyRows(source=source, name=wish.name, rules=rules_of(settings))
        return await _run(settings, file, wish, rows, surveyed, progress)


async def _run(
    settings: Settings, file: Path, wish: Wish, rows: LegacyRows, surveyed: Surveyed, progress: Progress
) -> LegacyReport:
    now = SystemClock().now()
    busy_seconds = settings.sqlite.busy_timeout
    report = LegacyReport(source=str(file), dry_run=wish.dry_run, verified=wish.verify, tables=())
    async with open_adopter(settings, dry_run=wish.dry_run) as adopter:
        tables = [
            table if layout is None else await _take_over(rows, adopter, table, layout, now, progress)
            for table, layout in surveyed
        ]
        if not wish.dry_run:
            tables = await _mark(file, tables, now, busy_seconds)
        if not wish.verify:
            return replace(report, tables=tuple(tables))
        kept = Kept(done_before=now - settings.retention.done, failed_before=now - settings.retention.failed)
        async with _holding(file, wish, busy_seconds) as hold:
            verified = [
                table
                if layout is None
                else replace(table, verification=await verify_table(rows, adopter, layout, kept, now))
                for table, (_, layout) in zip(tables, surveyed, strict=True)
            ]
            report = replace(report, tables=tuple(verified))
            return report if hold is None or not report.agrees else await _drop(hold, report)


@asynccontextmanager
async def _holding(file: Path, wish: Wish, busy_seconds: float) -> AsyncIterator[Hold | None]:
    """Nobody else writes the file while it is verified to be dropped."""
    if not wish.drop or wish.dry_run:
        yield None
        return
    hold = await asyncio.to_thread(Hold, file, busy_seconds=busy_seconds)
    try:
        yield hold
    finally:
        await asyncio.to_thread(hold.close)


def _survey(source: LegacySource) -> Surveyed:
    """Every legacy table that is there, with its layout if its rows become jobs."""
    found = source.tables()
    if not found:
        marked = "; its tables were migrated and dropped" if source.marked() else ""
        raise Refused(
            f"{source.path} holds none of the legacy tables {', '.join(LEGACY_TABLES)}{marked}", code=CODE
        )
    return [_surveyed(source, legacy_name, table) for legacy_name, table in found.items()]


def _surveyed(source: LegacySource, legacy_name: str, table: str) -> tuple[TableReport, Layout | None]:
    rows = source.count(table)
    if legacy_name not in MIGRATED:
        return TableReport(table=table, rows=rows), None
    layout = source.layout(legacy_name, table)
    report = TableReport(
        table=table,
        item_type=layout.item_type.value,
        rows=rows,
        columns={role.value: column for role, column in layout.columns.items()},
        ignored_columns=layout.ignored,
        missing=tuple(role.value for role in layout.missing),
    )
    return report, None if layout.missing else layout


async def _take_over(
    rows: LegacyRows,
    adopter: Adopter,
    table: TableReport,
    layout: Layout,
    now: float,
    progress: Progress,
) -> TableReport:
    books = _Books()
    async for portion in rows.portions(layout, now):
        made = books.sort(portion)
        adopted = await adopter.adopt([each.job for each in made], now) if made else []
        for each, (how, words) in zip(made, adopted, strict=True):
            books.enter(each, how, words)
        progress(table.table, books.looked, max(books.looked, table.rows))
    return books.closed(table)


class _Books:
    """What became of one table's rows, counted."""

    def __init__(self) -> None:
        self.looked = 0
        self._how = Counter[Adoption]()
        self._states = Counter[str]()
        self._skipped = Tallies()
        self._notes = Tallies()

    def sort(self, portion: Portion) -> list[Mapped]:
        """The rows that became jobs; the others are entered at once."""
        made = []
        for _, each in portion:
            self.looked += 1
            if isinstance(each, Skip):
                self._skipped.add(each.reason, each.row, each.detail)
            else:
                self._states[each.job.was] += 1
                made.append(each)
        return made

    def enter(self, made: Mapped, how: Adoption, words: str) -> None:
        """What the queue said to one of them."""
        self._how[how] += 1
        if how in (Adoption.WAITING, Adoption.CLASH):
            self._skipped.add(how.value, made.job.row, words)
        elif how is Adoption.TAKEN:
            for reason, detail in made.notes:
                self._notes.add(reason, made.job.row, detail)

    def closed(self, table: TableReport) -> TableReport:
        """The report of the table with everything entered."""
        return replace(
            table,
            mapped=self._how[Adoption.TAKEN],
            already_there=self._how[Adoption.KNOWN],
            skipped=self._skipped.counted(),
            notes=self._notes.counted(),
            states=dict(self._states),
        )


async def _mark(file: Path, tables: list[TableReport], now: float, busy_seconds: float) -> list[TableReport]:
    """Mark every table as deprecated but those of which nothing may be touched."""
    marks = [
        Mark(table=table.table, migrated=table.rows - table.left_behind, skipped=table.left_behind)
        for table in tables
        if not table.missing
    ]
    await asyncio.to_thread(mark, file, marks, now, busy_seconds=busy_seconds)
    return [replace(table, deprecated=not table.missing) for table in tables]


async def _drop(hold: Hold, report: LegacyReport) -> LegacyReport:
    going = {table.table: table.rows for table in report.tables if table.deprecated}
    await asyncio.to_thread(hold.drop, going)
    return replace(report, tables=tuple(replace(table, dropped=table.deprecated) for table in report.tables))
