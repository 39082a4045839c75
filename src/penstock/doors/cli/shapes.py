"""The documents of `--json`: names here are promises, and the reference page is made from them."""

from __future__ import annotations

from typing import TypedDict


class ErrorFacts(TypedDict):
    """An error, kept with a job or told on stderr as `{"error": …}`."""

    code: str
    message: str
    suggestions: list[str]


class ProgressFacts(TypedDict):
    """How far a running job is."""

    done: int
    total: int | None


class JobFacts(TypedDict):
    """One job; times are ISO 8601 in UTC."""

    id: str
    type: str
    op: str
    state: str
    tenant: str
    collection: str
    priority: int
    subject: str
    document_id: str | None
    branch: str
    created_at: str
    updated_at: str
    started_at: str | None
    finished_at: str | None
    run_at: str | None
    lease_until: str | None
    worker: str | None
    retry_count: int
    max_retries: int
    crashes: int
    parked_since: str | None
    behind: str | None
    cancel_code: str | None
    delete_first: bool
    progress: ProgressFacts | None
    replay_of: str | None
    error: ErrorFacts | None
    last_error_at: str | None


class JobDetails(JobFacts):
    """One job with everything it carries."""

    idempotency_key: str
    payload: object
    metadata: object


class WorkerFacts(TypedDict):
    """One worker process as its heartbeats show it; one that drains offers a concurrency of 0."""

    id: str
    pid: int
    host: str
    alive: bool
    draining: bool
    concurrency: int
    started_at: str
    beat_at: str
    running: int


class PauseFacts(TypedDict):
    """What is held back: everything, or one tenant, collection or type."""

    scope: str
    name: str
    by: str
    since: str


class CountFacts(TypedDict):
    """How many jobs are in which state."""

    ready: int
    delayed: int
    waiting: int
    paused: int
    suspect: int
    running: int
    done: int
    failed: int


class OldestFacts(TypedDict):
    """The job that is ready for longest."""

    id: str
    created_at: str


class HealthFacts(TypedDict):
    """A queue on Redis: the list any program pushes to, what all lists hold, and whether a worker beats."""

    queue_name: str
    connection: str
    queue_length: int
    processing: int
    queued: int
    worker_connected: bool


class Status(TypedDict):
    """The queue at one moment; `redis` is null where the queue is the database, or Redis is away."""

    at: str
    counts: CountFacts
    workers_alive: int
    workers: list[WorkerFacts]
    running: list[JobFacts]
    pauses: list[PauseFacts]
    oldest_ready: OldestFacts | None
    redis: HealthFacts | None


class JobList(TypedDict):
    """A page of jobs, newest first; `next_before` is the `--before` of the next page."""

    jobs: list[JobFacts]
    next_before: str | None


class StandingFacts(TypedDict):
    """What the sentence of `explain` speaks from."""

    job: JobFacts
    now: str
    ahead: int
    pause: PauseFacts | None
    barrier: str | None
    tenant_running: int
    tenant_limit: int
    workers_alive: int
    workers_draining: int
    holder: WorkerFacts | None


class Explained(TypedDict):
    """Why a job is not done, or how it ended."""

    sentence: str
    facts: StandingFacts


class ReceiptFacts(TypedDict):
    """The id that stands for what was submitted, and whether it is `created`, `existing` or `coalesced`."""

    job_id: str
    how: str


class Submitted(TypedDict):
    """One receipt for each job, in order."""

    jobs: list[ReceiptFacts]
    dry_run: bool


class ReplayFacts(TypedDict):
    """An ended job and the new one; `new` and `how` are null in a dry run."""

    old: str
    new: str | None
    how: str | None


class SkippedFacts(TypedDict):
    """A job that could not be run again, and why."""

    id: str
    error: ErrorFacts


class Retried(TypedDict):
    """What runs again."""

    jobs: list[ReplayFacts]
    skipped: list[SkippedFacts]
    dry_run: bool


class CancelFacts(TypedDict):
    """`cancelled` is false if the job had already ended; a running one is told and is still `running`."""

    id: str
    cancelled: bool
    state: str


class Cancelled(TypedDict):
    """What was cancelled."""

    jobs: list[CancelFacts]
    dry_run: bool


class Held(TypedDict):
    """A pause that was made or lifted; `was_paused` says whether it was there before."""

    scope: str
    name: str
    paused: bool
    was_paused: bool
    by: str | None
    dry_run: bool


class Removed(TypedDict):
    """How many ended jobs were removed, or would be."""

    removed: int
    done_before: str | None
    failed_before: str | None
    dry_run: bool


class KeyFacts(TypedDict):
    """One key of the configuration."""

    key: str
    type: str
    default: str
    environment: str
    bare_environment: str | None
    meaning: str


class Keys(TypedDict):
    """Every key of the configuration."""

    keys: list[KeyFacts]


class Page(TypedDict):
    """A reference page."""

    page: str
    text: str
