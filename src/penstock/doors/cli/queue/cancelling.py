"""`penstock queue cancel`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import dry_run, verb
from penstock.doors.cli.session import known, with_store
from penstock.doors.cli.shapes import CancelFacts, Cancelled
from penstock.doors.cli.values import text
from penstock.doors.cli.words import Shown, shown
from penstock.model.states import ENDED
from penstock.ports.desk import Desk

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store


@verb(
    "cancel", examples=("penstock queue cancel JOB", "penstock queue cancel JOB JOB --json"), shape=Cancelled
)
@click.argument("jobs", nargs=-1, required=True, type=text, metavar="JOB...")
@dry_run
@click.pass_obj
def cancel(given: Given, jobs: Sequence[str], dry_run: bool) -> None:
    """Cancel jobs; a running one is told to stop."""

    async def work(store: Store, _: Settings) -> list[CancelFacts]:
        return await _cancel(store.desk, jobs, rehearse=dry_run)

    facts = with_store(given, work)
    if given.as_json:
        output.document(Cancelled(jobs=facts, dry_run=dry_run))
        return
    output.table((each["id"], _word(each, rehearse=dry_run)) for each in facts)
    if dry_run:
        output.talk("nothing was changed")


async def _cancel(desk: Desk, ids: Sequence[str], *, rehearse: bool) -> list[CancelFacts]:
    found = [await known(desk, job_id) for job_id in ids]
    if rehearse:
        answers = [job.state not in ENDED for job in found]
    else:
        answers = await desk.cancel([job.id for job in found])
        found = [await known(desk, job.id) for job in found]
    pauses = await desk.pauses()
    return [
        CancelFacts(id=job.id, cancelled=answer, state=shown(job, pauses).value)
        for job, answer in zip(found, answers, strict=True)
    ]


def _word(facts: CancelFacts, *, rehearse: bool) -> str:
    if not facts["cancelled"]:
        return "had already ended"
    if facts["state"] == Shown.RUNNING:
        return "would be told to stop" if rehearse else "is told to stop"
    return "would be cancelled" if rehearse else "cancelled"
