"""The queue: what a submitter, a worker and its background trades ask of it.

Clauses, which the contract suite in `tests/contract` names:

C1   A submit is durable when it returns.
C2   The same job id again returns that job, whatever its state, and changes nothing.
C3   A claim hands a job to one holder, recorded under a lease and a token, for a limited time. What it leased
     though its answer never came costs nothing: the same worker's next claim finds it, waiting or as its own.
C4   An extend or settle whose token is not the current one changes nothing and says so.
C5   Settling twice with the same token has the effect of settling once; an ended job stays ended.
C6   Order: highest priority (a delete counts as 10); within it tenants in turn; within a tenant first in,
     first out; every tenth claim takes the longest-waiting ready job instead.
C7   A job whose worker is dead, or whose lease ran out, is claimable again after a rescue, once, ahead of its
     backlog; a death spends a retry, two deaths make it run alone, a third makes it poison. Where a roll is
     kept, what no handler had begun goes back free.
C8   A delayed job is not claimable before its due time, and is after the next promote.
C9   Another submit with the same key: while waiting, the later intent replaces payload and operation, the
     higher priority stays, the first id is returned; while running, a successor waits; afterwards, a new job.
C10  One subject, one job at a time, in submit order whatever their priority. A rename counts on its new path
     too; an engine outside the database leaves that to the book (L3).
C11  A delete ends every earlier unfinished job on its object and never touches a later one; an ingest over a
     waiting delete becomes delete-then-ingest; a scan over a waiting job leaves it as it is.
C12  delete_tenant is a barrier: nothing of the tenant submitted before it runs after it, nothing submitted
     after it runs before it has ended.
C13  Attempts are 1 + max_retries; delays follow the backoff; parking and releasing spend nothing.
C14  A cancelled waiting job fails at once; a running one is told, and fails when its attempt ends.
C15  A paused job (all, tenant, collection, type) is not claimed until resumed, and costs the claim nothing.
C16  A tenant never runs more jobs at once than its limit.
C17  A batch counts each child once and ends when it is sealed and the last child has ended.
C18  Replay makes a new job that names the old one.
C19  Prune removes ended jobs past their retention, and nothing else.
C20  A stored payload that does not fit its type fails with its code and is never handed out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from penstock.model.jobs import BatchId, JobId, Lease, NewJob, Progress, Receipt, Renewal, WorkerId
from penstock.model.outcomes import Outcome
from penstock.ports.roll import Roll


class Queue(Protocol):
    """The verbs of a job's life."""

    async def submit(self, jobs: Sequence[NewJob], *, batch: BatchId | None = None) -> list[Receipt]:
        """Accept all of them or none (C1, C2, C9 to C12, C17); one receipt each, in order."""
        ...

    async def claim(self, worker: WorkerId, limit: int, *, idle: bool = True) -> list[Lease]:
        """Lease up to `limit` ready jobs (C3, C6, C10, C15, C16, C20).

        An idle worker may be handed a suspect; it then comes by itself, with `alone` set.
        """
        ...

    def roll(self, worker: WorkerId) -> Roll:
        """Begin a worker's roll: from now on what it claims counts as begun only once that is called over.

        Without one every claimed job counts as begun.
        """
        ...

    async def extend(self, leases: Sequence[Lease]) -> list[Renewal]:
        """Renew leases by their item type's length (C4); says which are lost and which were cancelled."""
        ...

    async def settle(self, ends: Sequence[tuple[Lease, Outcome]]) -> list[bool]:
        """End attempts; False where the lease was lost (C4, C5, C13, C14)."""
        ...

    async def progress(self, lease: Lease, progress: Progress) -> bool:
        """Keep how far a running job is; False where the lease was lost."""
        ...

    async def beat(self, worker: WorkerId, *, concurrency: int) -> None:
        """Say that this worker process is alive, and how many jobs it would run at once: 0 is draining."""
        ...

    async def leave(self, worker: WorkerId, *, died: bool = False) -> int:
        """Forget a worker and hand back what it still holds; how many jobs went back.

        `died` says that its attempts ended with the process, and counts against them.
        """
        ...

    async def rescue(self, *, certain: bool = False) -> list[JobId]:
        """Take back jobs of dead workers and run-out leases (C7).

        `certain` takes only from workers that provably no longer exist, not from those merely silent.
        """
        ...

    async def promote(self) -> float | None:
        """Make due jobs ready (C8) and clear the way for tenant deletions (C12); when the next one is due."""
        ...

    async def prune(self, *, done_before: float, failed_before: float, limit: int = 1000) -> int:
        """Remove ended jobs older than that (C19), at most `limit` a call; how many went."""
        ...

    async def arrival(self, timeout: float) -> bool:
        """Wait until there may be something new to claim; False when the time ran out."""
        ...
