"""`penstock queue dlq`: failed jobs, as the dead letters of other queues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import Noun, dry_run, verb
from penstock.doors.cli.queue.cleaning import NEVER, print_removed, remove
from penstock.doors.cli.queue.listing import Choice, Page, choosing, list_page, paging
from penstock.doors.cli.queue.retrying import Call, retry_jobs
from penstock.doors.cli.queue.showing import show_job
from penstock.doors.cli.session import with_store
from penstock.doors.cli.shapes import JobDetails, JobList, Removed, Retried
from penstock.doors.cli.values import duration, text
from penstock.doors.cli.words import Shown

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store


@verb("list", examples=("penstock queue dlq list --error ERR_POISON",), shape=JobList)
@choosing
@paging
@click.pass_obj
def list_letters(given: Given, /, limit: int, before: str | None, **choice: str | None) -> None:
    """Show failed jobs, newest first."""
    list_page(given, Page(choice=Choice(**choice), state=Shown.FAILED, limit=limit, before=before))


@verb("show", examples=("penstock queue dlq show JOB",), shape=JobDetails)
@click.argument("job", type=text)
@click.pass_obj
def show_letter(given: Given, job: str) -> None:
    """Show everything about one failed job."""
    show_job(given, job)


@verb(
    "retry",
    examples=("penstock queue dlq retry JOB", "penstock queue dlq retry --all --error ERR_TIMEOUT"),
    shape=Retried,
)
@click.argument("jobs", nargs=-1, type=text, metavar="[JOB]...")
@click.option(
    "--all",
    "all_failed",
    is_flag=True,
    help="Every failed job not retried before; cancelled and superseded ones only if --error names them.",
)
@choosing
@dry_run
@click.pass_obj
def retry_letters(
    given: Given, /, jobs: Sequence[str], all_failed: bool, dry_run: bool, **choice: str | None
) -> None:
    """Run failed jobs again, as new jobs that name the old."""
    call = Call(jobs=jobs, all_failed=all_failed, choice=Choice(**choice), dry_run=dry_run, failed_only=True)
    retry_jobs(given, call)


@verb(
    "purge",
    examples=("penstock queue dlq purge --dry-run", "penstock queue dlq purge --older-than 7d --yes"),
    shape=Removed,
)
@click.option(
    "--older-than", type=duration, default="0s", metavar="DURATION", help="Only jobs that failed longer ago."
)
@click.option("--yes", is_flag=True, help="Remove them; without it they are only counted.")
@dry_run
@click.pass_obj
def purge(given: Given, older_than: float, yes: bool, dry_run: bool) -> None:
    """Remove failed jobs for good."""

    async def work(store: Store, _: Settings) -> Removed:
        before = store.clock.now() - older_than
        return await remove(store, done_before=NEVER, failed_before=before, really=yes and not dry_run)

    print_removed(given, with_store(given, work), agreed=yes or dry_run)


dlq = Noun(
    "dlq",
    help="Look at failed jobs, run them again or remove them.",
    examples=("penstock queue dlq list", "penstock queue dlq retry --all"),
    commands=[list_letters, show_letter, retry_letters, purge],
)
