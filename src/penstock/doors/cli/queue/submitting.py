"""`penstock queue submit`: one job from the command line, or many from stdin."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from penstock.doors.cli import output
from penstock.doors.cli.facts import receipt_facts
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import dry_run, verb
from penstock.doors.cli.queue.requests import Around, job_of, object_of, portions
from penstock.doors.cli.session import Begins, with_store
from penstock.doors.cli.shapes import Submitted
from penstock.doors.cli.values import moment, text
from penstock.doors.cli.words import plural
from penstock.doors.streams import silence
from penstock.model.jobs import NewJob, Receipt
from penstock.ports.database import Transaction

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store

STDIN = "-"


@verb(
    "submit",
    examples=(
        'penstock queue submit --type file --payload \'{"file_path": "/data/a.pdf"}\'',
        'penstock queue submit --type content --priority high --payload \'{"content": "a note"}\'',
        "penstock queue submit --type file - < payloads.jsonl",
    ),
    shape=Submitted,
    notes=(
        "Piped, a line is the id that stands for the job.",
        "On stdin a line is a payload, or an object with `payload` and any of `type`, `op`, `collection`, "
        "`tenant`, `priority`, `id`, `at` and `metadata`, which the options supply where it does not.",
        "Lines are accepted in portions of `limits.bulk`, each whole or not at all.",
    ),
)
@click.argument("source", required=False, type=click.Choice([STDIN]), metavar="[-]")
@click.option("--type", "item_type", type=text, help="Item type: content, file, folder, project, library …")
@click.option("--op", type=text, help="Operation: ingest, update, delete or scan; ingest where offered.")
@click.option("--collection", type=text, default="default", show_default=True, help="Collection it goes to.")
@click.option("--tenant", type=text, default="local", show_default=True, help="Tenant that owns it.")
@click.option(
    "--priority", type=text, default="normal", show_default=True, help="0 to 10, or high, normal, low."
)
@click.option("--id", type=text, help="Job id; the same id again never makes a second job.")
@click.option(
    "--at",
    type=moment,
    metavar="TIME",
    help="Not before: 2030-01-31T08:00:00Z (UTC unless it says), or +10m.",
)
@click.option(
    "--payload",
    type=text,
    metavar="JSON",
    help="The payload; with - in its place, stdin holds one payload or whole job a line.",
)
@click.option("--metadata", type=text, metavar="JSON", help="An object that is kept with the job.")
@dry_run
@click.pass_obj
def submit(
    given: Given,
    /,
    source: str | None,
    payload: str | None,
    metadata: str | None,
    dry_run: bool,
    **words: Any,
) -> None:
    """Put jobs into the queue and print their ids."""
    if (source is None) == (payload is None):
        raise click.UsageError("give --payload JSON, or - to read JSON lines from stdin")
    settings = given.settings()
    kept = None if metadata is None else object_of(metadata, "--metadata", "ERR_METADATA_INVALID")
    around = Around(**words, metadata=kept, max_retries=settings.worker.max_retries)
    if payload in (None, STDIN):
        asked = _from_stdin(around, settings.limits.bulk)
    else:
        asked = iter([[job_of(around, object_of(payload, "--payload", "ERR_PAYLOAD_INVALID"))]])
    _submit_all(given, asked, rehearse=dry_run)


def _from_stdin(around: Around, jobs_max: int) -> Iterator[list[NewJob]]:
    if around.id is not None:
        raise click.UsageError("--id names one job; on stdin each line may carry an id of its own")
    if sys.stdin is None:
        raise click.UsageError("there is no stdin to read from")
    if sys.stdin.isatty():
        output.talk("reading one JSON object a line; Ctrl-D ends")
    return portions(sys.stdin.buffer, around, jobs_max)


def _submit_all(given: Given, asked: Iterator[list[NewJob]], *, rehearse: bool) -> None:
    """Each portion is accepted whole or not at all, and its ids are printed once it is."""
    accepted: list[Receipt] = []
    is_whole = False
    try:
        for portion in asked:
            fresh = _accept(given, portion, rehearse=rehearse)
            accepted += fresh
            if not given.as_json:
                _print_ids(fresh)
        is_whole = True
    finally:
        if given.as_json and (accepted or is_whole):
            output.document(Submitted(jobs=[receipt_facts(each) for each in accepted], dry_run=rehearse))
        elif not given.as_json and (is_whole or accepted):
            output.talk(_summary(accepted, rehearse=rehearse))


def _accept(given: Given, jobs: Sequence[NewJob], *, rehearse: bool) -> list[Receipt]:
    async def work(store: Store, _: Settings) -> list[Receipt]:
        return await (_rehearse(store, jobs) if rehearse else store.queue.submit(jobs))

    return with_store(given, work, begins=Begins.ALWAYS, rehearses=rehearse)


class _Undone(Exception):
    """Carries the receipts out of a transaction that must leave nothing behind."""

    def __init__(self, receipts: list[Receipt]) -> None:
        self.receipts = receipts


async def _rehearse(store: Store, jobs: Sequence[NewJob]) -> list[Receipt]:
    def undo(transaction: Transaction) -> list[Receipt]:
        raise _Undone(transaction.submit(jobs))

    try:
        return await store.write(undo)
    except _Undone as undone:
        return undone.receipts


def _print_ids(receipts: Sequence[Receipt]) -> None:
    try:
        for receipt in receipts:
            output.line(receipt.job_id)
        output.flush()
    except BrokenPipeError:
        silence(sys.stdout)  # nobody reads the ids; the jobs are wanted all the same


def _summary(receipts: Sequence[Receipt], *, rehearse: bool) -> str:
    counts = Counter(receipt.how.value for receipt in receipts)
    hows = ", ".join(f"{count:,} {how}" for how, count in sorted(counts.items())) or "nothing to do"
    return f"{plural(len(receipts), 'job')} {'would be ' if rehearse else ''}submitted: {hows}"
