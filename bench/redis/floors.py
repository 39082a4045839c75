"""What a single submit cannot go below: bare round trips over our own client, one awaited after the other.

`python -m bench.redis.floors COUNT` prints how many of each a server takes a second (`BENCH_REDIS`).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable

from bench.redis.instructions import COPIED, FIELDS, MESSAGE
from bench.redis.ours import connected
from penstock.engines.redis.client import Client
from penstock.engines.redis.scripts import Asked, Script
from penstock.wiring.loop import run

EMPTY = Script.of("empty", "return 1")
DOCUMENTED = Script.of("documented", COPIED)
NOTHING = Asked(EMPTY, (), (), 0)
Floor = Callable[[Client, int], Awaitable[object]]


async def push(client: Client, number: int) -> None:
    await client.call("LPUSH", "floor", MESSAGE % number)


async def nothing(client: Client, number: int) -> None:
    await client.run_quick(NOTHING, ())


async def documented(client: Client, number: int) -> None:
    """The message in its list and the hash of its job, as the pages want them; nothing of ours."""
    keys = ("floor", f"rag:ingest:job:{number:036}", "blank")
    args = (f"{number:036}", MESSAGE % number, *FIELDS)
    await client.run_quick(Asked(DOCUMENTED, keys, (), len(args)), args)


FLOORS: dict[str, tuple[str, Floor]] = {
    "push": ("a bare `LPUSH` of the message", push),
    "nothing": ("a script that does nothing, with its reply looked out for", nothing),
    "documented": ("one that writes the documented list and hash, and keeps nothing else", documented),
}


async def measure(count: int) -> dict[str, float]:
    """How many a second of each."""
    async with connected() as ports:
        client = ports.client
        await client.call("HSET", "blank", "job_id", "", *FIELDS)
        rates = {}
        for name, (_, floor) in FLOORS.items():
            await floor(client, 0)
            begin = time.perf_counter()
            for number in range(1, count + 1):
                await floor(client, number)
            rates[name] = count / (time.perf_counter() - begin)
        return rates


if __name__ == "__main__":
    for name, rate in run(measure(int(sys.argv[1]))).items():
        print(name, rate)
