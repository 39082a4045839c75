"""Handlers: what a worker does for an item type and an operation, and what it gives them to work with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from penstock.model.errors import LeaseLost, Unavailable
from penstock.model.jobs import MATRIX, Lease, Operation, Progress
from penstock.model.outcomes import Outcome
from penstock.model.payloads import ItemType, Payload
from penstock.ports.clock import Clock
from penstock.ports.queue import Queue
from penstock.work.breaker import Breakers

PROGRESS_SECONDS = 0.2
"""Progress is kept at most so often."""
P = ParamSpec("P")
T = TypeVar("T")


def _ignore() -> None:
    """Nobody wants to hear it."""


class Run:
    """One attempt under way: its lease, and the ways a handler may speak while it works."""

    def __init__(self, lease: Lease, queue: Queue, clock: Clock, breakers: Breakers) -> None:
        self.lease = lease
        self.breakers = breakers
        """One breaker per dependency, shared by all attempts of this process."""
        self.begun = False
        """Its task has taken its first step."""
        self.started = clock.steady()
        self.heard = self.started
        """When the handler last showed that it is getting on."""
        self._lasts = lease.until - clock.now()
        self.lasts_until = self.started + self._lasts
        """Until when the lease lasts unless it is renewed, in steady time."""
        self.stands_aside: float | None = None
        """Since when, in steady time; while it does, neither its slot nor its time is counted."""
        self.on_aside: Callable[[], None] = _ignore
        """Called when it steps aside; set by the worker."""
        self._kept = float("-inf")
        self._queue = queue
        self._clock = clock

    def ran(self, now: float) -> float:
        """How many seconds it has run, but for those it stood aside."""
        return (self.stands_aside or now) - self.started

    def was_silent(self, now: float) -> float:
        """How many seconds it has shown no progress, but for those it stood aside."""
        return (self.stands_aside or now) - self.heard

    def renewed(self, now: float) -> None:
        """The lease begins anew."""
        self.lasts_until = now + self._lasts

    @property
    def payload(self) -> Payload:
        """What the job is about."""
        return self.lease.payload

    async def progress(self, done: int, total: int | None = None, *, chunks: int = 0) -> None:
        """Keep n of m with the job; raises LeaseLost when the job is no longer ours.

        Cheap to call often: what follows quickly on the last is kept only if it is the end. Counts that are
        negative or too large are refused; more done than there was to do raises the total.
        """
        told = Progress(done=done, total=total, chunks=chunks)
        now = self._clock.steady()
        self.heard = now
        if now - self._kept < PROGRESS_SECONDS and told.done != told.total:
            return
        self._kept = now
        if not await self._queue.progress(self.lease, told):
            raise LeaseLost.of(self.lease.job_id)

    @contextmanager
    def aside(self) -> Iterator[Callable[[], None]]:
        """Around work that may take long: once what it gives is called, the worker takes another job.

        What runs past the others is limited by whoever does it, so it is held to no other limit meanwhile.
        """
        try:
            yield self._step_aside
        finally:
            if self.stands_aside is not None:
                self.heard = self._clock.steady()
                self.started += self.heard - self.stands_aside
                self.stands_aside = None

    def _step_aside(self) -> None:
        if self.stands_aside is None:
            self.stands_aside = self._clock.steady()
            self.on_aside()

    async def in_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run blocking or CPU-heavy code off the loop; the loop must never stand still."""
        return await asyncio.to_thread(work, *args, **kwargs)


Handler = Callable[[Run], Awaitable[Outcome | None]]
"""Returning None means done; raising a Fault says whose move it is; anything else raised is retried."""


class Handlers:
    """Which handler serves which item type and operation."""

    def __init__(self) -> None:
        self._table: dict[tuple[ItemType, Operation], Handler] = {}

    def on(self, item_type: ItemType, *ops: Operation) -> Callable[[Handler], Handler]:
        """Register a handler, for all operations of the type if none is named; as a decorator."""

        def register(handler: Handler) -> Handler:
            for op in ops or MATRIX[item_type]:
                if op not in MATRIX[item_type]:
                    raise ValueError(f"{item_type} does not offer {op}")
                if (item_type, op) in self._table:
                    raise ValueError(f"{item_type} {op} has a handler already")
                self._table[item_type, op] = handler
            return handler

        return register

    def find(self, item_type: ItemType, op: Operation) -> Handler:
        """The handler; a job this worker cannot serve is parked for one that can."""
        handler = self._table.get((item_type, op))
        if handler is None:
            raise Unavailable(f"this worker has no handler for {item_type} {op}", code="ERR_HANDLER_MISSING")
        return handler

    def __len__(self) -> int:
        return len(self._table)
