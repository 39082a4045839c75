"""The whole program on Redis: every job is booked in SQLite first, and ends there first.

No peer promises that; it is measured to show its price.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.queue.ours import BULK, CONCURRENCY, new_jobs
from bench.redis import work
from penstock.model.jobs import NewJob, TenantId
from penstock.model.payloads import File
from penstock.settings import Settings, load
from penstock.wiring.store import Store, open_store
from penstock.wiring.workers import run_supervisor

JOBS = 10_000
SETTINGS = "the whole program: SQLite's WAL with `synchronous=FULL` beside Redis"
_store: Store | None = None


def settings(workers: int = 1) -> Settings:
    """A data folder of its own, the queue on the server all are measured on."""
    folder = Path(os.environ["BENCH_STORE"]).with_suffix(".data")
    flags = {
        "data": str(folder),
        "queue": work.URL,
        "worker.count": workers,
        "worker.concurrency": CONCURRENCY,
    }
    return load(None, {}, flags)


@asynccontextmanager
async def opened() -> AsyncIterator[None]:
    """The store, as any door of the program opens it."""
    global _store
    async with open_store(settings()) as _store:
        yield


async def submit(kind: str, value: float) -> None:
    """One job, awaited."""
    assert _store is not None
    payload = File(file_path=f"/{kind}/{value}")
    await _store.queue.submit([NewJob(tenant=TenantId("local"), collection="bench", payload=payload)])


async def bulk(count: int) -> None:
    """A thousand a call."""
    assert _store is not None
    for start in range(0, count, BULK):
        await _store.queue.submit(new_jobs(min(BULK, count - start), start))


def worker_argv() -> list[str]:
    """A supervisor with one worker, as the program starts it."""
    return [sys.executable, "-m", "bench.redis.booked"]


if __name__ == "__main__":
    sys.exit(run_supervisor(settings(), handlers="bench.queue.jobs:handlers"))
