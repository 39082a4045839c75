"""Connections kept open beside the one in use, so that a broken one is replaced without dialling."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from penstock.engines.redis.protocol import Wire
from penstock.model.errors import Fault

AGAIN_SECONDS = 0.5
"""Between two tries to fill it while the server is away."""


class Reserve:
    """Never holds fewer than `least` for long, once it was filled."""

    def __init__(self, dial: Callable[[], Awaitable[Wire]], least: int) -> None:
        self._dial = dial
        self._least = least
        self._wires: list[Wire] = []
        self._filling: asyncio.Task[None] | None = None
        self._closed = False

    def fill(self) -> None:
        """Begin to dial what is missing; nobody waits for it."""
        if self._closed or len(self._usable()) >= self._least:
            return
        if self._filling is None or self._filling.done():
            self._filling = asyncio.create_task(self._fill(), name="redis-reserve")

    def take(self) -> Wire | None:
        """One that nobody else uses, if there is one."""
        wires = self._usable()
        return wires.pop() if wires else None

    def give(self, wire: Wire) -> None:
        """Keep one for the next who needs it."""
        if wire.is_usable:
            self._wires.append(wire)

    async def close(self) -> None:
        """Stop filling; the connections themselves are their client's to end."""
        self._closed = True
        if self._filling is not None:
            self._filling.cancel()
            await asyncio.gather(self._filling, return_exceptions=True)

    def _usable(self) -> list[Wire]:
        self._wires = [wire for wire in self._wires if wire.is_usable]
        return self._wires

    async def _fill(self) -> None:
        while not self._closed and len(self._usable()) < self._least:
            try:
                wire = await self._dial()
            except Fault:
                await asyncio.sleep(AGAIN_SECONDS)
                continue
            wire.gone.add_done_callback(lambda _: self.fill())
            self._wires.append(wire)
