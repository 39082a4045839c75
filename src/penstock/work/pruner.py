"""The pruner: removes ended jobs once their retention is over."""

from __future__ import annotations

import asyncio
import logging

from penstock.model.errors import Fault
from penstock.ports.clock import Clock
from penstock.ports.queue import Queue
from penstock.work.pace import Pace, jittered_around

log = logging.getLogger("penstock.pruner")
PORTION = 1000


class Pruner:
    """One portion after the other, with a rest between rounds."""

    def __init__(self, queue: Queue, clock: Clock, pace: Pace) -> None:
        self._queue = queue
        self._clock = clock
        self._pace = pace

    async def run(self) -> None:
        """Rest first: a fleet that starts together must not prune together."""
        while True:
            await asyncio.sleep(jittered_around(self._pace.prune))
            await self.look()

    async def look(self) -> int:
        """One round; how many jobs went."""
        now, gone = self._clock.now(), 0
        try:
            while True:
                portion = await self._queue.prune(
                    done_before=now - self._pace.keep_done,
                    failed_before=now - self._pace.keep_failed,
                    limit=PORTION,
                )
                gone += portion
                if portion < PORTION:
                    break
        except Fault as fault:
            log.warning("cannot prune: %s", fault.message)
        if gone:
            log.info("pruned %d ended jobs", gone)
        return gone
