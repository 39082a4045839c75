"""The pruner: removes ended jobs and old events once their retention is over."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from penstock.model.errors import Fault
from penstock.ports.clock import Clock
from penstock.ports.database import Database
from penstock.ports.queue import Queue
from penstock.work.pace import Pace, jittered_around

log = logging.getLogger("penstock.pruner")
PORTION = 1000


class Pruner:
    """One portion after the other, with a rest between rounds."""

    def __init__(self, queue: Queue, database: Database, clock: Clock, pace: Pace) -> None:
        self._queue = queue
        self._database = database
        self._clock = clock
        self._pace = pace

    async def run(self) -> None:
        """Rest first: a fleet that starts together must not prune together."""
        while True:
            await asyncio.sleep(jittered_around(self._pace.prune))
            await self.look()

    async def look(self) -> None:
        """One round."""
        try:
            jobs = await _all(self._jobs)
            events = await _all(self._events)
        except Fault as fault:
            log.warning("cannot prune: %s", fault.message)
        else:
            if jobs or events:
                log.info("pruned %d ended jobs and %d events", jobs, events)

    async def _jobs(self) -> int:
        now, pace = self._clock.now(), self._pace
        return await self._queue.prune(
            done_before=now - pace.keep_done, failed_before=now - pace.keep_failed, limit=PORTION
        )

    async def _events(self) -> int:
        return await self._database.forget_events(self._clock.now() - self._pace.keep_events, limit=PORTION)


async def _all(portion: Callable[[], Awaitable[int]]) -> int:
    """Portion after portion, until one is not full."""
    total = 0
    while True:
        gone = await portion()
        total += gone
        if gone < PORTION:
            return total
