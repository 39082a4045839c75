"""The children there are: those that read, and warm ones that wait for the next file of their owner.

A child belongs to the owner of its first file: a file may take it over, and must then not meet another's.
To have one made costs a few times what a small file does, so owners who take turns keep theirs: a few more
wait than read at once, and when there are too many the one goes that has waited longest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from penstock.engines.parsers.child import Child

NICENESS = (10, 14, 17, 19)
"""Of slow children by their number: all of them together get a tenth of what one neighbour does who wants the
same processor."""


class Stable:
    """At most `most` children at a time; `start` makes one."""

    def __init__(self, start: Callable[[], Awaitable[Child]], most: int) -> None:
        self._start = start
        self._most = most
        self._idle: list[Child] = []
        """In the order they were given back."""
        self._all: set[Child] = set()
        self._starting = 0

    @property
    def pids(self) -> tuple[int, ...]:
        """The children that run now."""
        return tuple(child.pid for child in self._all if child.is_alive)

    async def take(self, owner: str) -> Child:
        """A child of the owner's, else nobody's, else a fresh one."""
        found = self._waiting(owner) or self._waiting(None)
        return found or await self._fresh()

    def give(self, child: Child) -> None:
        """It may read the next file of its owner."""
        self._idle.append(child)

    async def refresh(self, count: int = 1) -> None:
        """See to it that so many children wait whoever comes next, unless they do."""
        for _ in range(count - sum(child.owner is None and child.is_alive for child in self._idle)):
            self.give(await self._fresh())

    def step_back(self, child: Child) -> None:
        """It may read on for ever: it gives way to all other processes, the more such children the more."""
        child.stepped_back = True
        slow = [each for each in self._all if each.stepped_back and each.is_alive]
        for each in slow:
            each.step_back(NICENESS[min(len(slow), len(NICENESS)) - 1])

    @property
    def is_empty(self) -> bool:
        """Whether no child waits for a file."""
        return not any(child.is_alive for child in self._idle)

    async def end(self, child: Child) -> None:
        """End it and forget it."""
        await child.end()
        self._all.discard(child)

    async def close(self) -> None:
        """End every child there is; returns once all are gone."""
        for child in self._all:
            child.kill()
        self._idle.clear()
        for child in tuple(self._all):
            await self.end(child)
        await asyncio.sleep(0)  # in which the loop closes their lines

    def _waiting(self, owner: str | None) -> Child | None:
        """The child of the owner's that was given back last."""
        for child in reversed(self._idle):
            if child.owner == owner and child.is_alive:
                self._idle.remove(child)
                return child
        return None

    async def _fresh(self) -> Child:
        self._starting += 1
        try:
            for child in [child for child in self._idle if not child.is_alive]:
                self._idle.remove(child)
                await self.end(child)
            while self._idle and len(self._all) + self._starting > self._most:
                await self.end(self._idle.pop(0))
            child = await self._start()
        finally:
            self._starting -= 1
        self._all.add(child)
        return child
