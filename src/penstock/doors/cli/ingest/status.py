"""`penstock ingest status`: one job in the documented words, once or to its end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.exits import Exit
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import verb
from penstock.doors.cli.ingest.records import has_ended, record_of, record_outside
from penstock.doors.cli.ingest.shapes import StatusRecord
from penstock.doors.cli.session import with_store
from penstock.doors.cli.values import interval as interval_of
from penstock.doors.cli.values import text
from penstock.model.errors import Broken, Refused

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store


@verb(
    "status",
    examples=(
        "penstock ingest status --job JOB",
        "penstock ingest status --job JOB --follow",
        "penstock ingest status --job JOB --json | jq .chunks_created",
    ),
    shape=StatusRecord,
    notes=(
        "Piped, a line is a name and a value; what stands inside another is named after it: "
        "`batch.total`, `stages.1.status`.",
        "States are submitted, queued, processing, done and failed.",
        "With `--follow` it goes on until the job and its children have ended, and ends with 2 if any "
        "failed; piped, a line is printed when something changes, with `--json` one document a line.",
        "A server does not tell `started_at`, `duration_seconds`, `tokens_used`, `found` and `why`.",
    ),
)
@click.option("--job", "job_id", type=text, required=True, metavar="JOB", help="Id of the job.")
@click.option("--follow", is_flag=True, help="Go on until it has ended.")
@click.option(
    "--interval",
    type=interval_of,
    default="500ms",
    show_default=True,
    metavar="DURATION",
    help="Time between two looks.",
)
@click.pass_obj
def status(given: Given, job_id: str, follow: bool, interval: float) -> int:
    """Show how far a document, folder or text is, and why it waits."""
    if not follow:
        with_store(given, lambda store, settings: _once(store, settings, given, job_id))
        return Exit.OK
    try:
        record = with_store(given, lambda store, settings: _follow(store, settings, given, job_id, interval))
    except KeyboardInterrupt:
        return left_alone(job_id)
    return exit_of(record)


def left_alone(job_id: str) -> Exit:
    """Ctrl-C while it was followed."""
    output.talk(f"it goes on without you; to look again: penstock ingest status --job {job_id}")
    return Exit.INTERRUPTED


def exit_of(record: StatusRecord) -> Exit:
    """How a command ends that followed it to its end."""
    batch = record["batch"]
    failed = record["status"] == "failed" or (batch is not None and batch["failed"] > 0)
    return Exit.EXECUTION if failed else Exit.OK


async def _record(store: Store, settings: Settings, job_id: str) -> StatusRecord:
    """As booked; of a message nobody has booked, because it waits or was refused, as Redis has it."""
    from penstock.wiring.admin import shown_outside

    try:
        return await record_of(store, job_id)
    except Refused as refused:
        told = await shown_outside(settings, store, job_id) if refused.code == "ERR_JOB_UNKNOWN" else None
        if told is None:
            raise
        return record_outside(told)


async def _once(store: Store, settings: Settings, given: Given, job_id: str) -> None:
    show(given, await _record(store, settings, job_id))


def show(given: Given, record: StatusRecord) -> None:
    """Print where a job is."""
    if given.as_json:
        output.document(record)
    elif output.on_terminal():
        from penstock.doors.cli.ingest import pictures

        output.draw(pictures.record(record))
    else:
        output.facts(output.leaves(record))


async def _follow(
    store: Store, settings: Settings, given: Given, job_id: str, interval: float
) -> StatusRecord:
    async def looks() -> AsyncGenerator[StatusRecord, None]:
        while True:
            yield await _record(store, settings, job_id)
            await output.rest(interval)

    return await show_until_over(given, looks())


async def show_until_over(given: Given, looks: AsyncGenerator[StatusRecord, None]) -> StatusRecord:
    """Print what is seen whenever it is another; the last, which has ended."""
    async with aclosing(looks):
        with _showing(given) as show_one:
            async for record in looks:
                show_one(record)
                if has_ended(record):
                    return record
    raise Broken("looking has an end before the job has")


@contextmanager
def _showing(given: Given) -> Iterator[Callable[[StatusRecord], None]]:
    """A picture that is drawn anew on a terminal, elsewhere a line for each change."""
    if output.on_terminal() and not given.as_json:
        from rich.live import Live

        from penstock.doors.cli.ingest import pictures

        with Live(console=output.console(), auto_refresh=False) as live:
            yield lambda record: live.update(pictures.record(record), refresh=True)
        return
    last = ""

    def show_change(record: StatusRecord) -> None:
        nonlocal last
        line = output.json_text(record) if given.as_json else change_line(record)
        if line != last:
            last = line
            click.echo(line)
            output.flush()

    yield show_change


def change_line(record: StatusRecord) -> str:
    """One line, the same as long as nothing has changed."""
    parts = [record["status"]]
    if record["document_state"]:
        parts.append(f"document={record['document_state']}")
    if record["progress"]:
        parts.append(f"progress={record['progress']['done']}/{record['progress']['total'] or '?'}")
    batch = record["batch"]
    if batch:
        parts.append(f"children={batch['done'] + batch['failed']}/{batch['total']}")
        parts.append(f"failed={batch['failed']}")
    if record["error_code"]:
        parts.append(record["error_code"])
    return " ".join(parts)
