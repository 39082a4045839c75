"""How much one user may ask: a bucket that fills again, one for all serving processes of a data folder."""

from __future__ import annotations

from penstock.model.errors import Exhausted
from penstock.ports.clock import Clock
from penstock.ports.rate import Buckets


class Rates:
    """Requests a minute, with as many at once."""

    def __init__(self, clock: Clock, buckets: Buckets, per_minute: int) -> None:
        """0 a minute is no limit."""
        self._clock = clock
        self._buckets = buckets
        self._most = float(per_minute)

    def spend(self, user: str) -> None:
        """Take one from the user's bucket; Exhausted, with the time until the next, where it is empty."""
        if not self._most:
            return
        per_second = self._most / 60.0
        left = self._buckets.take(user, most=self._most, per_second=per_second, now=self._clock.steady())
        if left < 1.0:
            raise Exhausted(
                f"more than {self._most:g} requests in a minute; wait a moment",
                code="ERR_RATE_LIMITED",
                retry_after=(1.0 - left) / per_second,
            )
