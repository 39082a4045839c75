"""The whole queue at one moment, gathered once and shown as a document, as lines or as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.doors.cli.facts import count_facts, health_facts, job_facts, pause_facts, worker_facts
from penstock.doors.cli.output import json_text
from penstock.doors.cli.shapes import OldestFacts, Status
from penstock.doors.cli.words import iso
from penstock.model.inventory import Health
from penstock.model.jobs import Job
from penstock.model.standing import Pause, WorkerSeen
from penstock.model.states import State
from penstock.ports.clock import Clock
from penstock.ports.desk import Counts, Desk, Wanted

RUNNING_MAX = 200
"""Running jobs that are named; more are only counted."""

NO_WORKER = "No worker is alive: nothing runs until one is started with: penstock worker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What `queue status` shows."""

    now: float
    counts: Counts
    workers: list[WorkerSeen]
    running: list[Job]
    pauses: list[Pause]
    oldest: Job | None
    """The job that is ready for longest."""
    health: Health | None = None
    """Of a queue on Redis."""

    @property
    def alive(self) -> int:
        """How many workers beat."""
        return sum(worker.alive for worker in self.workers)


async def look(desk: Desk, clock: Clock, health: Health | None = None) -> Overview:
    """Ask the desk for everything."""
    counts = await desk.counts()
    return Overview(
        now=clock.now(),
        counts=counts,
        workers=await desk.workers(),
        running=await desk.jobs(Wanted(state=State.LEASED, limit=RUNNING_MAX)) if counts.leased else [],
        pauses=await desk.pauses(),
        oldest=await desk.oldest() if counts.ready else None,
        health=health,
    )


def status_document(seen: Overview) -> Status:
    """As a document."""
    return {
        "at": iso(seen.now),
        "counts": count_facts(seen.counts),
        "workers_alive": seen.alive,
        "workers": [worker_facts(worker) for worker in seen.workers],
        "running": [job_facts(job) for job in seen.running],
        "pauses": [pause_facts(pause) for pause in seen.pauses],
        "oldest_ready": _oldest(seen),
        "redis": None if seen.health is None else health_facts(seen.health),
    }


def _oldest(seen: Overview) -> OldestFacts | None:
    if seen.oldest is None:
        return None
    return {"id": seen.oldest.id, "created_at": iso(seen.oldest.created_at)}


def status_lines(seen: Overview) -> Iterator[tuple[object, ...]]:
    """As lines: the first word says what a line is about."""
    yield from count_facts(seen.counts).items()
    yield "workers_alive", seen.alive
    if seen.oldest is not None:
        yield "oldest_ready", seen.oldest.id, iso(seen.oldest.created_at)
    for worker in seen.workers:
        yield "worker", worker.id, worker.word, worker.running, worker.concurrency, iso(worker.beat_at)
    for job in seen.running:
        yield "job", job.id, job.item_type.value, job.op.value, job.worker
    if seen.health is not None:
        for name, value in health_facts(seen.health).items():
            yield "redis", name, json_text(value) if isinstance(value, bool) else value
    for pause in seen.pauses:
        yield "pause", pause.scope.value, pause.name, pause.by, iso(pause.since)


def change_line(seen: Overview) -> str:
    """As one line, the same as long as nothing has changed."""
    facts = {**count_facts(seen.counts), "workers": seen.alive, "pauses": len(seen.pauses)}
    return " ".join(f"{name}={count}" for name, count in facts.items())
