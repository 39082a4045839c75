"""The teller: counts what a process does with jobs, and asks the desk where it cannot know.

A failed attempt may have been the last one, a job given back may have been cancelled: only the queue knows.
Such ends are rare, so each is looked up a moment later, off the way of any job, and counted by what it came
to. Carrying the verdict through the queue's verbs would burden every settle of every engine with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from penstock.engines.telemetry.board import (
    BUCKET,
    BUCKETS,
    COMPLETED,
    CONSUMED,
    DEAD,
    LEFT_ALONE,
    MOVED,
    REASON,
    RETRIED,
    SECONDS,
    WIDTH,
    Board,
)
from penstock.engines.telemetry.current import ATTEMPT, QUEUE, SPAN
from penstock.model.errors import ErrorReport, Fault
from penstock.model.jobs import PRIORITY_MAX, Job, JobId, Lease, Operation
from penstock.model.outcomes import Done, Failed, Outcome, Park, Release, Retry
from penstock.model.spans import Trace
from penstock.model.states import State
from penstock.model.tallies import OTHER, QUEUE_OF_RANK, Reason, rank_of, reason_of
from penstock.ports.clock import Clock

log = logging.getLogger("penstock.teller")
UNDECIDED_MAX = 10_000
"""Ends that wait to be looked up; the oldest are let go first."""
_DELETE = Operation.DELETE
AWAY_SECONDS = 1.0

Find = Callable[[JobId], Awaitable[Job | None]]


class Spans(Protocol):
    """Attempts told as spans."""

    def begin(self, lease: Lease) -> Trace: ...
    def end(self, lease: Lease, outcome: Outcome | None) -> None: ...


class _Undecided(NamedTuple):
    """An end whose meaning the desk must tell; without an outcome the job was taken from a dead worker."""

    job_id: JobId
    outcome: Outcome | None
    at: float
    """When it was known here: what befell the job later is another attempt's."""
    attempt: int | None = None
    """Where it is unclear whether the queue accepted the end: the attempt that made it."""


