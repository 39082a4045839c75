"""The ledger: the database's own book of jobs, while another engine orders and leases them.

A document, its job and its event must be written together, and only the database can do that. So with such
an engine every job has an entry here, written first, and the engine is told afterwards. What a job may write
is fenced by the entry's token, not by the engine's: the two need not agree on numbers.

L1  An entry and its message to the engine are written together, and the message stays until `sent`.
L2  Messages come out in the order they were written; one that is read twice is the same both times.
L3  An attempt at a job the book has never heard of, because another program gave it to the engine, enters it.
    `begin` opens an attempt with a token higher than all before, hands out the entry's payload as it is now,
    and tells which entries have ended and which must still wait for another of their subject, or for a rename
    to their path or from it. What joined an entry is that entry, whichever of its ids the engine knows it by.
L4  An entry follows what the engine decided about a job whose worker is gone; one that has ended stays ended,
    and one that another attempt has begun since the engine decided stays with that attempt.
L5  `unfinished` names every entry that has not ended, once, in the order of their submits: told so, they form
    the same lines in the engine as in the book. `entered` gives them as they were entered.
L6  `ends` tells how entries ended, as the engine would have been told; `begun` which an attempt has in hand.
L7  `refuse` ends a waiting entry the engine will not have, with the reason; others are left alone.
L8  What another program gave the engine under the key of an entry that waits is that entry's latest intent,
    and its id one more of the entry's: `join`. What meets no such entry is left to `begin`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from penstock.model.errors import ErrorReport
from penstock.model.ids import AGAIN, new_job_id
from penstock.model.jobs import BatchId, Job, JobId, Lease, NewJob, Progress, Receipt, Renewal, WorkerId
from penstock.model.outcomes import Outcome
from penstock.ports.roll import Roll


@dataclass(frozen=True, slots=True)
class Message:
    """A job the engine must hear of, and its place among the others."""

    seq: int
    job: NewJob


def told_again(job: NewJob) -> NewJob:
    """The same job under another id, for an engine that takes the first for ended or for another's."""
    return replace(job, id=JobId(f"{booked_id(job.id)}{AGAIN}{new_job_id()[-12:]}"))


def booked_id(job_id: JobId) -> JobId:
    """The id in the book of a job as the engine calls it."""
    return JobId(job_id.partition(AGAIN)[0])


@dataclass(slots=True)
class Begun:
    """What became of the attempts an engine handed out; every one of them is named once."""

    held: list[tuple[Lease, Lease]] = field(default_factory=list)
    """The engine's lease, and the one to work with."""
    ended: list[tuple[Lease, Outcome]] = field(default_factory=list)
    """The job has ended, and how: the engine should hear of it."""
    early: list[tuple[Lease, JobId]] = field(default_factory=list)
    """Another job of its subject, the one that is named, has not ended yet."""
    heirs: list[NewJob] = field(default_factory=list)
    """Jobs that wait under the key of one that has ended: the engine may think they were the same."""


class Ledger(Protocol):
    """What the queue beside it asks of the database."""

    async def submit(self, jobs: Sequence[NewJob], *, batch: BatchId | None = None) -> list[Receipt]:
        """Enter all of them or none, with a message each (L1)."""
        ...

    async def messages(self, *, limit: int = 500) -> list[Message]:
        """What the engine may not have heard of yet (L2); large ones in small company."""
        ...

    async def sent(self, messages: Sequence[Message]) -> None:
        """The engine has them."""
        ...

    async def begin(self, worker: WorkerId, leases: Sequence[Lease]) -> Begun:
        """Open attempts (L3)."""
        ...

    def roll(self, worker: WorkerId) -> Roll:
        """What the worker writes down as its handlers begin; `begun` is judged by it."""
        ...

    async def join(self, jobs: Sequence[NewJob]) -> None:
        """Jobs of other programs that joined others in the engine (L8)."""
        ...

    async def met(self, jobs: Sequence[NewJob]) -> list[NewJob]:
        """Those under whose keys an entry waits (L8)."""
        ...

    async def extend(self, leases: Sequence[Lease]) -> list[Renewal]:
        """Book that attempts go on; says which are over and which were cancelled."""
        ...

    async def settle(self, ends: Sequence[tuple[Lease, Outcome]]) -> list[bool]:
        """End attempts; False where the token is no longer the entry's."""
        ...

    async def ends(self, job_ids: Sequence[JobId]) -> dict[JobId, Outcome]:
        """How those of the entries ended that have (L6)."""
        ...

    async def begun(self, job_ids: Sequence[JobId]) -> set[JobId]:
        """Those a handler has begun and not ended (L6), by the ids they were asked by."""
        ...

    async def progress(self, lease: Lease, progress: Progress) -> bool:
        """Keep how far a running job is; False where the token is no longer the entry's."""
        ...

    async def leave(self, worker: WorkerId, *, died: bool = False) -> int:
        """A worker has gone: its attempts are over."""
        ...

    async def follow(self, jobs: Sequence[Job]) -> None:
        """Take over what the engine says of jobs it took back (L4)."""
        ...

    def unfinished(self, *, portion: int = 500) -> AsyncIterator[list[JobId]]:
        """Entries that have not ended, a page at a time (L5)."""
        ...

    async def entered(self, job_ids: Sequence[JobId]) -> list[NewJob]:
        """Those of the entries that have not ended, in this order (L5)."""
        ...

    async def refuse(self, job_id: JobId, error: ErrorReport) -> None:
        """The engine will never take this one (L7)."""
        ...

    async def promote(self) -> float | None:
        """Entries whose time has come say so; when the next one's is."""
        ...

    async def prune(self, *, done_before: float, failed_before: float, limit: int = 1000) -> int:
        """Remove ended entries older than that."""
        ...
