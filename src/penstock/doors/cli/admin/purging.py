"""`penstock admin purge-dlq` and `purge-all`: nothing goes unless that is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.admin.shapes import Emptied
from penstock.doors.cli.dlq.purging import purge_letters
from penstock.doors.cli.dlq.shapes import Purged
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import dry_run, verb
from penstock.doors.cli.session import with_store
from penstock.model.errors import Refused

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store


@verb(
    "purge-dlq",
    examples=("penstock admin purge-dlq --dry-run", "penstock admin purge-dlq --yes"),
    shape=Purged,
    notes=("The same as `penstock dlq purge`.",),
)
@click.option("--yes", is_flag=True, help="Remove them; without it they are only counted.")
@dry_run
@click.pass_obj
def purge_dlq(given: Given, yes: bool, dry_run: bool) -> None:
    """Remove every dead letter for good."""
    purge_letters(given, 0.0, yes=yes, rehearse=dry_run)


@verb(
    "purge-all",
    examples=("penstock admin purge-all --dry-run", "penstock admin purge-all --yes"),
    shape=Emptied,
    notes=(
        "Jobs that have not ended are cancelled and all jobs forgotten.",
        "On Redis every key of the queue goes, messages nobody has taken among them.",
        "Documents stay as they are; those whose job was cancelled say so.",
        "Workers must have been stopped.",
    ),
)
@click.option("--yes", is_flag=True, help="Do it; without it everything is only counted.")
@dry_run
@click.pass_obj
def purge_all(given: Given, yes: bool, dry_run: bool) -> None:
    """Empty the whole queue for good."""
    really = yes and not dry_run

    async def work(store: Store, settings: Settings) -> Emptied:
        from penstock.wiring.admin import erase_all

        gone = await erase_all(settings, store, really=really)
        return Emptied(unfinished=gone.unfinished, ended=gone.ended, keys=gone.keys, dry_run=not really)

    done = with_store(given, work)
    if given.as_json:
        output.document(done)
    else:
        word = "would_remove" if done["dry_run"] else "removed"
        output.table(
            [
                (word, "unfinished", done["unfinished"]),
                (word, "ended", done["ended"]),
                (word, "keys", done["keys"]),
            ]
        )
    if not (yes or dry_run) and (done["unfinished"] or done["ended"] or done["keys"]):
        raise Refused("the whole queue would be removed for good; say --yes to do it")
