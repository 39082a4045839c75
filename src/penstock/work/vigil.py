"""A vigil: how long somebody has looked on without a break.

Whoever has been away (stopped, cut off, its clock turned) finds everybody else silent and every due time
past. So who judges others by their silence asks first how long it has been awake itself.
"""

from __future__ import annotations

from penstock.ports.clock import Clock

CLOCK_SLIP_SECONDS = 1.0
"""Wall time that moved so much apart from steady time was turned."""


class Vigil:
    """Kept by one who looks again and again."""

    def __init__(self, clock: Clock, *, break_seconds: float) -> None:
        """Longer than `break_seconds` between two looks means that we were away."""
        self._clock = clock
        self._break_seconds = break_seconds
        self._since = self._seen = clock.steady()
        self._seen_now = clock.now()

    @property
    def seconds(self) -> float:
        """How long it lasts by now."""
        return self._clock.steady() - self._since

    def look(self) -> None:
        """We are awake; after a break, or when the clock was turned, the vigil begins anew."""
        now, steady = self._clock.now(), self._clock.steady()
        slipped = abs((now - self._seen_now) - (steady - self._seen)) > CLOCK_SLIP_SECONDS
        if slipped or steady - self._seen > self._break_seconds:
            self._since = steady
        self._seen, self._seen_now = steady, now

    def restart(self) -> None:
        """It begins now."""
        self._since = self._seen = self._clock.steady()
        self._seen_now = self._clock.now()
