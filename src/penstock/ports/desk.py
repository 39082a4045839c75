"""The operator's desk: look at the queue and take it in hand."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from penstock.model.jobs import Job, JobId, Receipt
from penstock.model.standing import Pause, PauseScope, Standing, WorkerSeen
from penstock.model.states import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which jobs a listing shows; None means any."""

    state: State | None = None
    tenants: Collection[str] | None = None
    collection: str | None = None
    item_type: str | None = None
    error_code: str | None = None
    before: JobId | None = None
    """Page on: only jobs older than this one, newest first."""
    limit: int = 50
    payload: bool = True
    """False leaves payloads out, which may be large: each is then an empty object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much of what there is."""

    ready: int = 0
    delayed: int = 0
    waiting: int = 0
    """Behind another job of their subject or a tenant deletion."""
    paused: int = 0
    suspects: int = 0
    leased: int = 0
    done: int = 0
    failed: int = 0
    unread: int = 0
    """Of those that are ready, messages of other programs no worker has read yet."""


class Desk(Protocol):
    """Operator verbs; none of them breaks a clause of the queue."""

    async def find(self, job_id: JobId, *, tenants: Collection[str] | None = None) -> Job | None:
        """One job; where tenants are named, another's is as unknown as one that never was."""
        ...

    async def jobs(self, wanted: Wanted) -> list[Job]:
        """Jobs, newest first."""
        ...

    async def oldest(self) -> Job | None:
        """The job that is ready for longest, of all that `counts` calls ready."""
        ...

    async def counts(self) -> Counts:
        """How many jobs are in which state."""
        ...

    async def suspects(self) -> int:
        """How many jobs wait for a worker of their own and may run now; 1 may stand for any number."""
        ...

    async def workers(self) -> list[WorkerSeen]:
        """Workers whose beats are known."""
        ...

    async def standing(self, job_id: JobId) -> Standing:
        """The facts behind "why is it not done?"."""
        ...

    async def cancel(self, job_ids: Sequence[JobId]) -> list[bool]:
        """Cancel (C14); False where a job had already ended."""
        ...

    async def replay(self, job_ids: Sequence[JobId]) -> list[Receipt]:
        """Run ended jobs again as new jobs that name the old (C18)."""
        ...

    async def pause(self, scope: PauseScope, name: str = "", *, by: str = "") -> None:
        """Hold jobs back (C15)."""
        ...

    async def resume(self, scope: PauseScope, name: str = "") -> bool:
        """Let them go on; False if there was no such pause."""
        ...

    async def pauses(self) -> list[Pause]:
        """What is held back now."""
        ...
