"""What every contender's jobs do, by kind."""

from __future__ import annotations

import asyncio
import os
import time

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


KINDS = {"noop": noop, "stamp": stamp, "slow": slow}
