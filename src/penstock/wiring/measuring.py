"""A queue measured by itself: jobs of nobody go through an empty queue on the same server or disk."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from penstock.engines.system.clock import SystemClock
from penstock.model.inventory import Measured
from penstock.model.jobs import NewJob, TenantId, WorkerId
from penstock.model.outcomes import DONE
from penstock.model.payloads import File
from penstock.model.rules import Rules
from penstock.ports.queue import Queue
from penstock.settings import Settings
from penstock.wiring.store import rules_of

PORTION = 100
LAPS = 50
WORKER = WorkerId("bench")


async def measure(settings: Settings, jobs: int) -> Measured:
    """Submit so many, claim and settle them, then time some one by one; nothing stays behind."""
    async with _an_empty_queue(settings) as queue:
        began = time.perf_counter()
        for at in range(0, jobs, PORTION):
            await queue.submit([_job(number) for number in range(at, min(at + PORTION, jobs))])
        submitted = time.perf_counter()
        await _drained(queue, jobs)
        drained = time.perf_counter()
        laps = [await _lap(queue, jobs + number) for number in range(LAPS)]
    return Measured(
        jobs=jobs,
        submit_seconds=submitted - began,
        drain_seconds=drained - submitted,
        laps=tuple(sorted(laps)),
    )


async def _drained(queue: Queue, jobs: int) -> None:
    done = 0
    while done < jobs:
        leases = await queue.claim(WORKER, PORTION)
        await queue.settle([(lease, DONE) for lease in leases])
        done += len(leases)


async def _lap(queue: Queue, number: int) -> float:
    began = time.perf_counter()
    await queue.submit([_job(number)])
    await _drained(queue, 1)
    return time.perf_counter() - began


def _job(number: int) -> NewJob:
    return NewJob(
        tenant=TenantId("bench"), collection="bench", payload=File(file_path=f"/bench/{number}.txt")
    )


@asynccontextmanager
async def _an_empty_queue(settings: Settings) -> AsyncIterator[Queue]:
    rules = rules_of(settings)
    opened = _on_disk if settings.queue.scheme == "database" else _on_redis
    async with opened(settings, rules) as queue:
        yield queue


@asynccontextmanager
async def _on_disk(settings: Settings, rules: Rules) -> AsyncIterator[Queue]:
    from penstock.engines.sqlite import open_sqlite

    settings.data.mkdir(parents=True, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="bench-", dir=settings.data)
    try:
        store = await open_sqlite(type(settings.data)(folder), rules=rules, clock=SystemClock())
        try:
            yield store.queue
        finally:
            await store.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def _on_redis(settings: Settings, rules: Rules) -> AsyncIterator[Queue]:
    from penstock.engines.redis.names import Names
    from penstock.engines.redis.store import ports_on
    from penstock.wiring.redis import open_redis

    root = f"penstock:bench:{secrets.token_hex(4)}:"
    names = Names(
        home="bench",
        root=root,
        queue=f"{root}queue",
        lists={5: f"{root}queue:normal"},
        processing=f"{root}worker:%s:processing",
        heartbeat=f"{root}hb:%s",
        completed=f"{root}completed",
        dead_letter=f"{root}dead-letter",
    )
    clock = SystemClock()
    async with open_redis(settings, clock) as client:
        engine = ports_on(client, names=names, rules=rules, clock=clock)
        try:
            yield engine.queue
        finally:
            await engine.survey(priorities={}, rate_key=f"{root}rate").erase()
