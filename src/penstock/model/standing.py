"""Where a job stands, and the sentence that says why it is not done."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from penstock.model.jobs import Job, WorkerId
from penstock.model.rules import SUSPECT_AFTER
from penstock.model.states import State

COUNT_MAX = 10_000
"""Positions are counted up to here; behind it the answer is "more than"."""


class PauseScope(StrEnum):
    """What a pause holds back."""

    ALL = "all"
    TENANT = "tenant"
    COLLECTION = "collection"
    TYPE = "type"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """One pause: its scope, whom it names, who asked and when."""

    scope: PauseScope
    name: str = ""
    by: str = ""
    since: float = 0.0

    def __str__(self) -> str:
        return "everything" if self.scope is PauseScope.ALL else f"{self.scope} {self.name}"

    def holds(self, job: Job) -> bool:
        """Whether it holds this job back."""
        match self.scope:
            case PauseScope.ALL:
                return True
            case PauseScope.TENANT:
                return self.name == job.tenant
            case PauseScope.COLLECTION:
                return self.name == job.collection
            case PauseScope.TYPE:
                return self.name == job.item_type


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSeen:
    """A worker as its beats show it."""

    id: WorkerId
    pid: int
    host: str
    concurrency: int
    """How many jobs it offers to run at once: none while it drains."""
    started_at: float
    beat_at: float
    running: int
    alive: bool

    @property
    def draining(self) -> bool:
        """Whether it ends what it runs and takes nothing more."""
        return self.alive and self.concurrency == 0

    @property
    def word(self) -> str:
        """How it is, in a word."""
        if self.draining:
            return "draining"
        return "alive" if self.alive else "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The facts about one job that `explain` speaks from."""

    job: Job
    now: float
    ahead: int = 0
    """Ready jobs that come before it, counted up to COUNT_MAX."""
    pause: Pause | None = None
    barrier: str | None = None
    """The tenant deletion it waits for."""
    tenant_running: int = 0
    tenant_limit: int = 0
    workers_alive: int = 0
    workers_draining: int = 0
    """Those of the living that take nothing more."""
    holder: WorkerSeen | None = None


def explain(standing: Standing) -> str:
    """Why the job is not done, or how it ended, in a sentence."""
    job = standing.job
    match job.state:
        case State.DONE:
            return f"It is done since {clock_text(job.finished_at or job.updated_at)}."
        case State.FAILED:
            return _failed(job)
        case State.LEASED:
            return _leased(standing)
        case _:
            return _waiting(standing)


def _failed(job: Job) -> str:
    if job.error is None:
        return "It failed without a recorded reason."
    word = "was cancelled" if job.error.code == "ERR_CANCELLED" else "failed"
    tail = "" if word == "was cancelled" else f" after {counted(job.retry_count + 1, 'attempt')}"
    return f"It {word}{tail}: {job.error.message} ({job.error.code})."


def _leased(standing: Standing) -> str:
    job, holder = standing.job, standing.holder
    until = clock_text(job.lease_until or job.updated_at)
    progress = ""
    if job.progress is not None:
        progress = f" at {job.progress.done}" + (f" of {job.progress.total}" if job.progress.total else "")
    cancel = "; it has been told to stop" if job.cancel_code else ""
    if holder is None or holder.alive:
        ends = " while it drains" if holder is not None and holder.draining else ""
        return f"Worker {job.worker} is running it{progress}{ends} and holds it until {until}{cancel}."
    return (
        f"Worker {job.worker}, which held it until {until}, has not been seen since "
        f"{clock_text(holder.beat_at)}; the job goes back as soon as a living worker notices."
    )


def _waiting(standing: Standing) -> str:
    job = standing.job
    if standing.pause is not None:
        by = f" by {standing.pause.by}" if standing.pause.by else ""
        since = clock_text(standing.pause.since)
        return f"It is paused: {standing.pause} was paused{by} at {since}."
    if standing.barrier is not None and standing.barrier != job.id:
        return f"It waits until tenant {job.tenant} has been deleted (job {standing.barrier})."
    if job.behind is not None:
        return f"It waits for job {job.behind}, which is on the same subject and came first."
    nobody = _nobody(standing)
    if job.run_at is not None and job.run_at > standing.now:
        return f"{_due(standing)} {nobody}".rstrip()
    if nobody:
        return nobody
    if job.run_at is not None:
        return f"It has been due since {clock_text(job.run_at)} and is about to be made ready."
    if job.barred:
        return _clearing(standing)
    if standing.tenant_limit and standing.tenant_running >= standing.tenant_limit:
        return (
            f"Tenant {job.tenant} already runs {counted(standing.tenant_running, 'job')} at once, "
            f"its limit is {standing.tenant_limit}."
        )
    if job.crashes >= SUSPECT_AFTER:
        return f"It has killed {job.crashes} workers, so it waits for a worker that runs nothing else."
    more = "more than " if standing.ahead >= COUNT_MAX else ""
    stand = "stands" if standing.ahead == 1 else "stand"
    are = "is" if standing.workers_alive == 1 else "are"
    drain = f", {standing.workers_draining} of them draining" if standing.workers_draining else ""
    return (
        f"It is ready; {more}{counted(standing.ahead, 'job')} {stand} before it "
        f"and {counted(standing.workers_alive, 'worker')} {are} alive{drain}."
    )


def _nobody(standing: Standing) -> str:
    """That no worker would take it; nothing if one would."""
    workers = standing.workers_alive
    if not workers:
        return "No worker is alive; start one with: penstock worker."
    if standing.workers_draining < workers:
        return ""
    who = "The only worker is" if workers == 1 else f"All {workers} workers are"
    takes = "takes" if workers == 1 else "take"
    return f"{who} draining and {takes} no more jobs; start one with: penstock worker."


def _clearing(standing: Standing) -> str:
    """What a tenant deletion itself waits for."""
    tenant, running = standing.job.tenant, standing.tenant_running
    if not running:
        return f"It waits until what came before it for tenant {tenant} has been ended."
    told = "has" if running == 1 else "have"
    return f"It waits until {counted(running, 'running job')} of tenant {tenant} {told} ended."


def _due(standing: Standing) -> str:
    job = standing.job
    at = clock_text(job.run_at or 0.0)
    if job.parked_since is not None and job.error is not None:
        since = clock_text(job.parked_since)
        return f"It is parked since {since} because of {job.error.code}; it is tried again at {at}."
    if job.retry_count and job.error is not None:
        return (
            f"Attempt {job.retry_count} failed ({job.error.code}: {job.error.message}); "
            f"retry {job.retry_count} of {job.max_retries} is due at {at}."
        )
    return f"It is scheduled for {at}."


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def clock_text(at: float) -> str:
    """A time as people are shown it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
