"""From a command's options to an open store, and back out of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from penstock.doors.cli.given import Given
from penstock.doors.cli.output import talk
from penstock.doors.logs import set_up_logging
from penstock.model.errors import Refused
from penstock.model.jobs import Job, JobId
from penstock.ports.desk import Desk, Wanted

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store

T = TypeVar("T")
PAGE = 500


def with_store(
    given: Given, work: Callable[[Store, Settings], Awaitable[T]], *, makes_folder: bool = False
) -> T:
    """Open the store the settings name, do the work, close it.

    A folder that was not there before is told, unless making it is what the command is for: a mistyped
    `--data` should not look like an empty queue.
    """
    settings = given.settings()
    # A short command has little to log; what it has to say it says itself.
    set_up_logging(settings.observability.log_level if given.log_level else "warning")
    is_new = not settings.data.exists()

    async def opened() -> T:
        from penstock.wiring.store import open_store

        async with open_store(settings, patient=True) as store:
            if is_new and not makes_folder:
                talk(f"note: {settings.data} was not there and is now an empty queue; --data names another")
            return await work(store, settings)

    return asyncio.run(opened())


async def every(desk: Desk, wanted: Wanted) -> AsyncIterator[Job]:
    """All jobs a listing would show, page by page, newest first; without their payloads."""
    wanted = replace(wanted, limit=PAGE, payload=False)
    page = await desk.jobs(wanted)
    while page:
        for job in page:
            yield job
        page = await desk.jobs(replace(wanted, before=page[-1].id))


async def known(desk: Desk, job_id: str) -> Job:
    """The job with this id, or the id of a submit that joined it."""
    job = await desk.find(JobId(job_id))
    if job is None:
        raise Refused(f"there is no job {job_id}", code="ERR_JOB_UNKNOWN")
    return job
