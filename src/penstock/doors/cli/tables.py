"""Pictures for a terminal; loaded only when there is one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from penstock.doors.cli.columns import GAP, Column, fitted
from penstock.doors.cli.output import clean
from penstock.doors.cli.overview import NO_WORKER, Overview
from penstock.doors.cli.words import about, since, span, spoken
from penstock.model.inventory import Health
from penstock.model.jobs import Job
from penstock.model.standing import Pause

STYLES = {
    "ready": "cyan",
    "waiting": "yellow",
    "paused": "magenta",
    "delayed": "yellow",
    "suspect": "red",
    "running": "blue",
    "done": "green",
    "failed": "red",
    "cancelled": "bright_black",
    "alive": "green",
    "draining": "yellow",
    "dead": "bold red",
}
"""One colour for a word, wherever it is shown."""
RUNNING_SHOWN = 16
"""Running jobs on one screen."""


class Fitted:
    """Columns that are chosen and cut when the width is known."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield fitted(self._columns, options.max_width)


def _word(word: str) -> Text:
    return Text(word, style=STYLES.get(word, ""))


def _text(value: object, style: str = "") -> Text:
    return Text("" if value is None else clean(str(value)), style=style)


def _each(jobs: Iterable[Job], cell: Callable[[Job], object], style: str = "") -> list[Text]:
    return [_text(cell(job), style) for job in jobs]


def _where_they_differ(jobs: Sequence[Job], cell: Callable[[Job], object]) -> list[Text]:
    return _each(jobs, cell if len({cell(job) for job in jobs}) > 1 else lambda _: None)


def job_table(jobs: Sequence[Job], pauses: Sequence[Pause], now: float) -> Fitted:
    """A page of jobs; tenant and collection are shown where they differ."""
    return Fitted(
        [
            Column(title="JOB", cells=_each(jobs, lambda job: job.id)),
            Column(title="STATE", cells=[_word(spoken(job, pauses)) for job in jobs]),
            Column(title="PRIORITY", cells=_each(jobs, lambda job: job.priority), rank=5, is_right=True),
            Column(title="WORK", cells=_each(jobs, _work), rank=2),
            Column(title="TENANT", cells=_where_they_differ(jobs, lambda job: job.tenant), rank=3),
            Column(title="COLLECTION", cells=_where_they_differ(jobs, lambda job: job.collection), rank=4),
            Column(title="ABOUT", cells=_each(jobs, about), is_flexible=True),
            Column(title="ERROR", cells=_each(jobs, _code, "red"), rank=1),
            Column(
                title="AGE", cells=_each(jobs, lambda job: span(now - job.created_at), "dim"), is_right=True
            ),
        ]
    )


def _work(job: Job) -> str:
    return f"{job.item_type} {job.op}"


def _code(job: Job) -> str | None:
    return None if job.error is None else job.error.code


