"""Whose turn it is to read: a seat for each child that reads, and one more for what is quick.

The problem: files that take their whole time limit sit on all seats, and a thousand small ones wait behind
them. The idea: one more seat, the express, where a file may stay for about a second. Who outstays it goes to
one of the other seats as soon as there is one, before whoever has not begun. Until then it reads on where it
is, unless somebody waits for the express: then it is put off, and begins anew on a seat, which nobody takes
from it. So a slow file costs those behind it a second, once, and is itself put off once at most.
"""

from __future__ import annotations

import asyncio
from collections import deque


class Turn:
    """The right to read, held until it is released."""

    def __init__(self, *, express: bool) -> None:
        self.express = express
        self.wanted = asyncio.Event()
        """Set while somebody waits for the express this turn holds."""


class Turns:
    """Hands out `seats` turns and the express, first come, first served."""

    def __init__(self, seats: int) -> None:
        self._seats = seats
        self._express_free = True
        self._express: Turn | None = None
        self._fresh: deque[asyncio.Future[Turn]] = deque()
        self._overdue: deque[asyncio.Future[Turn]] = deque()

    async def take(self) -> Turn:
        """A turn of either kind, for a file that has not begun."""
        return await self._queued(self._fresh)

    async def take_seat(self) -> Turn:
        """A turn on a seat, for a file that outstayed the express; before all that have not begun."""
        return await self._queued(self._overdue)

    def release(self, turn: Turn) -> None:
        """It is over; whoever comes next has his turn."""
        if turn.express:
            self._express, self._express_free = None, True
        else:
            self._seats += 1
        self._hand_out()

    async def _queued(self, line: deque[asyncio.Future[Turn]]) -> Turn:
        waiting: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        line.append(waiting)
        self._hand_out()
        try:
            return await waiting
        except asyncio.CancelledError:
            if waiting.cancelled():
                self._hand_out()  # perhaps nobody wants the express any more
            else:
                self.release(waiting.result())
            raise

    def _hand_out(self) -> None:
        while self._seats and (waiting := _next(self._overdue) or _next(self._fresh)) is not None:
            self._seats -= 1
            waiting.set_result(Turn(express=False))
        if self._express_free and (waiting := _next(self._fresh)) is not None:
            self._express, self._express_free = Turn(express=True), False
            waiting.set_result(self._express)
        if self._express is not None:
            is_wanted = any(not each.done() for each in self._fresh)
            (self._express.wanted.set if is_wanted else self._express.wanted.clear)()


def _next(line: deque[asyncio.Future[Turn]]) -> asyncio.Future[Turn] | None:
    """The first who still waits."""
    while line:
        waiting = line.popleft()
        if not waiting.done():
            return waiting
    return None
