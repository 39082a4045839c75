"""taskiq: the broker on streams, which acknowledges, with 500 jobs at once."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from taskiq_redis import RedisStreamBroker

from bench.redis import work

JOBS = 6_000
SETTINGS = "stream broker, 1 process, 500 jobs at once, uvloop"
broker = RedisStreamBroker(work.URL)


@broker.task
async def noop(value: int) -> None:
    work.noop(value)


@broker.task
async def stamp(value: int) -> None:
    work.stamp(value)


@broker.task
async def slow(value: float) -> None:
    await work.slow_async(value)


_tasks: dict[str, Any] = {"noop": noop, "stamp": stamp, "slow": slow}


@asynccontextmanager
async def opened() -> AsyncIterator[None]:
    await broker.startup()
    yield
    await broker.shutdown()


async def submit(kind: str, value: float) -> None:
    await _tasks[kind].kiq(value)


def worker_argv() -> list[str]:
    limits = ["--workers", "1", "--max-async-tasks", "500", "--log-level", "ERROR"]
    return [sys.executable, "-m", "taskiq", "worker", "bench.redis.peers.taskiq:broker", *limits]
