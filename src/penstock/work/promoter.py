"""The promoter: makes due jobs ready, at the moment they are due."""

from __future__ import annotations

import asyncio
import logging

from penstock.model.errors import Fault
from penstock.ports.clock import Clock
from penstock.ports.queue import Queue
from penstock.work.pace import Pace, jittered_around

log = logging.getLogger("penstock.promoter")
SHORTEST = 0.002


class Promoter:
    """Sleeps until the next due time it knows of, and never longer than a second: others submit too."""

    def __init__(self, queue: Queue, clock: Clock, pace: Pace) -> None:
        self._queue = queue
        self._clock = clock
        self._pace = pace

    async def run(self) -> None:
        """Promote, sleep, promote again."""
        while True:
            seconds = await self.look()
            await asyncio.sleep(seconds)

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
