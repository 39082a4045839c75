"""SAQ: a worker of its own on uvloop, results not kept."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvloop
from saq import Queue, Worker

from bench.redis import work

JOBS = 6_000
SETTINGS = "50 jobs at once, uvloop, results not kept"
_queue = Queue.from_url(work.URL)


async def noop(_: Any, *, value: int) -> None:
    work.noop(value)


async def stamp(_: Any, *, value: int) -> None:
    work.stamp(value)


async def slow(_: Any, *, value: float) -> None:
    await work.slow_async(value)


@asynccontextmanager
async def opened() -> AsyncIterator[None]:
    await _queue.connect()
    yield
    await _queue.disconnect()


async def submit(kind: str, value: float) -> None:
    await _queue.enqueue(kind, value=value, ttl=-1)


def worker_argv() -> list[str]:
    return [sys.executable, "-m", "bench.redis.peers.saq"]


async def _work() -> None:
    await _queue.connect()
    await Worker(_queue, [noop, stamp, slow], concurrency=50).start()


if __name__ == "__main__":
    uvloop.run(_work())
