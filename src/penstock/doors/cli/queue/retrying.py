"""`penstock queue retry`: run ended jobs again, as new jobs that name the old."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.facts import error_facts
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import dry_run, verb
from penstock.doors.cli.queue.listing import Choice, choosing
from penstock.doors.cli.session import every, known, with_store
from penstock.doors.cli.shapes import ReplayFacts, Retried, SkippedFacts
from penstock.doors.cli.values import text
from penstock.doors.cli.words import plural, shown
from penstock.model.codes import MEANT
from penstock.model.errors import Refused
from penstock.model.jobs import Job, JobId
from penstock.model.states import ENDED, State
from penstock.ports.desk import Desk, Wanted

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store

PORTION = 20
"""Jobs run again at once: each brings its payload along, and one may be a megabyte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a retry was asked for."""

    jobs: Sequence[str]
    all_failed: bool
    choice: Choice
    dry_run: bool
    failed_only: bool = False


@verb(
    "retry",
    examples=(
        "penstock queue retry JOB",
        "penstock queue retry --all-failed --error ERR_DEPENDENCY_DOWN",
        "penstock queue retry --all-failed --tenant acme --dry-run",
    ),
    shape=Retried,
    notes=("Piped, a line is: old id, new id.", "Named jobs run again all or none."),
)
@click.argument("jobs", nargs=-1, type=text, metavar="[JOB]...")
@click.option(
    "--all-failed",
    is_flag=True,
    help="Every failed job not retried before; cancelled and superseded ones only if --error names them.",
)
@choosing
@dry_run
@click.pass_obj
def retry(
    given: Given, /, jobs: Sequence[str], all_failed: bool, dry_run: bool, **choice: str | None
) -> None:
    """Run ended jobs again, as new jobs that name the old."""
    retry_jobs(given, Call(jobs=jobs, all_failed=all_failed, choice=Choice(**choice), dry_run=dry_run))


def retry_jobs(given: Given, call: Call) -> None:
    """Replay what the call names, all or none of the named jobs; print old and new."""
    if bool(call.jobs) == call.all_failed or (call.jobs and call.choice != Choice()):
        raise click.UsageError("name jobs, or say --all-failed and what to choose; not both")

    async def work(store: Store, _: Settings) -> Retried:
        if call.all_failed:
            return await _replay_chosen(store.desk, call)
        old = [await known(store.desk, job_id) for job_id in call.jobs]
        _refuse_unfit(old, call)
        ids = [job.id for job in old]
        replays = _rehearsed(ids) if call.dry_run else await _replay(store.desk, ids)
        return Retried(jobs=replays, skipped=[], dry_run=call.dry_run)

    _print(given, with_store(given, work))


def _refuse_unfit(jobs: Sequence[Job], call: Call) -> None:
    for job in jobs:
        if job.state not in ENDED:
            raise Refused(
                f"job {job.id} has not ended yet, it is {shown(job, ())}", code="ERR_JOB_UNFINISHED"
            )
        if call.failed_only and job.state is not State.FAILED:
            raise Refused(f"job {job.id} has not failed, it is {shown(job, ())}")


async def _replay_chosen(desk: Desk, call: Call) -> Retried:
    chosen = iter(await failed_jobs(desk, call.choice))
    done = Retried(jobs=[], skipped=[], dry_run=call.dry_run)
    while portion := list(islice(chosen, PORTION)):
        if call.dry_run:
            done["jobs"] += _rehearsed(portion)
        else:
            await _replay_portion(desk, portion, done)
    return done


async def failed_jobs(desk: Desk, choice: Choice) -> list[JobId]:
    """Failed jobs that nobody meant to fail and nobody has run again, oldest first."""
    wanted = choice.wanted()
    failed = [
        job.id
        async for job in every(desk, replace(wanted, state=State.FAILED))
        if choice.error_code or job.error is None or job.error.code not in MEANT
    ]
    again = await _replayed(desk, replace(wanted, error_code=None)) if failed else set()
    return [job_id for job_id in reversed(failed) if job_id not in again]


async def _replayed(desk: Desk, wanted: Wanted) -> set[JobId]:
    return {job.replay_of async for job in every(desk, wanted) if job.replay_of is not None}


async def _replay_portion(desk: Desk, ids: Sequence[JobId], done: Retried) -> None:
    try:
        done["jobs"] += await _replay(desk, ids)
    except Refused as fault:
        if len(ids) == 1:
            done["skipped"].append(SkippedFacts(id=ids[0], error=error_facts(fault)))
            return
        # One job that cannot run again (a payload written by hand, say) must not hold back the others.
        for job_id in ids:
            await _replay_portion(desk, [job_id], done)


async def _replay(desk: Desk, ids: Sequence[JobId]) -> list[ReplayFacts]:
    receipts = await desk.replay(ids)
    return [
        ReplayFacts(old=old, new=receipt.job_id, how=receipt.how.value)
        for old, receipt in zip(ids, receipts, strict=True)
    ]


def _rehearsed(ids: Sequence[JobId]) -> list[ReplayFacts]:
    return [ReplayFacts(old=job_id, new=None, how=None) for job_id in ids]


def _print(given: Given, done: Retried) -> None:
    if given.as_json:
        output.document(done)
        return
    for each in done["jobs"]:
        both = [job_id for job_id in (each["old"], each["new"]) if job_id is not None]
        output.line(*([" → ".join(both)] if output.on_terminal() else both))
    for skipped in done["skipped"]:
        output.talk(output.clean(f"skipped {skipped['id']}: {skipped['error']['message']}"))
    verb = "would run again" if done["dry_run"] else "submitted again"
    output.talk(f"{plural(len(done['jobs']), 'job')} {verb}")
