"""Telemetry: what the work room tells about what it does, and what a store can count by itself.

T1  Nothing here waits or raises: no listener, or a broken one, ever slows or fails a job.
T2  `began` and `ended` are called once for each attempt, inside its own task; what is logged between them
    belongs to it.
T3  An end is counted when the queue has accepted it, never for a lease that was lost.
T4  A count never goes down, also when the process that counted is killed.
T5  The labels of a count come from closed lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from penstock.model.errors import ErrorReport
from penstock.model.jobs import JobId, Lease
from penstock.model.outcomes import Outcome


class Telemetry(Protocol):
    """Told by a worker, its rescuer, its breakers, its queue and the supervisor."""

    def began(self, lease: Lease) -> None:
        """An attempt starts, in the task that calls this."""
        ...

    def ended(self, lease: Lease, outcome: Outcome | None, seconds: float) -> None:
        """It is over after so long; None means that its lease was lost."""
        ...

    def settled(
        self, ends: Sequence[tuple[Lease, Outcome]], kept: Sequence[bool], *, unclear: bool = False
    ) -> None:
        """The queue has spoken: what is kept counts.

        Unclear says that an earlier call failed on its way: what it settled is refused by the later one.
        """
        ...

    def rescued(self, job_ids: Sequence[JobId]) -> None:
        """These were taken back from workers that are gone."""
        ...

    def reaped(self, messages: int) -> None:
        """So many messages went back from lists of workers nobody knows."""
        ...

    def refused(self, rank: int | None, error: ErrorReport, job_id: JobId | None) -> None:
        """A message that came by a list of this rank, or by one nobody configured, is a dead letter."""
        ...

    def left_alone(self, until: float) -> None:
        """A dependency is left alone until this steady time, and probed from then on; 0 if none is."""
        ...


class Silent:
    """Nobody listens."""

    def began(self, lease: Lease) -> None: ...
    def ended(self, lease: Lease, outcome: Outcome | None, seconds: float) -> None: ...
    def settled(
        self, ends: Sequence[tuple[Lease, Outcome]], kept: Sequence[bool], *, unclear: bool = False
    ) -> None: ...
    def rescued(self, job_ids: Sequence[JobId]) -> None: ...
    def reaped(self, messages: int) -> None: ...
    def refused(self, rank: int | None, error: ErrorReport, job_id: JobId | None) -> None: ...
    def left_alone(self, until: float) -> None: ...


SILENT = Silent()


class Meter(Protocol):
    """What only the store knows, by queue name, whoever submitted it."""

    async def lengths(self) -> Mapping[str, int]:
        """How many jobs could be claimed now."""
        ...

    async def produced(self) -> Mapping[str, int]:
        """How many jobs are new since the last call; the first call starts from what is there."""
        ...
