"""`penstock dlq purge`: remove dead letters for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.dlq.shapes import Purged
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import dry_run, verb
from penstock.doors.cli.session import with_store
from penstock.doors.cli.values import duration
from penstock.doors.cli.words import iso, plural
from penstock.model.errors import Refused

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store

SOON = 1.0
"""A letter of this very moment is meant too."""


@verb(
    "purge",
    examples=("penstock dlq purge --dry-run", "penstock dlq purge --older-than 7d --yes"),
    shape=Purged,
    notes=(
        "On Redis the letters go, and the jobs behind them stay in the database until `retention.failed`.",
        "Where the queue is the database, failed jobs are its letters, and they go.",
    ),
)
@click.option(
    "--older-than", type=duration, default="0s", metavar="DURATION", help="Only letters from longer ago."
)
@click.option("--yes", is_flag=True, help="Remove them; without it they are only counted.")
@dry_run
@click.pass_obj
def purge(given: Given, older_than: float, yes: bool, dry_run: bool) -> None:
    """Remove dead letters for good."""
    purge_letters(given, older_than, yes=yes, rehearse=dry_run)


def purge_letters(given: Given, older_than: float, *, yes: bool, rehearse: bool) -> None:
    """Remove or count them, and say how many; to count without having been asked to is a refusal."""
    really = yes and not rehearse

    async def work(store: Store, settings: Settings) -> Purged:
        from penstock.wiring.letters import letters_of

        letters = letters_of(settings, store)
        before = store.clock.now() - older_than if older_than else store.clock.now() + SOON
        removed = await (letters.purge(before) if really else letters.count(before))
        return Purged(removed=removed, before=iso(before) if older_than else None, dry_run=not really)

    done = with_store(given, work)
    if given.as_json:
        output.document(done)
    else:
        output.line("would_remove" if done["dry_run"] else "removed", done["removed"])
    if done["removed"] and not (yes or rehearse):
        raise Refused(f"{plural(done['removed'], 'letter')} would be removed for good; say --yes to do it")
