"""A process that goes as fast as the shared rate lets it, and tells when it was allowed to."""

import asyncio
import json
import sys

from penstock.engines.redis.client import connect
from penstock.engines.redis.rate import RedisRate
from penstock.engines.system.clock import SystemClock
from penstock.ports.rate import places_at_once
from penstock.settings.addresses import redis_server

AHEAD = 8
"""Callers at once, so that a busy machine does not leave places unasked for."""
PROCESSES = 2


class Noting(SystemClock):
    """A clock that remembers what it said last."""

    said = 0.0

    def now(self) -> float:
        self.said = super().now()
        return self.said


async def main(url: str, key: str, per_second: int, until: int) -> list[float]:
    """The times of all places this process got before the key's counter reached `until`."""
    allowed: list[float] = []
    async with connect(redis_server(url), SystemClock()) as client:

        async def go() -> None:
            clock = Noting()
            rate = RedisRate(client, clock, key=key, per_second=per_second)
            count = places_at_once(per_second)
            while True:
                wait = await rate.take(count)
                allowed.extend([clock.said + wait] * count)
                await asyncio.sleep(wait)
                used = await client.call("INCRBY", f"{key}:used", count)
                if not isinstance(used, int) or used >= until:
                    return

        await client.call("INCR", f"{key}:here")
        while await client.call("GET", f"{key}:here") != str(PROCESSES).encode():  # noqa: ASYNC110  # processes
            await asyncio.sleep(0.01)
        await asyncio.gather(*(go() for _ in range(AHEAD)))
    return allowed


if __name__ == "__main__":
    _, url, key, per_second, until = sys.argv
    print(json.dumps(asyncio.run(main(url, key, int(per_second), int(until)))))
