"""The usher: sees those who outstay a short turn on to a longer one, or out of the way of who waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from penstock.engines.parsers.caution import Caution
from penstock.engines.parsers.child import Child
from penstock.engines.parsers.turns import Lane, Turn, Turns

LOOK_SECONDS = 0.05
BUSY_PACE = 0.15
"""Slow children give way to everybody: where they get less of a processor than that, others want it."""


@dataclass(slots=True)
class Hold:
    """A turn, and the child that must end before it is passed on."""

    turn: Turn
    size: int
    """Of the file, in bytes."""
    put_off: bool = False
    """The file was tried before, and is known to be slow."""
    spoilt: Child | None = None
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once a child has the file: its start is no file's fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stays:
    """How long a file may hold what others wait for, in seconds."""

    moment: float
    """On the express, while every other place is held by a file that has been there for `express`."""
    express: float
    short: float


class Usher:
    """Looks after whoever holds a turn; one call for each."""

    def __init__(self, seats: int, stays: Stays) -> None:
        self.turns = Turns(seats, self._holds_back)
        self._stays = stays
        self._caution = Caution()

    @property
    def is_jammed(self) -> bool:
        """Whether slow files hold every place but the express."""
        return self.turns.are_jammed(self._stays.express)

    async def seat(self, lane: Lane, size: int, slow: Callable[[], None]) -> Turn:
        """A turn; who waits for one while slow files hold every place is told that he is as slow as they."""
        if (turn := self.turns.take_free(lane, size)) is not None:
            return turn
        looks = asyncio.create_task(self._tell_jams(lane, size, slow))
        try:
            return await self.turns.take(lane, size)
        finally:
            looks.cancel()

    def was_read(self, hold: Hold) -> None:
        """A file has come to its end."""
        if hold.turn.used <= self._stays.moment:
            self._caution.was_quick(hold.size)

    def _holds_back(self, size: int) -> bool:
        if not self._caution.advises_against(size, asyncio.get_running_loop().time()):
            return False
        return self.is_jammed and self.turns.pace < BUSY_PACE

    async def _tell_jams(self, lane: Lane, size: int, slow: Callable[[], None]) -> None:
        # An ordinary file has its turn soon: many that stand aside at once would be read long before they
        # are needed, and then all wait for the same next stage.
        is_soon = lane is Lane.EXPRESS and not self._caution.looks_slow(size)
        await asyncio.sleep(self._stays.short if is_soon else self._stays.moment)
        while not self.is_jammed:  # noqa: ASYNC110  # it comes with time, by itself
            await asyncio.sleep(self._stays.moment)
        slow()

    async def see_on(self, hold: Hold, hurry: asyncio.Timeout) -> None:
        """Move it on when its time is over; let `hurry` run out where it must make room instead."""
        await hold.asked.wait()
        while not await self._has_a_seat(hold):
            if not await self._moved_on(hold):
                if hold.turn.lane is Lane.EXPRESS:
                    self._caution.was_in_vain(hold.size, asyncio.get_running_loop().time())
                return hurry.reschedule(asyncio.get_running_loop().time())

    async def _has_a_seat(self, hold: Hold) -> bool:
        """Whether it has found one by the end of its stay, which is sooner while the others stand still."""
        while hold.turn.lane is not Lane.SEAT and not self._is_over(hold.turn):
            await asyncio.sleep(LOOK_SECONDS)
            if hold.turn.lane is Lane.EXPRESS and hold.turn.used >= self._stays.moment:
                self._move_to_a_free_place(hold)
        return hold.turn.lane is Lane.SEAT

    def _move_to_a_free_place(self, hold: Hold) -> None:
        if (further := self.turns.take_further(hold.turn)) is not None:
            self._move(hold, further)

    def _is_over(self, turn: Turn) -> bool:
        used = turn.used
        if turn.lane is Lane.SHORT:
            return used >= self._stays.short
        return used >= self._stays.express or (used >= self._stays.moment and self.is_jammed)

    async def _moved_on(self, hold: Hold) -> bool:
        """Whether it got a longer turn before somebody wanted the one it has."""
        further = asyncio.create_task(self.turns.take(Lane(hold.turn.lane + 1)))
        wanted = asyncio.create_task(hold.turn.wanted.wait())
        try:
            await asyncio.wait([further, wanted], return_when=asyncio.FIRST_COMPLETED)
            if not further.done():
                return False
            self._move(hold, further.result())
        except asyncio.CancelledError:
            if further.done():
                self.turns.release(further.result())
            raise
        finally:
            further.cancel()
            wanted.cancel()
        return True

    def _move(self, hold: Hold, further: Turn) -> None:
        left, hold.turn = hold.turn, further
        further.begin(left.pace)
        self.turns.release(left)
