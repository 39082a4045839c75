"""The reaper: walks through an engine's lists for jobs of workers nobody knows, slowly and out of step."""

from __future__ import annotations

import asyncio
import logging
import random
from typing import Protocol

from penstock.model.errors import Fault
from penstock.ports.telemetry import SILENT, Telemetry
from penstock.work.pace import jittered_around

log = logging.getLogger("penstock.reaper")


class Sweep(Protocol):
    """A walk through everything, a page at a time."""

    async def page(self) -> tuple[int, bool]:
        """Look at one page: how many jobs went back, and whether the pass is over."""
        ...


class Reaper:
    """Known workers are rescued from promptly by others; this finds what is left of unknown ones."""

    def __init__(
        self, sweep: Sweep, *, interval: float, between: float, telemetry: Telemetry = SILENT
    ) -> None:
        """Rests `interval` seconds after a pass, `between` after a page of it."""
        self._sweep = sweep
        self._interval = interval
        self._between = between
        self._telemetry = telemetry

    async def run(self) -> None:
        """Pass after pass."""
        while True:
            await asyncio.sleep(jittered_around(self._interval))
            try:
                moved = await self._pass()
            except Fault as fault:
                log.warning("cannot sweep: %s", fault.message)
                continue
            if moved:
                log.warning("%d jobs of workers nobody knows went back to their queues", moved)

    async def _pass(self) -> int:
        moved = 0
        while True:
            some, over = await self._sweep.page()
            moved += some
            if some:
                self._telemetry.reaped(some)
            if over:
                return moved
            await asyncio.sleep(self._between * random.uniform(0.5, 1.5))  # noqa: S311  # spread, no secret
