"""`penstock queue clean`: remove ended jobs before their retention does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import Option, dry_run, verb
from penstock.doors.cli.session import every, with_store
from penstock.doors.cli.shapes import Removed
from penstock.doors.cli.values import duration
from penstock.doors.cli.words import iso_or_none, plural
from penstock.model.errors import Refused
from penstock.model.states import State
from penstock.ports.desk import Desk, Wanted

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store

PORTION = 1000
NEVER = 0.0
"""Nothing ended before the epoch."""


@verb(
    "clean",
    examples=(
        "penstock queue clean --dry-run",
        "penstock queue clean --done-older-than 1d --yes",
    ),
    shape=Removed,
)
@click.option(
    "--done-older-than",
    "done",
    cls=Option,
    type=duration,
    metavar="DURATION",
    variable="PENSTOCK_RETENTION_DONE",
    help="Remove done jobs that ended longer ago.",
)
@click.option(
    "--failed-older-than",
    "failed",
    cls=Option,
    type=duration,
    metavar="DURATION",
    variable="PENSTOCK_RETENTION_FAILED",
    help="Remove failed jobs that ended longer ago.",
)
@click.option("--yes", is_flag=True, help="Remove them; without it they are only counted.")
@dry_run
@click.pass_obj
def clean(given: Given, done: float | None, failed: float | None, yes: bool, dry_run: bool) -> None:
    """Remove ended jobs past their retention."""

    async def work(store: Store, settings: Settings) -> Removed:
        now = store.clock.now()
        return await remove(
            store,
            done_before=now - (settings.retention.done if done is None else done),
            failed_before=now - (settings.retention.failed if failed is None else failed),
            really=yes and not dry_run,
        )

    print_removed(given, with_store(given, work), agreed=yes or dry_run)


async def remove(store: Store, *, done_before: float, failed_before: float, really: bool) -> Removed:
    """Remove in portions, so that workers are never held up for long; or only count."""
    removed = 0
    if really:
        while gone := await store.queue.prune(
            done_before=done_before, failed_before=failed_before, limit=PORTION
        ):
            removed += gone
    else:
        removed += await _count(store.desk, State.DONE, done_before)
        removed += await _count(store.desk, State.FAILED, failed_before)
    return Removed(
        removed=removed,
        done_before=iso_or_none(done_before or None),
        failed_before=iso_or_none(failed_before or None),
        dry_run=not really,
    )


async def _count(desk: Desk, state: State, before: float) -> int:
    if before <= NEVER:
        return 0
    found = 0
    async for job in every(desk, Wanted(state=state)):
        found += job.updated_at < before
    return found


def print_removed(given: Given, done: Removed, *, agreed: bool) -> None:
    """Say how many; to count without having been asked to is a refusal."""
    if given.as_json:
        output.document(done)
    else:
        output.line("would_remove" if done["dry_run"] else "removed", done["removed"])
    if done["removed"] and not agreed:
        raise Refused(f"{plural(done['removed'], 'job')} would be removed for good; say --yes to do it")