class Teller:
    """Implements the telemetry port; without a board it counts nothing, without spans it traces nothing."""

    def __init__(
        self,
        find: Find,
        clock: Clock,
        board: Board | None = None,
        spans: Spans | None = None,
        queues: Sequence[str] = QUEUE_OF_RANK,
    ) -> None:
        """`queues` names the queue of each priority, for logs."""
        self._find = find
        self._clock = clock
        self._board = board
        self._spans = spans
        self._queues = queues
        self._numbers = memoryview(bytearray(8)).cast("d") if board is None else board.numbers
        self._starts = () if board is None else tuple(place * WIDTH for place in board.labels.of_rank)
        """Where the numbers of a job's queue begin, by its rank."""
        self._other = 0 if board is None else board.labels.place(OTHER) * WIDTH
        self._undecided: deque[_Undecided] = deque(maxlen=UNDECIDED_MAX)
        self._asked = asyncio.Event()

    def began(self, lease: Lease) -> None:
        """Count it as consumed, and let whatever is logged from here on name it."""
        ATTEMPT.set(lease)
        QUEUE.set(self._queues[rank_of(lease)])
        if self._spans is not None:
            SPAN.set(self._spans.begin(lease))
        if self._board is not None:
            self._numbers[self._start(lease) + CONSUMED] += 1

    def ended(self, lease: Lease, outcome: Outcome | None, seconds: float) -> None:
        """Observe how long it took, unless it was broken off."""
        ATTEMPT.set(None)
        QUEUE.set(None)
        if self._spans is not None:
            SPAN.set(None)
            self._spans.end(lease, outcome)
        if self._board is not None and outcome is not None and not isinstance(outcome, Release):
            start, numbers = self._start(lease), self._numbers
            numbers[start + SECONDS] += seconds
            numbers[start + BUCKET + bisect_left(BUCKETS, seconds)] += 1

    def settled(
        self, ends: Sequence[tuple[Lease, Outcome]], kept: Sequence[bool], *, unclear: bool = False
    ) -> None:
        """Count what was accepted, and keep for later what only the desk can tell; failures are logged."""
        for (lease, outcome), held in zip(ends, kept, strict=True):
            if held and isinstance(outcome, Failed | Retry | Park):
                _log(lease, outcome, self._queues[rank_of(lease)])
        if self._board is None:
            return
        done: Counter[int] = Counter()
        for (lease, outcome), held in zip(ends, kept, strict=True):
            if not held:
                if unclear:
                    self._ask(lease.job_id, outcome, lease.attempt)
                continue
            if isinstance(outcome, Done):
                done[PRIORITY_MAX if lease.op is _DELETE else lease.priority] += 1
            elif isinstance(outcome, Failed):
                self._failed(rank_of(lease), reason_of(outcome.error), DEAD)
            else:
                self._ask(lease.job_id, outcome)
        for rank, count in done.items():
            self._numbers[self._starts[rank] + COMPLETED] += count

    def rescued(self, job_ids: Sequence[JobId]) -> None:
        """Count them as moved, and ask what became of each."""
        if self._board is not None:
            self._numbers[self._board.whole + MOVED] += len(job_ids)
            for job_id in job_ids:
                self._ask(job_id, None)

    def reaped(self, messages: int) -> None:
        """Count them as moved; nobody knows which jobs they were."""
        if self._board is not None:
            self._numbers[self._board.whole + MOVED] += messages

    def refused(self, rank: int | None, error: ErrorReport, job_id: JobId | None) -> None:
        """Count it as a job that failed at once, and log its code; what it says is another program's text."""
        named = {} if job_id is None else {"job_id": job_id}
        queue = OTHER if rank is None else self._queues[rank]
        log.warning("a message is a dead letter: %s", error.code, extra={**named, "queue": queue})
        if self._board is not None:
            self._failed(rank, reason_of(error), DEAD)

    def left_alone(self, until: float) -> None:
        """Kept for whoever reads the board."""
        if self._board is not None:
            self._numbers[self._board.whole + LEFT_ALONE] = until

    async def run(self) -> None:
        """Ask the desk about what is undecided, whenever there is something."""
        while True:
            await self._asked.wait()
            try:
                await self._decide()
            except Fault as fault:
                log.warning("cannot look up how jobs ended: %s", fault.message)
                await asyncio.sleep(AWAY_SECONDS)

    async def finish(self, seconds: float = AWAY_SECONDS) -> None:
        """Decide what is left, if the store answers in time."""
        with contextlib.suppress(Fault, TimeoutError):
            async with asyncio.timeout(seconds):
                await self._decide()

    def _start(self, lease: Lease) -> int:
        return self._starts[PRIORITY_MAX if lease.op is _DELETE else lease.priority]

    def _ask(self, job_id: JobId, outcome: Outcome | None, attempt: int | None = None) -> None:
        self._undecided.append(_Undecided(job_id, outcome, self._clock.now(), attempt))
        self._asked.set()

    async def _decide(self) -> None:
        while self._undecided:
            end = self._undecided.popleft()
            try:
                job = await self._find(end.job_id)
            except BaseException:
                self._undecided.appendleft(end)
                raise
            if job is not None:
                self._judge(job, end)
        self._asked.clear()

    def _judge(self, job: Job, end: _Undecided) -> None:
        """Did it end the job? A failed job stays as it is, so a late look is as good as an early one."""
        outcome = end.outcome
        if end.attempt is not None and not _was_accepted(job, end.attempt, outcome):
            return
        rank = PRIORITY_MAX if job.op is Operation.DELETE else job.priority
        if job.state is State.FAILED and (job.finished_at or 0.0) <= end.at:
            self._failed(rank, _reason_of_end(job, outcome), DEAD)
        elif isinstance(outcome, Done):
            self._numbers[self._starts[rank] + COMPLETED] += 1
        elif isinstance(outcome, Retry):
            self._failed(rank, reason_of(outcome.error), RETRIED)
        elif outcome is None and job.retry_count:  # claimed ahead, it went back free
            self._failed(rank, _reason_of_loss(job), RETRIED)

    def _failed(self, rank: int | None, reason: Reason, verdict: int) -> None:
        start = self._other if rank is None else self._starts[rank]
        self._numbers[start + REASON[reason]] += 1
        self._numbers[start + verdict] += 1


def _log(lease: Lease, outcome: Failed | Retry | Park, queue: str) -> None:
    """By its code alone: what an error says may be a user's text, and stands where the job is kept."""
    said = "failed with" if not isinstance(outcome, Park) else "waits after"
    log.log(
        logging.WARNING if isinstance(outcome, Failed) else logging.INFO,
        "attempt %d at a %s %s %s",
        lease.attempt,
        lease.item_type.value,
        said,
        outcome.error.code,
        extra={
            "job_id": lease.job_id,
            "queue": queue,
            "worker_id": lease.worker,
        },
    )


def _was_accepted(job: Job, attempt: int, outcome: Outcome | None) -> bool:
    """Is the job where this end would have brought it? Nobody else can have, unless a retry was spent."""
    if isinstance(outcome, Done | Failed):
        wanted = State.DONE if isinstance(outcome, Done) else State.FAILED
        return job.state is wanted and job.retry_count == attempt - 1
    return isinstance(outcome, Retry) and job.retry_count == attempt


def _reason_of_end(job: Job, outcome: Outcome | None) -> Reason:
    """The attempt's own error says more than the code that is kept, unless another one ended the job."""
    kept = None if job.error is None else job.error.code
    if isinstance(outcome, Failed | Retry | Park) and outcome.error.code == kept:
        return reason_of(outcome.error)
    return Reason.CRASH if job.error is None else reason_of(job.error)


def _reason_of_loss(job: Job) -> Reason:
    return Reason.TIMEOUT if job.error is not None and job.error.code == "ERR_LEASE_EXPIRED" else Reason.CRASH
