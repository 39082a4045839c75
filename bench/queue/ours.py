"""Our side: the same jobs through the store, the worker runtime and real processes."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.jobs import NewJob, TenantId, WorkerId
from penstock.model.outcomes import DONE
from penstock.model.payloads import File
from penstock.model.rules import Rules
from penstock.settings import load
from penstock.wiring.workers import run_supervisor

T = TypeVar("T")
BULK = 1000
CONCURRENCY = 256


def new_jobs(count: int, start: int = 0, run_at: float | None = None) -> list[NewJob]:
    """File jobs of one tenant; the path makes the key, so keys are as scattered as in life."""
    return [
        NewJob(
            tenant=TenantId("local"),
            collection="bench",
            payload=File(file_path=f"/bench/{number:012d}.md", file_type="document", size_bytes=12_345),
            run_at=run_at,
        )
        for number in range(start, start + count)
    ]


def with_store(folder: Path, work: Callable[[SqliteStore], Awaitable[T]]) -> T:
    """Run `work` on an open store."""

    async def run() -> T:
        async with opened(folder) as store:
            return await work(store)

    return asyncio.run(run())


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[SqliteStore]:
    """A store, closed at the end."""
    store = await open_sqlite(folder, rules=Rules(), clock=SystemClock())
    try:
        yield store
    finally:
        await store.close()


async def submit_bulk(store: SqliteStore, jobs: list[NewJob]) -> None:
    """A thousand a call."""
    for start in range(0, len(jobs), BULK):
        await store.queue.submit(jobs[start : start + BULK])


async def submit_single(store: SqliteStore, jobs: list[NewJob]) -> None:
    """One a call, each awaited."""
    for job in jobs:
        await store.queue.submit([job])


async def cycle(store: SqliteStore, batch: int) -> int:
    """Claim a batch and settle it, both on disk when answered, as the raw limit's are; how many."""
    leases = await store.queue.claim(WorkerId("bench"), batch, idle=False)
    await store.queue.settle([(lease, DONE) for lease in leases])
    return len(leases)


def fill(folder: Path, count: int, run_at: float | None = None, start: int = 0) -> None:
    """Put so many jobs in, and wait until they are no longer on their way to the disk."""
    for at in range(start, start + count, 50_000):
        jobs = new_jobs(min(50_000, start + count - at), at, run_at)
        with_store(folder, lambda store, jobs=jobs: submit_bulk(store, jobs))  # type: ignore[misc]
    os.sync()


def worker(folder: Path, count: int) -> None:
    """The product's worker, as `penstock worker` starts it."""
    flags = {"data": str(folder), "worker.count": count, "worker.concurrency": CONCURRENCY}
    sys.exit(run_supervisor(load(None, {}, flags), handlers="bench.queue.jobs:handlers"))


async def paced_submits(store: SqliteStore, per_second: float, seconds: float) -> None:
    """Jobs that carry the time just before their submit."""
    begin = time.monotonic()
    for number in range(int(per_second * seconds)):
        await asyncio.sleep(max(0.0, begin + number / per_second - time.monotonic()))
        path = f"/stamp/{number}/{time.monotonic_ns()}"
        payload = File(file_path=path)
        await store.queue.submit([NewJob(tenant=TenantId("local"), collection="bench", payload=payload)])


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["worker", folder, count]:
            worker(Path(folder), int(count))
        case ["pace", folder, per_second, seconds]:
            with_store(Path(folder), lambda s: paced_submits(s, float(per_second), float(seconds)))
