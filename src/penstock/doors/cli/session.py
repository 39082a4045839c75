"""From a command's options to an open store, and back out of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from enum import Enum, auto
from pathlib import Path
from tempfile import TemporaryDirectory
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


class Begins(Enum):
    """Whether a command may be the first that is ever given to a data folder."""

    NEVER = auto()
    IF_DECLARED = auto()
    """Where the configuration names collections: they are made by whoever needs them."""
    ALWAYS = auto()


def with_store(
    given: Given,
    work: Callable[[Store, Settings], Awaitable[T]],
    *,
    begins: Begins = Begins.NEVER,
    rehearses: bool = False,
) -> T:
    """Open the store the settings name, do the work, close it.

    Where there is no store only a command that begins makes one, and its rehearsal leaves none behind. Any
    other is refused: a mistyped `--data` should not look like an empty queue.
    """
    settings = given.settings()
    # A short command has little to log; what it has to say it says itself.
    set_up_logging(settings.observability.log_level if given.log_level else "warning")
    from penstock.wiring.store import has_store

    if not has_store(settings):
        if not _may_begin(begins, settings):
            raise Refused(f"there is no data in {settings.data}", code="ERR_STORE_MISSING")
        if rehearses:
            with TemporaryDirectory(prefix="penstock-") as aside:
                return asyncio.run(_opened(replace(settings, data=Path(aside)), work))
    return asyncio.run(_opened(settings, work))


async def _opened(settings: Settings, work: Callable[[Store, Settings], Awaitable[T]]) -> T:
    from penstock.wiring.store import open_store

    async with open_store(settings, patient=True) as store:
        return await work(store, settings)


def _may_begin(begins: Begins, settings: Settings) -> bool:
    if settings.queue.scheme != "database":
        # The queue is there, whatever the folder holds.
        talk(f"note: there was no data in {settings.data}; --data names another folder")
        return True
    return begins is Begins.ALWAYS or (begins is Begins.IF_DECLARED and bool(settings.collections))


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
