"""streaQ: 16 jobs at once on uvloop, results not kept."""

from __future__ import annotations

import sys
from contextlib import AbstractAsyncContextManager
from typing import Any

from streaq import Worker

from bench.redis import work

JOBS = 4_000
SETTINGS = "16 jobs at once, uvloop, results not kept; enqueue_many in 1,000s,"
SETTINGS += f" {work.IN_FLIGHT} of them under way at a time"
worker = Worker(redis_url=work.URL, concurrency=16, anyio_kwargs={"use_uvloop": True})


@worker.task(ttl=0)
async def noop(value: int) -> None:
    work.noop(value)


@worker.task(ttl=0)
async def stamp(value: int) -> None:
    work.stamp(value)


@worker.task(ttl=0)
async def slow(value: float) -> None:
    await work.slow_async(value)


_tasks: dict[str, Any] = {"noop": noop, "stamp": stamp, "slow": slow}


def opened() -> AbstractAsyncContextManager[Any]:
    return worker


async def submit(kind: str, value: float) -> None:
    await _tasks[kind].enqueue(value)


async def bulk(count: int) -> None:
    await work.in_portions(
        count, 1000, lambda numbers: worker.enqueue_many([noop.enqueue(number) for number in numbers])
    )


def worker_argv() -> list[str]:
    return [sys.executable, "-m", "streaq", "run", "bench.redis.peers.streaq:worker"]
