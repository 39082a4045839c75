"""The healer: ends answers and uploads whose owners are gone, in every process, all the time.

Whoever has been away itself (stopped, cut off, its clock turned) sees everybody's due times as past, and so
do those who were away with it. They renew within half a second of being back. So it judges only after it has
reached the store for a few seconds without a break.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol

from penstock.model.errors import Fault
from penstock.ports.clock import Clock
from penstock.work.pace import jittered_around
from penstock.work.vigil import Vigil

log = logging.getLogger("penstock.healer")
LOOK_SECONDS = 2.0
WATCH_SECONDS = 4.0
"""Eight times what an owner needs to say that it is still there."""
PORTION = 100


class Curable(Protocol):
    """Holds what somebody must go on with."""

    async def heal(self, *, limit: int = 100) -> Sequence[str]:
        """End what nobody goes on with any more; which they were."""
        ...


class Healer:
    """One endless round."""

    def __init__(self, ward: Curable, clock: Clock, *, what: str = "answer") -> None:
        """`what` is one of those it heals, as the log calls it."""
        self._ward = ward
        self._what = what
        self._vigil = Vigil(clock, break_seconds=WATCH_SECONDS)

    async def run(self) -> None:
        """Rest, look, rest again."""
        while True:
            await asyncio.sleep(jittered_around(LOOK_SECONDS))
            await self.look()

    async def look(self) -> None:
        """One round; a store that cannot be reached breaks the watch."""
        self._vigil.look()
        try:
            healed = await self._ward.heal(limit=PORTION if self._vigil.seconds >= WATCH_SECONDS else 0)
        except Fault as fault:
            log.warning("cannot look for an interrupted %s: %s", self._what, fault.message)
            self._vigil.restart()
            return
        for _ in healed:
            log.warning("an %s was interrupted: whoever was at it is gone", self._what)
