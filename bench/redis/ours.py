"""Our side: the Redis engine, and the whole worker runtime on it with nothing in the catalogue to write.

Run as a program it is a worker; `BENCH_REDIS` names the server, `BENCH_LISTS` says how many more lists
are watched.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.queue.jobs import handlers
from bench.queue.ours import BULK, CONCURRENCY, new_jobs
from bench.redis import work
from penstock.engines.redis.names import Inbox, Names
from penstock.engines.redis.store import RedisPorts, open_redis
from penstock.engines.system.clock import SystemClock
from penstock.model.jobs import NewJob, TenantId, WorkerId
from penstock.model.payloads import File
from penstock.model.rules import Rules
from penstock.settings.addresses import redis_server
from penstock.wiring.loop import run
from penstock.work.crew import run_crew
from penstock.work.pace import Pace
from penstock.work.reaper import Reaper
from penstock.work.worker import Worker

JOBS = 40_000
SETTINGS = f"{CONCURRENCY} jobs at once, the program's loop, uvloop; submit of many in {BULK:,}s,"
SETTINGS += f" {work.IN_FLIGHT} of them under way at a time"
TENANT = TenantId("local")
LISTS = [f"watched_{number}" for number in range(int(os.environ.get("BENCH_LISTS", "0")))]
_ports: RedisPorts | None = None


class Nothing:
    """No database: there are no events to forget."""

    async def forget_events(self, before: float, *, limit: int) -> int:
        return 0


def translate(message: bytes, inbox: Inbox) -> NewJob:
    """A foreign message is the path of a file."""
    return _job(message.decode())


def _job(path: str) -> NewJob:
    return NewJob(tenant=TENANT, collection="bench", payload=File(file_path=path))


@asynccontextmanager
async def connected() -> AsyncIterator[RedisPorts]:
    """The engine, as a producer or a worker has it."""
    names = Names(home=TENANT, collections=dict.fromkeys(LISTS, TENANT))
    async with open_redis(
        redis_server(work.URL), names=names, rules=Rules(), clock=SystemClock(), translate=translate
    ) as ports:
        yield ports


@asynccontextmanager
async def opened() -> AsyncIterator[None]:
    """Connect for the submits below."""
    global _ports
    async with connected() as _ports:
        yield


async def submit(kind: str, value: float) -> None:
    """One job, awaited."""
    assert _ports is not None
    await _ports.queue.submit([_job(f"/{kind}/{value}")])


async def bulk(count: int) -> None:
    """A thousand a call, a few of them under way at a time."""
    assert _ports is not None
    queue = _ports.queue
    await work.in_portions(count, BULK, lambda numbers: queue.submit(new_jobs(len(numbers), numbers.start)))


def worker_argv() -> list[str]:
    """How our worker is started."""
    return [sys.executable, "-m", "bench.redis.ours"]


async def _work() -> None:
    clock, pace = SystemClock(), Pace()
    async with connected() as ports:
        worker = Worker(
            ports.queue,
            handlers,
            worker_id=WorkerId(f"bench-{os.getpid()}"),
            concurrency=CONCURRENCY,
            clock=clock,
            pace=pace,
        )
        reaper = Reaper(ports.reaper(), interval=50.0, between=0.1)
        await run_crew(worker, ports.queue, Nothing(), clock, pace, (reaper,))  # type: ignore[arg-type]


if __name__ == "__main__":
    run(_work())
