"""`penstock migrate`: bring in what other programs have queued."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import Noun, dry_run, verb
from penstock.doors.cli.legacy_report import document_of, left_behind, lines_of, summary_of, tables_of
from penstock.doors.cli.legacy_shapes import LegacyMigrated
from penstock.doors.cli.values import text
from penstock.doors.cli.words import plural
from penstock.doors.logs import set_up_logging
from penstock.model.errors import Refused
from penstock.model.legacy_report import LegacyReport

if TYPE_CHECKING:
    from penstock.wiring.legacy import Wish

LINE_EVERY_ROWS = 100_000
"""How often a log is told how far it is."""


@verb(
    "legacy",
    examples=(
        "penstock migrate legacy --from old.db --dry-run",
        "penstock migrate legacy --from old.db --verify",
        "penstock migrate legacy --from old.db --verify --drop --yes",
    ),
    shape=LegacyMigrated,
)
@click.option(
    "--from",
    "file",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="SQLite file with the legacy tables; may be the queue's own.",
)
@click.option("--verify", is_flag=True, help="Then compare every row with the queue; exit 1 if one differs.")
@click.option("--drop", is_flag=True, help="Then drop the legacy tables, if verification agrees.")
@click.option("--yes", is_flag=True, help="Really drop them.")
@click.option(
    "--name",
    type=text,
    default=None,
    metavar="NAME",
    help="Name of this source, if several legacy databases go into one queue.",
)
@dry_run
@click.pass_obj
def legacy(
    given: Given, file: Path, verify: bool, drop: bool, yes: bool, name: str | None, dry_run: bool
) -> None:
    """Turn the rows of legacy queues into jobs, once each, with their states, retries and errors."""
    from penstock.wiring.legacy import Wish

    if drop and not verify:
        raise Refused("nothing is dropped unverified: --drop needs --verify in the same run")
    wish = Wish(dry_run=dry_run, verify=verify, drop=drop and yes, name=name or "")
    report = _migrate(given, file, wish)
    _print(given, report)
    if verify and not report.agrees:
        raise Refused(
            "the queue does not agree with the legacy tables; nothing was dropped",
            code="ERR_LEGACY_UNVERIFIED",
        )
    if drop and not yes and not dry_run:
        raise Refused(
            f"the tables would be dropped for good, with {plural(left_behind(report), 'row')} "
            "that no job stands for; say --yes to do it"
        )


def _migrate(given: Given, file: Path, wish: Wish) -> LegacyReport:
    from penstock.wiring.legacy import migrate_legacy

    settings = given.settings()
    set_up_logging(settings.observability.log_level if given.log_level else "warning")
    with _progress() as progress:
        return asyncio.run(migrate_legacy(settings, file, wish, progress=progress))


def _print(given: Given, report: LegacyReport) -> None:
    if given.as_json:
        output.document(document_of(report))
        return
    if output.on_terminal():
        output.draw(*tables_of(report))
    else:
        output.lines(lines_of(report))
    for sentence in summary_of(report):
        output.talk(sentence)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """A bar for whoever watches; a line now and then for a log."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield ProgressLines().say
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=sys.stderr), transient=True) as bars:
        tasks = {}

        def show(table: str, looked: int, rows: int) -> None:
            if table not in tasks:
                tasks[table] = bars.add_task(output.clean(table))
            bars.update(tasks[table], completed=looked, total=rows)

        yield show


class ProgressLines:
    """Progress for a log; portions end where they end, so it is told by how far the last line is back."""

    def __init__(self) -> None:
        self._told: dict[str, int] = {}

    def say(self, table: str, looked: int, rows: int) -> None:
        """A line, if there is enough new to tell."""
        if looked - self._told.get(table, 0) >= LINE_EVERY_ROWS:
            self._told[table] = looked
            output.talk(f"{output.clean(table)}: {looked:,} of {rows:,} rows")


command = Noun(
    "migrate",
    help="Bring in what other programs have queued.",
    examples=("penstock migrate legacy --from old.db --dry-run",),
    commands=[legacy],
)
