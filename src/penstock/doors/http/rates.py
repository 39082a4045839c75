"""How much one user may ask: a bucket that fills again, kept by each serving process for itself."""

from __future__ import annotations

from collections import OrderedDict

from penstock.model.errors import Exhausted
from penstock.ports.clock import Clock

USERS_MAX = 10_000
"""Buckets kept; who has not asked for longest gets a full one again."""


class Rates:
    """Requests a minute, with as many at once."""

    def __init__(self, clock: Clock, per_minute: int) -> None:
        """0 a minute is no limit."""
        self._clock = clock
        self._most = float(per_minute)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, user: str) -> None:
        """Take one from the user's bucket; Exhausted, with the time until the next, where it is empty."""
        if not self._most:
            return
        now = self._clock.steady()
        left, at = self._buckets.pop(user, (self._most, now))
        left = min(self._most, left + (now - at) * self._most / 60.0)
        self._buckets[user] = (max(left - 1.0, 0.0) if left >= 1.0 else left, now)
        if len(self._buckets) > USERS_MAX:
            self._buckets.popitem(last=False)
        if left < 1.0:
            raise Exhausted(
                f"more than {self._most:g} requests in a minute; wait a moment",
                code="ERR_RATE_LIMITED",
                retry_after=(1.0 - left) * 60.0 / self._most,
            )
