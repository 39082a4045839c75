"""`penstock queue show` and `penstock queue explain`: everything about one job."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.facts import explained, job_details
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import verb
from penstock.doors.cli.queue.watching import print_changes, until_seen, watching
from penstock.doors.cli.session import known, with_store
from penstock.doors.cli.shapes import Explained, JobDetails
from penstock.doors.cli.values import text
from penstock.model.jobs import JobId
from penstock.model.standing import Standing
from penstock.model.standing import explain as sentence
from penstock.model.states import ENDED

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store


@verb(
    "show",
    examples=("penstock queue show JOB", "penstock queue show JOB --json"),
    shape=JobDetails,
    notes=("Piped, a line is a name and a value; values that are not text are JSON.",),
)
@click.argument("job", type=text)
@click.pass_obj
def show(given: Given, job: str) -> None:
    """Show everything about one job, its payload and its error."""
    show_job(given, job)


def show_job(given: Given, job_id: str) -> None:
    """Print one job whole."""

    async def work(store: Store, _: Settings) -> JobDetails:
        return job_details(await known(store.desk, job_id), await store.desk.pauses())

    details = with_store(given, work)
    if given.as_json:
        output.document(details)
    elif output.on_terminal():
        from penstock.doors.cli import tables

        output.draw(tables.details(details, time.time()))
    else:
        output.facts(details)


@verb(
    "explain",
    examples=(
        "penstock queue explain JOB",
        "penstock queue explain JOB --watch",
        "penstock queue explain JOB --json",
    ),
    shape=Explained,
    notes=(
        "With `--watch` the sentence is printed again when it changes; a lease that is renewed is no change.",
    ),
)
@click.argument("job", type=text)
@watching("Go on until the job has ended, or Ctrl-C.")
@click.pass_obj
def explain(given: Given, job: str, watch: bool, interval: float) -> None:
    """Say in a sentence why a job is not done, or how it ended."""

    async def work(store: Store, _: Settings) -> None:
        await print_changes(
            lambda: store.desk.standing(JobId(job)),
            interval,
            key=_changing,
            show=lambda standing: _print_explained(given, standing, is_one_of_many=watch),
            is_last=lambda standing: not watch or standing.job.state in ENDED,
        )

    until_seen(given, work) if watch else with_store(given, work)


def _changing(standing: Standing) -> str:
    return sentence(replace(standing, job=replace(standing.job, lease_until=1.0)))


def _print_explained(given: Given, standing: Standing, *, is_one_of_many: bool) -> None:
    found = explained(standing)
    if not given.as_json:
        output.line(found["sentence"])
    elif is_one_of_many:
        click.echo(output.json_text(found))
    else:
        output.document(found)
