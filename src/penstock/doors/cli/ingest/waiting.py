"""Waiting for work somebody handed in: a bar on a terminal, lines elsewhere, and how it ended."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.doors.cli import output
from penstock.doors.cli.exits import Exit
from penstock.doors.cli.facts import error_facts
from penstock.doors.cli.ingest.following import Follower, Outlook
from penstock.doors.cli.ingest.shapes import FailedFacts, WaitFacts
from penstock.doors.cli.overview import NO_WORKER
from penstock.doors.cli.words import about, plural, span
from penstock.model.errors import ErrorReport
from penstock.model.jobs import Job, JobId

if TYPE_CHECKING:
    from rich.progress import TaskID

    from penstock.wiring.store import Store

WINDOW_SECONDS = 30.0
"""The rate is that of the last so many seconds."""
LINE_SECONDS = 1.0
"""Lines come no faster than this."""
SHOWN_MAX = 20
"""Failures told to a person; all that are kept are in the document."""

Show = Callable[[Outlook], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """How far something is, in words: for a line, beside a bar, and its rate."""

    line: Callable[[Outlook], str]
    beside: Callable[[Outlook], str]
    rate: Callable[[float], str]


ENDS = Wording(
    line=lambda seen: f"{seen.ended:,} of {seen.total:,} ended, {seen.failed:,} failed",
    beside=lambda seen: (
        f"{seen.ended:,} of {seen.total:,}" + (f", {seen.failed:,} failed" if seen.failed else "")
    ),
    rate=lambda rate: f"{rate:.1f}/s",
)
"""Work that ends, well or not."""


class Pace:
    """How fast things end, and when the last will."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def take(self, ended: int, now: float) -> None:
        """So many had ended by now."""
        self._seen.append((now, ended))
        while now - self._seen[0][0] > WINDOW_SECONDS and len(self._seen) > 2:
            self._seen.popleft()

    @property
    def rate(self) -> float:
        """Ends in a second."""
        (first, before), (last, after) = self._seen[0], self._seen[-1]
        return (after - before) / (last - first) if last > first else 0.0

    def left(self, outlook: Outlook) -> str:
        """What is left, in words; empty while nobody can tell."""
        if outlook.is_over or not self.rate:
            return ""
        return f"about {span((outlook.total - outlook.ended) / self.rate)} left"


async def wait(
    store: Store,
    jobs: Sequence[JobId],
    *,
    timeout: float | None,
    quiet: bool,
    seen: Show = lambda _: None,
) -> tuple[WaitFacts, Exit]:
    """Follow to the end, or until the time is over; what was seen, and the code to end with.

    `seen` is told each outlook, for whoever has to say how far it was when somebody stops it.
    """
    last = Outlook(total=len(jobs), done=0, failed=0, is_over=not jobs)
    end = "ended"
    await tell_if_alone(store, quiet=quiet)
    with showing(quiet=quiet) as show:
        try:
            async with asyncio.timeout(timeout):
                async for last in Follower(store, jobs).until_over():
                    show(last)
                    seen(last)
        except TimeoutError:
            end = "timeout"
    failed = Exit.EXECUTION if last.failed else Exit.OK
    return facts_of(last, end), Exit.TIMEOUT if end == "timeout" else failed


def facts_of(outlook: Outlook, end: str) -> WaitFacts:
    """As a document."""
    return WaitFacts(
        end=end,
        total=outlook.total,
        done=outlook.done,
        failed=outlook.failed,
        failures=[failed_facts(job) for job in outlook.failures],
    )


def left_of(outlook: Outlook) -> str:
    """What goes on when nobody waits any more; a folder may find further files meanwhile."""
    left = outlook.total - outlook.ended
    if not left:
        return "what is left stays queued or runs on"
    of = f" of {outlook.total:,}" if outlook.ended else ""
    return f"{plural(left, 'job')}{of} {'stays queued or runs' if left == 1 else 'stay queued or run'} on"


def failed_facts(job: Job) -> FailedFacts:
    """A failed job."""
    error = job.error or ErrorReport(code="ERR_UNEXPECTED", message="it failed without a recorded reason")
    return FailedFacts(job_id=job.id, name=about(job), error=error_facts(error))


def tell_end(found: WaitFacts, *, quiet: bool) -> None:
    """Say to the person how it ended: each failure with what to do, then the sum."""
    for each in found["failures"][:SHOWN_MAX]:
        tell_failure(each)
    if len(found["failures"]) > SHOWN_MAX:
        output.talk(f"… and {len(found['failures']) - SHOWN_MAX:,} more failures")
    if not quiet or found["end"] != "ended":
        output.talk(_sum(found))


def tell_failure(each: FailedFacts, how: str = "failed") -> None:
    """One failure in words."""
    error = each["error"]
    output.talk(output.clean(f"{how}: {each['name']}: {error['message']} ({error['code']})"))
    for line in error["suggestions"]:
        output.talk(f"  {output.clean(line)}")


def _sum(found: WaitFacts) -> str:
    if found["end"] == "ended" and not found["total"]:
        return "nothing to do: no file there is new or changed"
    left = found["total"] - found["done"] - found["failed"]
    parts = [f"{found['done']:,} done", f"{found['failed']:,} failed"]
    if left or found["end"] != "ended":
        parts.append(f"{left:,} not ended")
    words = {"timeout": "the time is over: ", "interrupted": "interrupted: "}.get(found["end"], "")
    tail = "; what is not ended stays queued, see: penstock queue status" if words else ""
    return f"{words}{', '.join(parts)} of {plural(found['total'], 'job')}{tail}"


async def tell_if_alone(store: Store, *, quiet: bool) -> None:
    """Say that what is waited for will not come as long as no worker is alive."""
    if not quiet and not any(worker.alive for worker in await store.desk.workers()):
        output.talk(NO_WORKER)


@contextmanager
def showing(*, quiet: bool, wording: Wording = ENDS) -> Iterator[Show]:
    """How far it is, on stderr: a bar for a person, lines for a log, or nothing."""
    if quiet:
        yield lambda _: None
    elif sys.stderr is not None and sys.stderr.isatty():
        with _bar(wording) as show:
            yield show
    else:
        yield _lines(wording)


def _lines(wording: Wording) -> Show:
    pace, told, told_at = Pace(), "", 0.0

    def show(outlook: Outlook) -> None:
        nonlocal told, told_at
        now = time.monotonic()
        pace.take(outlook.ended, now)
        counts = wording.line(outlook)
        if counts != told and (now - told_at >= LINE_SECONDS or outlook.is_over):
            told, told_at = counts, now
            rest = [wording.rate(pace.rate) if pace.rate else "", pace.left(outlook)]
            output.talk(", ".join([counts, *filter(None, rest)]))

    return show


@contextmanager
def _bar(wording: Wording) -> Iterator[Show]:
    """A bar on stderr, so that stdout stays data."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (
        BarColumn(bar_width=None),
        TextColumn("{task.fields[counts]}"),
        TextColumn("{task.fields[pace]}", style="dim"),
    )
    screen = Console(stderr=True, highlight=False)
    with Progress(*columns, console=screen, transient=True, expand=True) as progress:
        task: TaskID = progress.add_task("", total=None, counts="waiting", pace="")
        pace = Pace()

        def show(outlook: Outlook) -> None:
            pace.take(outlook.ended, time.monotonic())
            rate = wording.rate(pace.rate) if pace.rate else ""
            progress.update(
                task,
                total=outlook.total or None,
                completed=outlook.ended,
                counts=wording.beside(outlook),
                pace=", ".join(filter(None, [rate, pace.left(outlook)])),
            )

        yield show
