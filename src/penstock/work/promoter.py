"""The promoter: makes due jobs ready, at the moment they are due.

It sleeps until the next due time it knows of. A retry or a schedule made meanwhile may be due sooner, so
whoever hears of news nudges it; a storm of news costs no more than a few looks a second, and silence none.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging

from penstock.model.errors import Fault
from penstock.ports.clock import Clock
from penstock.ports.queue import Queue
from penstock.work.pace import Pace, jittered_around

log = logging.getLogger("penstock.promoter")
SHORTEST = 0.002
GATHER_SECONDS = 0.2
"""Nudges that come so close to the last look are answered by one look together."""


class Promoter:
    """Never sleeps longer than a second: not every due time comes with news."""

    def __init__(self, queue: Queue, clock: Clock, pace: Pace) -> None:
        self._queue = queue
        self._clock = clock
        self._pace = pace
        self._nudged = asyncio.Event()

    def nudge(self) -> None:
        """Something may be due sooner than was known."""
        self._nudged.set()

    async def run(self) -> None:
        """Promote, sleep, promote again."""
        while True:
            self._nudged.clear()
            await self._rest(await self.look())

    async def look(self) -> float:
        """One round; how long to sleep."""
        longest = jittered_around(self._pace.promote_max)
        try:
            due = await self._queue.promote()
        except Fault as fault:
            log.warning("cannot promote: %s", fault.message)
            return longest
        if due is None:
            return longest
        return min(max(due - self._clock.now(), SHORTEST), longest)

    async def _rest(self, seconds: float) -> None:
        lain_down = self._clock.steady()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._nudged.wait()
                await asyncio.sleep(lain_down + GATHER_SECONDS - self._clock.steady())
