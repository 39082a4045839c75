"""The queue as the clauses describe it: a dict of jobs and plain rules, with no thought of how it is stored.

The machine asks the model first or checks the engine's answer against it. Where a clause leaves a choice
(jitter, what a later intent does to a due time), the model takes over what the engine chose, after checking
that it was free to choose it.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

from penstock.model.fingerprints import idempotency_key, subject_of
from penstock.model.jobs import Accepted, Job, JobId, Lease, NewJob, Operation, WorkerId
from penstock.model.outcomes import Done, Failed, Outcome, Park, Release, Retry
from penstock.model.payloads import ItemType
from penstock.model.rules import Rules
from penstock.model.standing import PauseScope
from penstock.model.states import ENDED, State

ROUNDING = 0.001


@dataclass(eq=False)
class Known:
    """One job, with the fields the clauses speak of."""

    new: NewJob
    seq: int
    created_at: float
    op: Operation
    priority: int
    line: int = 0
    """Where it stands among the jobs of its subject and tenant; a tenant's deletion may move back in it."""
    due: float | None = None
    latest: float | None = None
    """Jitter may move the due time as far as this."""
    joined: bool = False
    """A later intent was just taken over."""
    state: State = State.READY
    retry_count: int = 0
    max_retries: int = 3
    crashes: int = 0
    parked_since: float | None = None
    cancel_code: str | None = None
    delete_first: bool = False
    code: str | None = None
    finished_at: float | None = None
    worker: WorkerId | None = None
    token: int | None = None
    until: float | None = None

    @cached_property
    def key(self) -> tuple[str, str]:
        return self.new.tenant, idempotency_key(self.new.collection, self.new.payload)

    @cached_property
    def subject(self) -> tuple[str, str]:
        return self.new.tenant, subject_of(self.new.collection, self.new.payload)

    @property
    def age(self) -> tuple[float, int]:
        return self.created_at, self.seq

    @property
    def rank(self) -> int:
        return 10 if self.op is Operation.DELETE else self.priority

    @property
    def is_barrier(self) -> bool:
        return self.new.item_type is ItemType.DELETE_TENANT

    @property
    def waits(self) -> bool:
        return self.state in (State.READY, State.DELAYED)

    @property
    def unfinished(self) -> bool:
        return self.state not in ENDED

    def matches(self, lease: Lease) -> bool:
        """Whether this lease is the current one."""
        return self.state is State.LEASED and self.token == lease.token

    def end(self, state: State, now: float, code: str | None = None) -> None:
        self.state, self.finished_at, self.due = state, now, None
        self.worker = self.token = self.until = self.cancel_code = None
        self.code = code or self.code

    def wait(self, due: float | None, latest: float | None = None) -> None:
        self.state = State.READY if due is None else State.DELAYED
        self.due, self.latest = due, due if latest is None else latest
        self.worker = self.token = self.until = None


