"""The rate of one process: what a producer keeps to where there is no Redis to share it by."""

from __future__ import annotations

from penstock.ports.clock import Clock
from penstock.ports.rate import SLACK_SECONDS


class LocalRate:
    """So many places a second, for one process; its clock never runs back."""

    def __init__(self, clock: Clock, *, per_second: float) -> None:
        self._clock = clock
        self._per_second = per_second
        self._free_at = clock.steady()

    async def take(self, count: int) -> float:
        """Take so many places; how long to wait for them."""
        now = self._clock.steady()
        start = max(self._free_at, now - SLACK_SECONDS)
        self._free_at = start + count / self._per_second
        return max(0.0, start - now)
