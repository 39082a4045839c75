"""Companions: what runs beside a process's main work, and whose failure ends that."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

log = logging.getLogger("penstock.companions")


@asynccontextmanager
async def beside(work: Coroutine[None, None, None], failed: Callable[[], None]) -> AsyncIterator[None]:
    """Something that runs meanwhile, and ends with us.

    `failed` is called as soon as an error ends it, and should lead to our end, where that error is raised.
    """

    def ended(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("what runs beside the workers failed: %s", error)
            failed()

    task = asyncio.create_task(work)
    task.add_done_callback(ended)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
