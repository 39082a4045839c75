"""Turns at writing: so many answers at once, and nobody's many keep another's one waiting.

A free place goes to whoever writes least now; among those, to who was given one longest ago. One person never
has more than half of the places, so that another finds one without waiting for an answer to end.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque

Place = asyncio.Future[None]


class Turns:
    """Places by person; belongs to one event loop."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._each = max(1, places // 2)
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[Place]] = {}
        """Who was served last stands last."""

    def count(self, whose: str) -> int:
        """How many places a person has or waits for."""
        return self._held[whose] + len(self._waiting.get(whose, ()))

    def ask(self, whose: str) -> Place:
        """A place to come; whoever no longer wants it cancels it, and in any case it is left."""
        place: Place = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(whose, deque()).append(place)
        self._hand_out()
        return place

    def leave(self, whose: str, place: Place) -> None:
        """Give it back, whether it came or not."""
        if place.cancel() or place.cancelled():
            waiting = self._waiting.get(whose)
            if waiting is not None and place in waiting:
                waiting.remove(place)
                if not waiting:
                    del self._waiting[whose]
            return
        self._free += 1
        self._held[whose] -= 1
        if not self._held[whose]:
            del self._held[whose]
        self._hand_out()

    def _hand_out(self) -> None:
        while self._free:
            entitled = [each for each in self._waiting if self._held[each] < self._each]
            if not entitled:
                return
            whose = min(entitled, key=self._held.__getitem__)
            waiting = self._waiting.pop(whose)
            place = waiting.popleft()
            if waiting:
                self._waiting[whose] = waiting
            if not place.done():
                self._free -= 1
                self._held[whose] += 1
                place.set_result(None)
