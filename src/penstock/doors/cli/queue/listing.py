"""`penstock queue list`, and the choice of jobs that other commands share."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from penstock.doors.cli import output
from penstock.doors.cli.codes import unknown
from penstock.doors.cli.facts import job_facts
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import PAGE_MAX, page_limit, verb
from penstock.doors.cli.queue.watching import print_changes, redraw, until_seen, watching
from penstock.doors.cli.session import every, known, with_store
from penstock.doors.cli.shapes import JobList
from penstock.doors.cli.values import text
from penstock.doors.cli.words import CORE, Shown, about, iso, parsed, shown, spoken
from penstock.model.jobs import Job
from penstock.model.payloads import item_type_named
from penstock.model.standing import Pause
from penstock.ports.desk import Desk, Wanted

if TYPE_CHECKING:
    from rich.console import RenderableType


TOLD_MAX = 4096
"""Characters of a payload's texts that a listing keeps: longer than any path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which jobs a command is about."""

    tenant: str | None = None
    collection: str | None = None
    item_type: str | None = None
    error_code: str | None = None

    def wanted(self) -> Wanted:
        """As the desk is asked."""
        if self.item_type is not None:
            item_type_named(self.item_type)
        return Wanted(
            tenants=None if self.tenant is None else (self.tenant,),
            collection=self.collection,
            item_type=self.item_type,
            error_code=self.error_code,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Which part of them is shown."""

    choice: Choice
    state: Shown | None
    limit: int
    before: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A page as it was found, and where the next begins."""

    jobs: Sequence[Job]
    pauses: Sequence[Pause]
    next_before: str | None


def choosing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a choice."""
    for name, target, words in (
        ("--error", "error_code", "Only jobs with this error code."),
        ("--type", "item_type", "Only jobs of this item type."),
        ("--collection", "collection", "Only jobs of this collection."),
        ("--tenant", "tenant", "Only jobs of this tenant."),
    ):
        function = click.option(name, target, type=text, help=words)(function)
    return function


def paging(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a listing the options of its pages."""
    before = click.option(
        "--before", type=text, metavar="JOB", help="Only jobs older than this one: the next page."
    )
    return page_limit("Jobs")(before(function))


@verb(
    "list",
    examples=(
        "penstock queue list --state failed --error ERR_TIMEOUT",
        "penstock queue list --tenant acme --limit 10 --json",
        "penstock queue list --watch --limit 20",
    ),
    shape=JobList,
    notes=(
        "Piped, a line is: id, state, priority, type, op, tenant, collection, created, error code, about.",
        "With `--watch` a line is printed for each job that is new on the page or has changed.",
    ),
)
@click.option("--state", type=click.Choice([word.value for word in Shown]), help="Only jobs in this state.")
@choosing
@paging
@watching("Go on until Ctrl-C: redraw, or print what changes.")
@click.pass_obj
def list_jobs(given: Given, /, watch: bool, interval: float, **asked: Any) -> None:
    """Show jobs, newest first."""
    page = Page(
        state=None if (state := asked.pop("state")) is None else Shown(state),
        limit=asked.pop("limit"),
        before=asked.pop("before"),
        choice=Choice(**asked),
    )
    if watch:
        until_seen(given, lambda store, _: _watch(given, store.desk, page, interval))
    else:
        list_page(given, page)


def list_page(given: Given, page: Page) -> None:
    """Print a page of jobs, and how to get the next."""
    seen = with_store(given, lambda store, _: look(store.desk, page))
    _print(given, seen)
    if not seen.jobs and (words := unknown(page.choice.error_code)) is not None:
        output.talk(output.clean(words))


async def _watch(given: Given, desk: Desk, page: Page, interval: float) -> None:
    async def drawn() -> RenderableType:
        from penstock.doors.cli import tables

        seen = await look(desk, page)
        return tables.job_table(seen.jobs, seen.pauses, time.time())

    if output.on_terminal() and not given.as_json:
        await redraw(drawn, interval)
    known_lines: set[tuple[object, ...]] = set()

    def show(seen: Seen) -> None:
        if given.as_json:
            return click.echo(output.json_text(_document(seen)))
        now = [_line(job, seen.pauses) for job in seen.jobs]
        output.lines(line for line in now if line not in known_lines)
        known_lines.clear()
        known_lines.update(now)

    await print_changes(
        lambda: look(desk, page),
        interval,
        key=lambda seen: [_line(job, seen.pauses) for job in seen.jobs],
        show=show,
    )


async def look(desk: Desk, page: Page) -> Seen:
    start = None if page.before is None else (await known(desk, page.before)).id
    pauses = await desk.pauses()
    wanted = replace(page.choice.wanted(), before=start)
    found = await _page(desk, wanted, page.state, page.limit + 1, pauses)
    jobs = [await _brief(desk, job) for job in found[: page.limit]]
    return Seen(jobs=jobs, pauses=pauses, next_before=jobs[-1].id if len(found) > page.limit else None)


async def _brief(desk: Desk, job: Job) -> Job:
    """The job with so much of its payload as a line tells; a page holds many, and each may be large."""
    whole = await desk.find(job.id)
    if whole is None:  # removed meanwhile
        return job
    payload = parsed(whole.payload_json)
    words = payload.items() if isinstance(payload, dict) else ()
    told = {name: value[:TOLD_MAX] for name, value in words if isinstance(value, str)}
    return replace(whole, payload_json=json.dumps(told))


async def _page(
    desk: Desk, wanted: Wanted, state: Shown | None, limit: int, pauses: Sequence[Pause]
) -> list[Job]:
    """Up to `limit` jobs; a shown state may be a part of a core state, so others are passed over."""
    if state is None:
        return await desk.jobs(replace(wanted, limit=limit, payload=False))
    most = min(limit, await _most(desk, state))
    found: list[Job] = []
    for core in CORE[state] if most else ():
        part: list[Job] = []
        async for job in every(desk, replace(wanted, state=core)):
            if shown(job, pauses) is state:
                part.append(job)
            if len(part) >= most:
                break
        found += part
    # Each part comes newest first; so does the whole.
    return sorted(found, key=lambda job: (job.created_at, job.id), reverse=True)[:limit]


async def _most(desk: Desk, state: Shown) -> int:
    """How many there can be; where they are few, a long table need not be walked to its end."""
    counts = await desk.counts()
    few = {Shown.WAITING: counts.waiting, Shown.PAUSED: counts.paused, Shown.SUSPECT: counts.suspects}
    return few.get(state, PAGE_MAX + 1)


def _print(given: Given, seen: Seen) -> None:
    if given.as_json:
        output.document(_document(seen))
        return
    if output.on_terminal() and seen.jobs:
        from penstock.doors.cli import tables

        output.draw(tables.job_table(seen.jobs, seen.pauses, time.time()))
    else:
        output.lines(_line(job, seen.pauses) for job in seen.jobs)
    if not seen.jobs:
        output.talk("no such jobs")
    if seen.next_before is not None:
        output.talk(f"there are more: --before {seen.next_before}")


def _document(seen: Seen) -> JobList:
    return JobList(jobs=[job_facts(job, seen.pauses) for job in seen.jobs], next_before=seen.next_before)


def _line(job: Job, pauses: Sequence[Pause]) -> tuple[object, ...]:
    code = None if job.error is None else job.error.code
    where = job.tenant, job.collection
    return (
        job.id,
        spoken(job, pauses),
        job.priority,
        job.item_type.value,
        job.op.value,
        *where,
        iso(job.created_at),
        code,
        about(job),
    )
