"""The rate all producers share, kept by one atomic script."""

from __future__ import annotations

from penstock.engines.redis.client import Client
from penstock.engines.redis.scripts import SCRIPTS
from penstock.model.errors import Broken
from penstock.ports.clock import Clock
from penstock.ports.rate import FAR_PLACES, FAR_SECONDS, SLACK_SECONDS

MICROS = 1_000_000


class RedisRate:
    """So many places a second, over everybody who names the same key."""

    def __init__(self, client: Client, clock: Clock, *, key: str, per_second: float) -> None:
        self._client = client
        self._clock = clock
        self._key = key
        self._per_place = f"{MICROS / per_second:.3f}"
        self._far = max(FAR_SECONDS, FAR_PLACES / per_second)

    async def take(self, count: int) -> float:
        """Take so many places; how long to wait for them."""
        wait = await self._client.run(
            SCRIPTS["rate"],
            keys=[self._key],
            args=[
                _micros(self._clock.now()),
                count,
                self._per_place,
                _micros(SLACK_SECONDS),
                _micros(self._far),
            ],
            # Places taken twice because a reply was lost are places nobody uses.
            again=True,
        )
        if not isinstance(wait, int):
            raise Broken(f"rate.lua answered {wait!r}")
        return wait / MICROS


def _micros(seconds: float) -> int:
    return round(seconds * MICROS)
