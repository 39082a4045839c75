"""arq: a worker of its own on uvloop, results not kept."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvloop
from arq import create_pool
from arq.connections import ArqRedis, RedisSettings
from arq.worker import Worker

from bench.redis import work

JOBS = 6_000
SETTINGS = "500 jobs at once, uvloop, results not kept"
SERVER = RedisSettings.from_dsn(work.URL)
_pool: ArqRedis | None = None


async def noop(_: Any, value: int) -> None:
    work.noop(value)


async def stamp(_: Any, value: int) -> None:
    work.stamp(value)


async def slow(_: Any, value: float) -> None:
    await work.slow_async(value)


@asynccontextmanager
async def opened() -> AsyncIterator[None]:
    global _pool
    _pool = await create_pool(SERVER)
    yield
    await _pool.aclose()


async def submit(kind: str, value: float) -> None:
    assert _pool is not None
    await _pool.enqueue_job(kind, value)


def worker_argv() -> list[str]:
    return [sys.executable, "-m", "bench.redis.peers.arq"]


if __name__ == "__main__":
    asyncio.set_event_loop(uvloop.new_event_loop())
    Worker([noop, stamp, slow], redis_settings=SERVER, max_jobs=500, keep_result=0).run()
