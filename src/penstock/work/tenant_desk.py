"""The desk as the tenants of one workspace may use it: another's job is as unknown as one that never was."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from penstock.model.errors import Refused
from penstock.model.jobs import Job, JobId, Receipt, TenantId
from penstock.model.standing import Standing
from penstock.ports.desk import Desk, Wanted


class TenantDesk:
    """What people may do with jobs of their own."""

    def __init__(self, desk: Desk, tenants: Collection[TenantId]) -> None:
        self._desk = desk
        self._tenants = frozenset(tenants)

    async def find(self, job_id: JobId) -> Job | None:
        """One job of the tenants."""
        return await self._desk.find(job_id, tenants=self._tenants)

    async def jobs(self, wanted: Wanted) -> list[Job]:
        """Jobs of the tenants, newest first, whatever tenants were asked for."""
        if wanted.before is not None and await self.find(wanted.before) is None:
            return []
        return await self._desk.jobs(replace(wanted, tenants=self._tenants))

    async def standing(self, job_id: JobId) -> Standing:
        """The facts behind "why is it not done?"; Refused if the job is unknown."""
        return await self._desk.standing(await self._known(job_id))

    async def cancel(self, job_ids: Sequence[JobId]) -> list[bool]:
        """Cancel; False where a job had already ended, Refused if one is unknown."""
        return await self._desk.cancel([await self._known(job_id) for job_id in job_ids])

    async def replay(self, job_ids: Sequence[JobId]) -> list[Receipt]:
        """Run ended jobs again as new jobs that name the old; Refused if one is unknown."""
        return await self._desk.replay([await self._known(job_id) for job_id in job_ids])

    async def _known(self, job_id: JobId) -> JobId:
        job = await self.find(job_id)
        if job is None:
            raise Refused(f"there is no job {job_id}", code="ERR_JOB_UNKNOWN")
        return job.id
