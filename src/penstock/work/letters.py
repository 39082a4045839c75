"""Letters where every failed job is one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

from penstock.model.codes import MEANT
from penstock.model.errors import Refused
from penstock.model.jobs import Accepted, Job
from penstock.model.letters import Letter, Replay
from penstock.model.states import ENDED, State
from penstock.ports.desk import Desk, Wanted
from penstock.ports.queue import Queue
from penstock.ports.replaying import replayed_once

PAGE = 500
NEVER = 0.0


class JobLetters:
    """Implements the letters port over a desk."""

    def __init__(self, queue: Queue, desk: Desk) -> None:
        self._queue = queue
        self._desk = desk

    async def walk(self, code: str | None = None) -> AsyncIterator[Letter]:
        """Failed jobs; those that were called off only if their code is asked for."""
        async for job in self._every(Wanted(state=State.FAILED, error_code=code)):
            if code is not None or job.error is None or job.error.code not in MEANT:
                yield letter_of(job)

    async def replay(self, letter: Letter) -> Replay:
        """Run the job again, unless it was."""
        job = None if letter.job_id is None else await self._desk.find(letter.job_id)
        if job is None:
            raise Refused(f"there is no job {letter.job_id}", code="ERR_JOB_UNKNOWN")
        return await self.replay_job(job, letter.id)

    async def replay_job(self, job: Job, letter: str) -> Replay:
        """The same for a job that is known."""
        if job.state not in ENDED:
            raise Refused(f"job {job.id} has not ended yet", code="ERR_JOB_UNFINISHED")
        if job.state is not State.FAILED:
            raise Refused(f"job {job.id} has not failed, it is {job.state}")
        (receipt,) = await self._queue.submit([replayed_once(job)])
        how = "before" if receipt.how is Accepted.EXISTING else receipt.how.value
        return Replay(letter=letter, job_id=job.id, new=receipt.job_id, how=how)

    async def replayed(self, name: str) -> Replay | None:
        """A failed job stays a letter until it is pruned: there is nothing to remember."""
        return None

    async def count(self, before: float) -> int:
        """Failed jobs, called off or not, as `purge` would remove them."""
        return sum([job.updated_at < before async for job in self._every(Wanted(state=State.FAILED))])

    async def purge(self, before: float) -> int:
        """Remove them in portions, so that workers are never held up for long."""
        removed = 0
        while gone := await self._queue.prune(done_before=NEVER, failed_before=before):
            removed += gone
        return removed

    async def _every(self, wanted: Wanted) -> AsyncIterator[Job]:
        page = await self._desk.jobs(replace(wanted, limit=PAGE))
        while page:
            for job in page:
                yield job
            page = await self._desk.jobs(replace(wanted, limit=PAGE, before=page[-1].id))


def letter_of(job: Job) -> Letter:
    """A failed job as a letter."""
    return Letter(
        id=job.id,
        job_id=job.id,
        message=job.payload_json.encode(errors="surrogateescape"),
        code=None if job.error is None else job.error.code,
        reason=None if job.error is None else job.error.message,
        failed_at=job.finished_at or job.updated_at,
    )
