"""What every contender's jobs do, by kind."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable

from bench.queue import marks

URL = os.environ.get("BENCH_REDIS", "redis://127.0.0.1:6379/0")
"""The server all are measured on."""


def noop(number: int) -> None:
    """Nothing but a mark."""
    marks.noop()


def stamp(sent: int) -> None:
    """When it was sent and when it began."""
    marks.stamp(sent)


def slow(seconds: float) -> None:
    """Says that it began, and takes a while."""
    marks.stamp(os.getpid())
    time.sleep(seconds)


async def slow_async(seconds: float) -> None:
    """The same for those who run jobs on an event loop."""
    marks.stamp(os.getpid())
    await asyncio.sleep(seconds)


IN_FLIGHT = 2
"""Submits of many an async producer has under way: it makes the next while the server takes the last."""


async def in_portions(count: int, size: int, submit: Callable[[range], Awaitable[object]]) -> None:
    """Submit so many in portions, a few of them under way at a time."""
    room = asyncio.Semaphore(IN_FLIGHT)

    async def one(numbers: range) -> None:
        try:
            await submit(numbers)
        finally:
            room.release()

    async with asyncio.TaskGroup() as group:
        for start in range(0, count, size):
            await room.acquire()
            group.create_task(one(range(start, min(start + size, count))))


KINDS = {"noop": noop, "stamp": stamp, "slow": slow}
