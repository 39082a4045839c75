"""Whose turn it is to read: a seat for each child that reads, and two more for what does not take long.

The problem: files that take their whole time limit sit on all seats, and a thousand small ones wait behind
them. The idea: nobody knows a slow file before it has been tried, so each is tried for a moment, and goes on
to a longer stay only behind those who were put off before it:

    express ──▶ short stay ──▶ seat
    a second    a few seconds  as long as the limits allow

A seat that is free takes anybody, those first who were put off the most. Who outstays the express or the
short stay moves on as soon as there is a place, and reads on until then, unless somebody waits for the one he
holds: then he is put off and begins anew on the next one. Nobody is put off a seat. So a slow file costs
those behind it a moment, once, and is itself put off twice at most. Of those who wait for a place the
smallest comes first, for it is the least likely to be slow, and every other second who waits longest.
Whom the usher holds back has no turn before he may, though a place is free.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum

LOOK_SECONDS = 0.5
"""So often those who are held back are looked at again."""


class Lane(IntEnum):
    """How long one may stay."""

    EXPRESS = 0
    SHORT = 1
    SEAT = 2


class Turn:
    """The right to read, held until it is released."""

    def __init__(self, lane: Lane, *, is_slow: bool = False) -> None:
        self.lane = lane
        self._is_slow = is_slow
        """The file was put off before."""
        self._began: float | None = None
        self.pace: Callable[[], float] = _none
        """Asked how much of a processor its child has had lately."""
        self.wanted = asyncio.Event()
        """Set while somebody waits for the very place this turn holds; never for a seat."""

    def begin(self, pace: Callable[[], float]) -> None:
        """A child has the file now: its start is no file's fault."""
        self._began = asyncio.get_running_loop().time()
        self.pace = pace

    @property
    def used(self) -> float:
        """For how many seconds a child has had the file."""
        return 0.0 if self._began is None else asyncio.get_running_loop().time() - self._began

    def is_slow(self, seconds: float) -> bool:
        """Whether its file is known to take so long."""
        return self._is_slow or self.used >= seconds


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Somebody in a line."""

    size: int
    turn: asyncio.Future[Turn]
    is_slow: bool


class Turns:
    """Hands out `seats` turns on seats, one on the express and one for a short stay."""

    def __init__(self, seats: int, holds_back: Callable[[int], bool] | None = None) -> None:
        self._free = {Lane.SEAT: seats, Lane.SHORT: 1, Lane.EXPRESS: 1}
        self._held: set[Turn] = set()
        self._lines: dict[Lane, list[_Waiting]] = {lane: [] for lane in Lane}
        """In the order they came."""
        self.longest_waiting_seconds = 2.0
        """So often a turn goes to who waits longest, however large."""
        self._oldest_due = 0.0
        """When a turn goes to who waits longest."""
        self._was_oldest = False
        """The last turn went to him, past a smaller one."""
        self._holds_back = holds_back or _nobody
        """Asked whether a stranger of that size must wait for the express, though it may be free."""
        self._look: asyncio.TimerHandle | None = None

    async def take(self, lane: Lane = Lane.EXPRESS, size: int = 0) -> Turn:
        """A turn in that lane or on a seat; whoever outstayed a lane asks for the next one."""
        waiting = _Waiting(size, asyncio.get_running_loop().create_future(), lane is not Lane.EXPRESS)
        self._lines[lane].append(waiting)
        self._hand_out()
        try:
            return await waiting.turn
        except asyncio.CancelledError:
            if waiting.turn.cancelled():
                self._lines[lane].remove(waiting)
                self._hand_out()  # perhaps nobody wants the place any more
            else:
                self.release(waiting.turn.result())
            raise

    def take_free(self, lane: Lane, size: int = 0) -> Turn | None:
        """The turn that who asks now would have at once, without waiting for it; None if there is none."""
        if any(any(_still_there(line)) for line in self._lines.values()):
            return None
        found = next((each for each in (Lane.SEAT, lane) if self._free[each]), None)
        if found is None or (found is Lane.EXPRESS and self._holds_back(size)):
            return None
        return self._given(found, is_slow=lane is not Lane.EXPRESS)

    def take_further(self, turn: Turn) -> Turn | None:
        """A longer turn for who holds one, at a place nobody waits for; he must give the old one back."""
        further = [lane for lane in sorted(Lane, reverse=True) if lane > turn.lane]
        if any(any(_still_there(self._lines[lane])) for lane in further):
            return None
        found = next((lane for lane in further if self._free[lane]), None)
        return None if found is None else self._given(found, is_slow=False)

    def release(self, turn: Turn) -> None:
        """It is over; whoever comes next has his turn."""
        self._held.discard(turn)
        self._free[turn.lane] += 1
        self._hand_out()

    def are_jammed(self, seconds: float) -> bool:
        """Whether each place but the express is held by a file that has taken so long already."""
        if self._free[Lane.SEAT] or self._free[Lane.SHORT]:
            return False
        return all(turn.is_slow(seconds) for turn in self._held if turn.lane is not Lane.EXPRESS)

    @property
    def pace(self) -> float:
        """How much of a processor each of those who are not on the express has had lately."""
        paces = [turn.pace() for turn in self._held if turn.lane is not Lane.EXPRESS]
        return sum(paces) / len(paces) if paces else 0.0

    def _hand_out(self) -> None:
        for lane in (Lane.SEAT, Lane.SHORT, Lane.EXPRESS):
            while self._free[lane] and (waiting := self._next_for(lane)) is not None:
                waiting.turn.set_result(self._given(lane, is_slow=waiting.is_slow))
        for turn in self._held:
            is_wanted = turn.lane is not Lane.SEAT and bool(self._ready_for(turn.lane))
            (turn.wanted.set if is_wanted else turn.wanted.clear)()
        if self._look is None and any(_still_there(self._lines[Lane.EXPRESS])):
            self._look = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look_again)

    def _look_again(self) -> None:
        self._look = None
        self._hand_out()

    def _given(self, lane: Lane, *, is_slow: bool) -> Turn:
        self._free[lane] -= 1
        turn = Turn(lane, is_slow=is_slow)
        self._held.add(turn)
        return turn

    def _next_for(self, lane: Lane) -> _Waiting | None:
        lanes = sorted(Lane, reverse=True) if lane is Lane.SEAT else [lane]
        line = next((each for each in lanes if any(_still_there(self._lines[each]))), lane)
        there = list(_still_there(self._lines[line])) if lane is Lane.SEAT else self._ready_for(lane)
        if not there:
            return None
        now = asyncio.get_running_loop().time()
        smallest = min(there, key=lambda waiting: waiting.size)
        # Where turns are rare the smallest still has every other one.
        is_oldest = lane is Lane.SEAT or (now >= self._oldest_due and not self._was_oldest)
        found = there[0] if is_oldest else smallest
        self._was_oldest = is_oldest and found is not smallest
        if found is there[0]:
            self._oldest_due = now + self.longest_waiting_seconds
        self._lines[line].remove(found)
        return found

    def _ready_for(self, lane: Lane) -> list[_Waiting]:
        """Those in a line who may have a turn now."""
        there = list(_still_there(self._lines[lane]))
        return [each for each in there if not self._holds_back(each.size)] if lane is Lane.EXPRESS else there


def _none() -> float:
    """It has no child yet."""
    return 0.0


def _nobody(_size: int) -> bool:
    """Nobody is held back."""
    return False


def _still_there(line: list[_Waiting]) -> Iterator[_Waiting]:
    """Those who have not given up, though they may not have said so yet."""
    return (waiting for waiting in line if not waiting.turn.done())
