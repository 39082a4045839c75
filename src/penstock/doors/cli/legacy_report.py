"""A migration's report as a document, as lines, and as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from penstock.doors.cli.legacy_shapes import (
    LegacyColumn,
    LegacyExample,
    LegacyMigrated,
    LegacyMove,
    LegacyState,
    LegacyTable,
    LegacyTally,
    LegacyVerification,
)
from penstock.doors.cli.output import clean
from penstock.doors.cli.words import plural
from penstock.model.legacy_report import LegacyReport, TableReport, Tally, Verification

if TYPE_CHECKING:
    from rich.table import Table


def document_of(report: LegacyReport) -> LegacyMigrated:
    """The whole report."""
    return LegacyMigrated(
        source=report.source,
        dry_run=report.dry_run,
        agrees=report.agrees if report.verified else None,
        tables=[_table_document(table) for table in report.tables],
    )


def _table_document(table: TableReport) -> LegacyTable:
    return LegacyTable(
        table=table.table,
        item_type=table.item_type,
        rows=table.rows,
        mapped=table.mapped,
        already_there=table.already_there,
        skipped_rows=table.skipped_rows,
        skipped=_tallies(table.skipped),
        notes=_tallies(table.notes),
        states=[LegacyState(state=state, rows=rows) for state, rows in table.states.items()],
        columns=[LegacyColumn(role=role, column=column) for role, column in table.columns.items()],
        ignored_columns=list(table.ignored_columns),
        missing=list(table.missing),
        verification=None if table.verification is None else _verification(table.verification),
        deprecated=table.deprecated,
        dropped=table.dropped,
    )


def _verification(found: Verification) -> LegacyVerification:
    return LegacyVerification(
        agrees=found.agrees,
        compared=found.compared,
        unchanged=found.unchanged,
        moved_on=found.moved_on,
        removed=found.removed,
        states=[
            LegacyMove(was=was, now=now, rows=rows)
            for was, counts in found.states.items()
            for now, rows in counts.items()
        ],
        differences=_tallies(found.differences),
    )


def _tallies(tallies: Sequence[Tally]) -> list[LegacyTally]:
    return [
        LegacyTally(
            reason=tally.reason,
            rows=tally.rows,
            examples=[LegacyExample(row=each.row, detail=each.detail) for each in tally.examples],
        )
        for tally in tallies
    ]


def lines_of(report: LegacyReport) -> Iterator[tuple[object, ...]]:
    """As lines: the first word says what a line is about, the second names the table."""
    for table in report.tables:
        yield "table", table.table, *_counts(table), end_of(table, report)
        for role, column in table.columns.items():
            yield "column", table.table, role, column
        for state, rows in table.states.items():
            yield "state", table.table, state, rows
        if (found := table.verification) is not None:
            yield "verified", table.table, found.compared, found.unchanged, found.moved_on, found.removed
        for word, tallies in _reasons(table).items():
            for tally in tallies:
                yield word, table.table, tally.reason, tally.rows
                for each in tally.examples:
                    yield f"{word}_row", table.table, tally.reason, each.row, each.detail


def tables_of(report: LegacyReport) -> Iterator[Table]:
    """As tables: what became of each legacy table, in a rehearsal how it was read, then every reason."""
    counts = _headed("table", "becomes", "rows", "mapped", "there before", "skipped", "now")
    reasons = _headed("table", "what", "reason", "rows", "for example")
    columns = _headed("table", "column", "read as")
    for table in report.tables:
        name = clean(table.table)
        counts.add_row(name, *map(str, _counts(table)), end_of(table, report))
        for role, column in table.columns.items():
            columns.add_row(name, clean(column), role)
        for word, tallies in _reasons(table).items():
            for tally in tallies:
                example = clean(f"{tally.examples[0].row}: {tally.examples[0].detail}")
                reasons.add_row(name, word, tally.reason, f"{tally.rows:,}", example)
    yield counts
    if report.dry_run and columns.row_count:
        yield columns
    if reasons.row_count:
        yield reasons


def _headed(*headings: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading != headings[-1])
    return table


def summary_of(report: LegacyReport) -> Iterator[str]:
    """What a person should know at the end."""
    yield _taken(report)
    for table in report.tables:
        if table.missing:
            yield f"{clean(table.table)} has no column for its {', '.join(table.missing)}; it was left alone"
        elif table.item_type is None and table.rows:
            yield f"{clean(table.table)} is only reported; no job is made of {plural(table.rows, 'row')}"
    if report.verified and report.agrees:
        compared = sum(table.verification.compared for table in report.tables if table.verification)
        yield f"verified: {plural(compared, 'row')} compared, the queue agrees with all of them"
    if any(table.dropped for table in report.tables):
        yield f"dropped for good, with {plural(left_behind(report), 'row')} that no job stands for"


def left_behind(report: LegacyReport) -> int:
    """Rows that would be lost with the tables."""
    return sum(table.left_behind for table in report.tables if not table.missing)


def _taken(report: LegacyReport) -> str:
    there = sum(table.already_there for table in report.tables)
    skipped = sum(table.skipped_rows for table in report.tables)
    verb = "would become" if report.dry_run else "became"
    if not report.mapped:
        return f"nothing new: {plural(there, 'row')} were taken over before, {plural(skipped, 'row')} skipped"
    return (
        f"{plural(report.mapped, 'row')} {verb} jobs, {there:,} were taken over before, {skipped:,} skipped"
    )


def _counts(table: TableReport) -> tuple[object, ...]:
    becomes = table.item_type or ""
    return becomes, table.rows, table.mapped, table.already_there, table.skipped_rows


def _reasons(table: TableReport) -> dict[str, tuple[Tally, ...]]:
    differences = () if table.verification is None else table.verification.differences
    return {"skipped": table.skipped, "note": table.notes, "difference": differences}


def end_of(table: TableReport, report: LegacyReport) -> str:
    """What has become of the table itself."""
    if table.missing:
        return f"unmappable: no {', '.join(table.missing)}"
    if table.dropped:
        return "dropped"
    if table.deprecated:
        return "deprecated"
    return "unchanged" if report.dry_run else ""
