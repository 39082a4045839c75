"""Tables for a terminal; loaded only when there is one."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from penstock.doors.cli.output import clean
from penstock.doors.cli.overview import NO_WORKER, Overview
from penstock.doors.cli.shapes import JobDetails
from penstock.doors.cli.words import about, since, span, spoken
from penstock.model.jobs import Job
from penstock.model.standing import Pause

STYLES = {
    "ready": "cyan",
    "waiting": "yellow",
    "paused": "magenta",
    "delayed": "yellow",
    "suspects": "red",
    "running": "blue",
    "done": "green",
    "failed": "red",
    "cancelled": "bright_black",
}
"""One colour for a state, wherever it is shown."""
RUNNING_SHOWN = 16
"""Running jobs on one screen."""


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
    for heading in headings:
        table.add_column(heading)
    return table


def _word(word: str) -> Text:
    return Text(word, style=STYLES.get(word, ""))


def _plain(value: object, style: str = "") -> Text:
    return Text(clean(str(value)), style=style)


def job_table(jobs: Sequence[Job], pauses: Sequence[Pause], now: float) -> Table:
    """A page of jobs; tenant and collection are shown where they differ."""
    has_tenants = len({job.tenant for job in jobs}) > 1
    has_collections = len({job.collection for job in jobs}) > 1
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
    table.add_column("job", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("pri", justify="right")
    table.add_column("work", no_wrap=True)
    if has_tenants:
        table.add_column("tenant", overflow="ellipsis", no_wrap=True)
    if has_collections:
        table.add_column("collection", overflow="ellipsis", no_wrap=True)
    table.add_column("about", overflow="ellipsis", no_wrap=True, ratio=1)
    table.add_column("age", justify="right", no_wrap=True)
    for job in jobs:
        cells: list[RenderableType] = [
            Text(clean(job.id)),
            _word(spoken(job, pauses)),
            Text(str(job.priority)),
        ]
        cells.append(Text(f"{job.item_type} {job.op}"))
        cells += [_plain(job.tenant)] if has_tenants else []
        cells += [_plain(job.collection)] if has_collections else []
        table.add_row(*cells, _about(job), Text(span(now - job.created_at), style="dim"))
    return table


def _about(job: Job) -> Text:
    text = _plain(about(job))
    if job.error is not None:
        text.append(f"  {clean(job.error.code)}", style="red")
    return text


def details(job: JobDetails) -> Table:
    """Everything about one job, a fact a line; what is not set is left out."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in job.items():
        if value is None or value is False or value == {}:
            continue
        table.add_row(name.replace("_", " "), _fact(name, value))
    return table


def _fact(name: str, value: object) -> Text:
    if name == "state":
        return _word(str(value))
    if name == "error" and isinstance(value, dict):
        text = Text(f"{clean(value['message'])} ({clean(value['code'])})", style="red")
        for line in value["suggestions"]:
            text.append(f"\n  {line}", style="default")
        return text
    if isinstance(value, dict | list):
        shown = json.dumps(value, ensure_ascii=False, indent=2)
        return Text("\n".join(clean(line) for line in shown.split("\n")))
    return _plain(value)


def status(seen: Overview) -> Group:
    """The whole queue on one screen."""
    parts: list[RenderableType] = [_counts(seen)]
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
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="dim")
    rows: list[tuple[str, int, str]] = [
        ("ready", counts.ready, _oldest(seen)),
        ("running", counts.leased, ""),
        ("delayed", counts.delayed, "until their time has come"),
        ("waiting", counts.waiting, "behind another job on the same subject"),
        ("paused", counts.paused, "set aside until resumed"),
        ("suspects", counts.suspects, "killed workers; each will run alone"),
        ("done", counts.done, ""),
        ("failed", counts.failed, "penstock queue dlq list"),
    ]
    optional = {"waiting", "paused", "suspects"}
    for word, count, note in rows:
        if count or word not in optional:
            table.add_row(
                _word(word), Text(f"{count:,}", style="bold" if count else "dim"), note if count else ""
            )
    return table


def _oldest(seen: Overview) -> str:
    if seen.oldest is None:
        return ""
    more = "" if seen.oldest_is_exact else "more than "
    return f"the oldest since {more}{span(seen.now - seen.oldest.created_at)}"


def _workers(seen: Overview) -> Table:
    table = _table("worker", "", "runs", "of", "up", "beat")
    table.columns[2].justify = table.columns[3].justify = "right"
    for worker in seen.workers:
        alive = Text("alive", style="green") if worker.alive else Text("dead", style="bold red")
        up = span(worker.beat_at - worker.started_at)
        beat = since(worker.beat_at, seen.now)
        table.add_row(_plain(worker.id), alive, str(worker.running), str(worker.concurrency), up, beat)
    return table


def _running(seen: Overview) -> Table:
    table = _table("running", "work", "about", "progress", "for", "worker")
    table.columns[0].no_wrap = True
    for index in (2, 5):
        table.columns[index].no_wrap = True
        table.columns[index].overflow = "ellipsis"
    for job in seen.running[:RUNNING_SHOWN]:
        worker, started = clean(job.worker or ""), job.started_at or job.updated_at
        work = f"{job.item_type} {job.op}"
        table.add_row(
            _plain(job.id), work, _plain(about(job)), _progress(job), span(seen.now - started), worker
        )
    return table


def _progress(job: Job) -> str:
    if job.progress is None:
        return ""
    return f"{job.progress.done:,}" + (f" of {job.progress.total:,}" if job.progress.total else "")


def _pauses(seen: Overview) -> Table:
    table = _table("paused", "by", "since")
    for pause in seen.pauses:
        table.add_row(_plain(pause, "magenta"), _plain(pause.by), since(pause.since, seen.now))
    return table