@dataclass
class QueueModel:
    """Everything the queue knows."""

    rules: Rules
    jobs: dict[JobId, Known] = field(default_factory=dict)
    aliases: dict[JobId, JobId] = field(default_factory=dict)
    beats: dict[WorkerId, float] = field(default_factory=dict)
    pauses: set[tuple[PauseScope, str]] = field(default_factory=set)
    submitted: int = 0

    # Looking

    def waiting_like(self, job: Known) -> Known | None:
        """The one waiting job with the same key."""
        return next((other for other in self.jobs.values() if other.waits and other.key == job.key), None)

    def unfinished(self) -> list[Known]:
        return [job for job in self.jobs.values() if job.unfinished]

    def fronts(self) -> dict[tuple[str, object], int]:
        """The first unfinished place of every subject, of every tenant, and of every tenant's deletions."""
        places: dict[tuple[str, object], int] = {}
        for job in self.unfinished():
            names = [("subject", job.subject), ("tenant", job.new.tenant)]
            names += [("deletion", job.new.tenant)] if job.is_barrier else []
            for name in names:
                places[name] = min(job.line, places.get(name, job.line))
        return places

    @staticmethod
    def blocked(job: Known, fronts: dict[tuple[str, object], int]) -> bool:
        """C10, C12: something of its subject or its tenant must end first."""
        if job.is_barrier:
            return fronts["tenant", job.new.tenant] < job.line
        deletion = fronts.get(("deletion", job.new.tenant), job.line)
        return min(deletion, fronts["subject", job.subject]) < job.line

    def paused(self, job: Known) -> bool:
        """C15."""
        names = {
            (PauseScope.ALL, ""),
            (PauseScope.TENANT, job.new.tenant),
            (PauseScope.COLLECTION, job.new.collection),
            (PauseScope.TYPE, job.new.item_type.value),
        }
        return bool(names & self.pauses)

    def running(self, tenant: str) -> int:
        return sum(job.state is State.LEASED and job.new.tenant == tenant for job in self.jobs.values())

    def claimable(self, *, suspects: bool = False) -> list[Known]:
        """C3, C7, C8, C10, C12, C15, C16: what may be handed out now."""
        limit, fronts = self.rules.tenant_limit, self.fronts()
        return [
            job
            for job in self.jobs.values()
            if job.state is State.READY
            and (job.crashes >= 2) is suspects
            and not self.paused(job)
            and not self.blocked(job, fronts)
            and not (limit and self.running(job.new.tenant) >= limit)
        ]

    def lost(self, now: float) -> dict[JobId, bool]:
        """C7: jobs whose worker is dead (True) or whose lease ran out."""
        found = {}
        for job_id, job in self.jobs.items():
            if job.state is State.LEASED and job.worker is not None and job.until is not None:
                beat = self.beats.get(job.worker)
                dead = beat is not None and beat + self.rules.dead_after_seconds < now
                if dead or job.until < now:
                    found[job_id] = dead
        return found

    # Submitting

    def submit(self, new: NewJob, now: float) -> tuple[JobId, Accepted]:
        """C2, C9, C11, C12."""
        known = self.aliases.get(new.id, new.id)
        if known in self.jobs:
            return known, Accepted.EXISTING
        self.submitted += 1
        job = Known(new=new, seq=self.submitted, created_at=now, op=new.op, priority=new.priority)
        job.line, job.max_retries = job.seq, new.max_retries
        waiting = self.waiting_like(job)
        if waiting is not None:
            return self._join(waiting, job, now)
        job.wait(new.run_at)
        self.jobs[new.id] = job
        self._reach(job, job.line, now)
        return new.id, Accepted.CREATED

    def replay(self, old: Known, new_id: JobId, now: float) -> tuple[JobId, Accepted]:
        """C18: a new job that does what the old one did."""
        again = replace(
            old.new, id=new_id, op=old.op, priority=old.priority, run_at=None, replay_of=old.new.id
        )
        again = replace(again, max_retries=old.max_retries)
        waiting = self.waiting_like(old)
        if waiting is not None:
            # The engine draws the id; it is told only where the new job was created.
            again = replace(again, id=JobId(f"replay-{self.submitted}"))
        job_id, how = self.submit(again, now)
        job = self.jobs[job_id]
        if old.delete_first and how is not Accepted.EXISTING and job.op is not Operation.DELETE:
            job.delete_first = True
        return job_id, how

    def _join(self, waiting: Known, later: Known, now: float) -> tuple[JobId, Accepted]:
        self.aliases[later.new.id] = waiting.new.id
        if later.op is Operation.SCAN:
            return waiting.new.id, Accepted.EXISTING
        deletes = later.op is Operation.DELETE
        waiting.delete_first = not deletes and (waiting.delete_first or waiting.op is Operation.DELETE)
        waiting.op = later.op
        waiting.priority = max(waiting.priority, later.priority)
        waiting.parked_since = None
        waiting.new = replace(
            waiting.new, op=later.op, payload=later.new.payload, max_retries=later.new.max_retries
        )
        waiting.wait(later.new.run_at)
        waiting.joined = True
        self._reach(waiting, later.line, now)
        if waiting.is_barrier:
            waiting.line = later.line
        return waiting.new.id, Accepted.COALESCED

    def _reach(self, job: Known, upto: int, now: float) -> None:
        """What a delete, or a tenant's deletion, does to what came before it."""
        if job.op is not Operation.DELETE:
            return
        for other in self.unfinished():
            same = other.new.tenant == job.new.tenant if job.is_barrier else other.subject == job.subject
            if other is job or other.line > upto or not same:
                continue
            if other.waits:
                other.end(State.FAILED, now, "ERR_SUPERSEDED")
            elif other.cancel_code is None:
                other.cancel_code = "ERR_SUPERSEDED"

    # Running

    def lease(self, lease: Lease) -> None:
        """C3: one holder from now on."""
        job = self.jobs[lease.job_id]
        job.state, job.worker, job.token, job.until = State.LEASED, lease.worker, lease.token, lease.until

    def settle(self, lease: Lease, outcome: Outcome, now: float) -> bool:
        """C4, C5, C13, C14."""
        job = self.jobs.get(lease.job_id)
        if job is None or not job.matches(lease):
            return False
        if isinstance(outcome, Done):
            job.end(State.DONE, now)
        elif job.cancel_code is not None:
            job.end(State.FAILED, now, job.cancel_code)
        elif isinstance(outcome, Failed):
            job.end(State.FAILED, now, outcome.error.code)
        elif isinstance(outcome, Retry):
            self._retry(job, outcome, now)
        elif isinstance(outcome, Park):
            self._park(job, outcome, now)
        elif isinstance(outcome, Release):
            self._back(job, now)
        return True

    def holds(self, lease: Lease) -> bool:
        """Whether this lease is a current one."""
        job = self.jobs.get(lease.job_id)
        return job is not None and job.matches(lease)

    def give_back(self, job_id: JobId, now: float) -> None:
        """C13: the worker left in good order."""
        job = self.jobs[job_id]
        if job.cancel_code is not None:
            job.end(State.FAILED, now, job.cancel_code)
        else:
            self._back(job, now)

    def lose(self, job_id: JobId, now: float, *, died: bool) -> None:
        """C7: the attempt is gone, and so is its worker if it died."""
        job = self.jobs[job_id]
        if job.cancel_code is not None:
            job.end(State.FAILED, now, job.cancel_code)
            return
        job.crashes += died
        if job.crashes > 2:
            job.end(State.FAILED, now, "ERR_POISON")
        elif job.retry_count >= job.max_retries:
            job.end(State.FAILED, now, "ERR_WORKER_DIED" if died else "ERR_LEASE_EXPIRED")
        else:
            job.retry_count += 1
            job.parked_since = None
            self._back(job, now)

    def _retry(self, job: Known, outcome: Retry, now: float) -> None:
        if job.retry_count >= job.max_retries:
            job.end(State.FAILED, now, outcome.error.code)
            return
        job.retry_count += 1
        job.parked_since = None
        delay = self.rules.backoff.seconds(job.retry_count)
        self._back(job, now, now + delay, now + 1.1 * delay)

    def _park(self, job: Known, outcome: Park, now: float) -> None:
        since = now if job.parked_since is None else job.parked_since
        last = since + self.rules.park_seconds_max
        if last <= now:
            job.end(State.FAILED, now, outcome.error.code)
            return
        job.parked_since = since
        if outcome.seconds is not None:
            self._back(job, now, min(now + outcome.seconds, last))
        else:
            delay = self.rules.park_seconds
            self._back(job, now, min(now + delay, last), min(now + 1.1 * delay, last))

    def _back(self, job: Known, now: float, due: float | None = None, latest: float | None = None) -> None:
        """It would wait again, unless a later intent with its key waits already (C9)."""
        successor = self.waiting_like(job)
        if successor is None:
            job.wait(due, latest)
            return
        if job.op is Operation.DELETE or job.delete_first:
            successor.delete_first = successor.op is not Operation.DELETE
        job.end(State.FAILED, now, "ERR_SUPERSEDED")

    # Minding

    def promote(self, now: float) -> None:
        """C8."""
        for job in self.jobs.values():
            if job.state is State.DELAYED and job.due is not None and job.due <= now:
                job.wait(None)

    def cancel(self, job_id: JobId, now: float) -> bool:
        """C14."""
        job = self.jobs[job_id]
        if job.waits:
            job.end(State.FAILED, now, "ERR_CANCELLED")
        elif job.unfinished:
            job.cancel_code = "ERR_CANCELLED"
        else:
            return False
        return True

    def forget(self, job_ids: set[JobId]) -> None:
        """C19: pruned jobs, and the ids that stood for them."""
        self.jobs = {job_id: job for job_id, job in self.jobs.items() if job_id not in job_ids}
        self.aliases = {alias: job_id for alias, job_id in self.aliases.items() if job_id not in job_ids}

    def adopt(self, seen: Job) -> None:
        """Take over what the engine was free to choose: jitter, and what a later intent starts anew."""
        job = self.jobs[seen.id]
        if job.due is not None and job.latest is not None:
            chosen = job.due if seen.run_at is None else seen.run_at
            free = job.due - ROUNDING <= chosen <= job.latest + ROUNDING
            job.due = job.latest = chosen if free else job.due
        if job.joined:
            job.joined = False
            job.retry_count = min(job.retry_count, seen.retry_count)
            if seen.max_retries == job.new.max_retries:
                job.max_retries = seen.max_retries
