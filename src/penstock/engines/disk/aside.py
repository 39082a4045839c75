"""Blocking work beside the loop, which ends when its caller no longer waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Event
from typing import TypeVar

T = TypeVar("T")

LETTING_GO_SECONDS = 0.5
"""How long a cancelled caller waits for its thread to clean up; a disk that hangs longer is left behind: a
cancelled document has ended within two seconds, and one was spent until its worker knew."""


class Stopped(Exception):
    """Raised in the thread when nobody waits for it any more; never seen by a caller."""


class Stop:
    """A flag the work looks at between its steps."""

    def __init__(self) -> None:
        self._event = Event()

    def set(self) -> None:
        """Ask the work to end."""
        self._event.set()

    def look(self) -> None:
        """End here if nobody waits any more."""
        if self._event.is_set():
            raise Stopped


async def aside(work: Callable[[Stop], T]) -> T:
    """Run `work` in a thread; a cancelled caller asks it to stop and returns when it has cleaned up."""
    stop = Stop()
    running = asyncio.get_running_loop().run_in_executor(None, work, stop)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        # What the thread says now interests nobody; asking for it keeps it from being called unheard.
        running.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        await asyncio.wait([running], timeout=LETTING_GO_SECONDS)
        raise
