"""The rescuer: takes jobs back from the dead, in every process, all the time.

Whoever has been away itself (stopped, cut off, its clock turned) sees everybody's beats as old; so does
everybody where nobody could write for a while, and whose beat is the first to get through must not judge the
others by theirs. So one declares others dead by their silence only after it has reached the store without a
break, its own beats included, for as long as it takes to be dead; a worker process that provably no longer
exists needs no such wait.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from penstock.model.errors import Fault
from penstock.ports.clock import Clock
from penstock.ports.queue import Queue
from penstock.ports.telemetry import SILENT, Telemetry
from penstock.work.pace import Pace, jittered_around
from penstock.work.vigil import Vigil

log = logging.getLogger("penstock.rescuer")
BREAK_SECONDS = 3.0
"""So much longer than the usual rest between two looks means that we were away."""


class Rescuer:
    """One endless round."""

    def __init__(
        self,
        queue: Queue,
        clock: Clock,
        pace: Pace,
        beaten: Callable[[], float] | None = None,
        telemetry: Telemetry = SILENT,
    ) -> None:
        """`beaten` tells when this process's own beat last reached the store."""
        self._beaten = beaten or clock.steady
        self._queue = queue
        self._clock = clock
        self._pace = pace
        self._telemetry = telemetry
        self._vigil = Vigil(clock, break_seconds=BREAK_SECONDS + pace.rescue)

    async def run(self) -> None:
        """Look, rest, look again."""
        while True:
            await asyncio.sleep(jittered_around(self._pace.rescue))
            await self.look()

    async def look(self) -> None:
        """One round; a store that cannot be reached breaks the watch."""
        self._vigil.look()
        if not self._in_touch:
            self._vigil.restart()
        try:
            rescued = await self._queue.rescue(certain=not self.may_judge)
        except Fault as fault:
            log.warning("cannot rescue: %s", fault.message)
            self._vigil.restart()
            return
        self._telemetry.rescued(rescued)
        for job_id in rescued:
            log.warning("rescued from a worker that is gone", extra={"job_id": job_id})

    @property
    def may_judge(self) -> bool:
        """Have we watched long enough to take silence for death?"""
        return self._in_touch and self._vigil.seconds >= self._pace.dead_after

    @property
    def _in_touch(self) -> bool:
        """Does our own beat reach the store?"""
        return self._clock.steady() - self._beaten() < self._pace.dead_after / 2
