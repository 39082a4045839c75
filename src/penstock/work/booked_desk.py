"""The desk over a ledger and an engine: the book says what jobs there are, the engine who works and waits."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import replace

from penstock.model.errors import Unavailable
from penstock.model.jobs import Job, JobId, Receipt
from penstock.model.standing import Pause, PauseScope, Standing, WorkerSeen
from penstock.ports.desk import Counts, Desk, Wanted
from penstock.work.relay import Relay

log = logging.getLogger("penstock.booked")


class BookedDesk:
    """Looks into the book where the truth about a job is asked for; acts on both."""

    def __init__(self, book: Desk, engine: Desk, relay: Relay) -> None:
        self._book = book
        self._engine = engine
        self._relay = relay

    async def find(self, job_id: JobId, *, tenants: Collection[str] | None = None) -> Job | None:
        """One job, of one of these tenants where some are named."""
        return await self._book.find(job_id, tenants=tenants)

    async def jobs(self, wanted: Wanted) -> list[Job]:
        """Jobs, newest first."""
        return await self._book.jobs(wanted)

    async def oldest(self) -> Job | None:
        """The job that is ready for longest."""
        return await self._engine.oldest()

    async def counts(self) -> Counts:
        """How many jobs are in which state: those that wait as the engine has them, the others as booked.

        The engine may still have some that are over; it drops them when their turn comes.
        """
        booked, waiting = await self._book.counts(), await self._engine.counts()
        read = min(waiting.ready - waiting.unread, booked.ready + booked.delayed)
        ready = read + waiting.unread
        return replace(
            booked, ready=ready, delayed=waiting.delayed, paused=waiting.paused, suspects=waiting.suspects
        )

    async def suspects(self) -> int:
        """How many jobs wait for a worker of their own and may run now."""
        return await self._engine.suspects()

    async def workers(self) -> list[WorkerSeen]:
        """Workers whose beats are known."""
        return await self._engine.workers()

    async def standing(self, job_id: JobId) -> Standing:
        """The facts behind "why is it not done?"; of a job the engine has not heard of, as booked."""
        job = await self._book.find(job_id)
        if job is not None and await self._engine.find(job.id) is not None:
            return replace(await self._engine.standing(job.id), job=job)
        return await self._book.standing(job_id)

    async def cancel(self, job_ids: Sequence[JobId]) -> list[bool]:
        """Cancel; False where a job had already ended.

        The book decides: an engine that is away drops a job that waits when its turn comes, and a worker
        hears of a running one from the book.
        """
        found = await self._book.cancel(job_ids)
        try:
            known = [job_id for job_id in job_ids if await self._engine.find(job_id) is not None]
            await self._engine.cancel(known)
        except Unavailable as fault:
            log.warning("jobs are cancelled, the queue hears of it later: %s", fault.message)
        return found

    async def replay(self, job_ids: Sequence[JobId]) -> list[Receipt]:
        """Run ended jobs again as new jobs that name the old."""
        receipts = await self._book.replay(job_ids)
        try:
            await self._relay.send()
        except Unavailable as fault:
            log.warning("jobs are booked, the queue hears of them later: %s", fault.message)
        return receipts

    async def pause(self, scope: PauseScope, name: str = "", *, by: str = "") -> None:
        """Hold jobs back."""
        await self._engine.pause(scope, name, by=by)

    async def resume(self, scope: PauseScope, name: str = "") -> bool:
        """Let them go on; False if there was no such pause."""
        return await self._engine.resume(scope, name)

    async def pauses(self) -> list[Pause]:
        """What is held back now."""
        return await self._engine.pauses()