def details(job: Mapping[str, object], now: float) -> Table:
    """Everything about one job or letter, a fact a line; what is not set is left out."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, GAP, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in job.items():
        if value is not None and value is not False and value != {}:
            table.add_row(name.replace("_", " "), _fact(name, value, now))
    return table


def _fact(name: str, value: object, now: float) -> Text:
    if name == "state":
        return _word(str(value))
    if name.endswith(("_at", "_until", "_since")):
        at = datetime.fromisoformat(str(value)).timestamp()
        return Text(str(value)).append(f"  {since(at, now)}", style="dim")
    if name == "error" and isinstance(value, dict):
        text = _text(f"{value['message']} ({value['code']})", "red")
        for line in value["suggestions"]:
            text.append(f"\n{line}", style="default")
        return text
    if isinstance(value, dict | list):
        shown = json.dumps(value, ensure_ascii=False, indent=2)
        return Text("\n".join(clean(line) for line in shown.split("\n")))
    return _text(value)


def status(seen: Overview) -> Group:
    """The whole queue on one screen."""
    parts: list[RenderableType] = [_counts(seen)]
    if seen.health is not None:
        parts += [Text(), _health(seen.health)]
    if seen.workers:
        parts += [Text(), _workers(seen)]
    if seen.running:
        parts += [Text(), _running(seen)]
    if seen.counts.leased > RUNNING_SHOWN:
        parts.append(Text(f"… and {seen.counts.leased - RUNNING_SHOWN:,} more", style="dim"))
    if seen.pauses:
        parts += [Text(), _pauses(seen)]
    if not seen.alive:
        parts += [Text(), Text(NO_WORKER, style="bold red")]
    return Group(*parts)


def _counts(seen: Overview) -> Table:
    counts = seen.counts
    rows = [
        ("ready", counts.ready, _oldest(seen)),
        ("running", counts.leased, ""),
        ("delayed", counts.delayed, "until their time has come"),
        ("waiting", counts.waiting, "for another job on the same subject"),
        ("paused", counts.paused, "until resumed"),
        ("suspect", counts.suspects, "killed workers; each will run alone"),
        ("done", counts.done, ""),
        ("failed", counts.failed, "see: penstock queue dlq list"),
    ]
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, GAP, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="dim", no_wrap=True, overflow="ellipsis")
    for word, count, note in rows:
        if count or word not in {"waiting", "paused", "suspect"}:
            number = Text(f"{count:,}", style="bold" if count else "dim")
            table.add_row(_word(word), number, note if count else "")
    return table


def _health(health: Health) -> Text:
    worker = "a worker is connected" if health.worker_connected else "no worker is connected"
    told = f"{health.queue_name} on {health.connection}: {health.queued:,} queued, {worker}"
    return Text(clean(told), style="dim", overflow="fold")


def _oldest(seen: Overview) -> str:
    return "" if seen.oldest is None else f"the oldest for {span(seen.now - seen.oldest.created_at)}"


def _workers(seen: Overview) -> Fitted:
    workers = seen.workers
    running = [
        Text(f"{each.running}" if each.draining else f"{each.running} of {each.concurrency}")
        for each in workers
    ]
    return Fitted(
        [
            Column(title="WORKER", cells=[_text(worker.id) for worker in workers], is_flexible=True),
            Column(title="", cells=[_word(worker.word) for worker in workers]),
            Column(title="RUNS", cells=running),
            Column(
                title="BEAT", cells=[Text(since(each.beat_at, seen.now), style="dim") for each in workers]
            ),
            Column(
                title="STARTED",
                cells=[Text(since(each.started_at, seen.now), style="dim") for each in workers],
                rank=1,
            ),
        ]
    )


def _running(seen: Overview) -> Fitted:
    jobs = seen.running[:RUNNING_SHOWN]
    return Fitted(
        [
            Column(title="RUNNING", cells=_each(jobs, lambda job: job.id, "blue")),
            Column(title="WORK", cells=_each(jobs, _work), rank=2),
            Column(title="ABOUT", cells=_each(jobs, about), is_flexible=True),
            Column(title="PROGRESS", cells=_each(jobs, _progress), rank=1),
            Column(title="FOR", cells=_each(jobs, lambda job: _running_for(job, seen.now), "dim")),
            Column(title="ON", cells=_each(jobs, lambda job: job.worker), rank=3),
        ]
    )


def _running_for(job: Job, now: float) -> str:
    return span(now - (job.started_at or job.updated_at))


def _progress(job: Job) -> str:
    if job.progress is None:
        return ""
    return f"{job.progress.done:,}" + (f" of {job.progress.total:,}" if job.progress.total else "")


def _pauses(seen: Overview) -> Fitted:
    return Fitted(
        [
            Column(
                title="PAUSED", cells=[_text(pause, "magenta") for pause in seen.pauses], is_flexible=True
            ),
            Column(title="BY", cells=[_text(pause.by) for pause in seen.pauses]),
            Column(
                title="SINCE",
                cells=[Text(since(pause.since, seen.now), style="dim") for pause in seen.pauses],
            ),
        ]
    )
