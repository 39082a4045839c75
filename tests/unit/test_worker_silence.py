"""A worker others cannot hear begins nothing, and one that has left is not heard of again."""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest

from penstock.engines.sqlite import open_sqlite, writer
from penstock.engines.sqlite.queue import SqliteQueue
from penstock.engines.system.clock import SystemClock
from penstock.model.jobs import JobId, Lease, WorkerId
from penstock.model.payloads import ItemType
from penstock.model.rules import Rules
from penstock.model.states import State
from penstock.work.crew import run_crew
from penstock.work.handlers import Handlers, Run
from penstock.work.pace import Pace
from penstock.work.worker import Worker
from tests.support.clock import FakeClock
from tests.support.jobs import a_job

FIRST = JobId("01890000-0000-7000-8000-000000000001")
PACE = Pace()


class Away:
    """A queue whose first lease comes after its worker was stopped for as long as it takes to be dead."""

    def __init__(self, queue: SqliteQueue, clock: FakeClock) -> None:
        self._queue = queue
        self._clock = clock
        self.told: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)

    async def beat(self, worker: WorkerId, *, concurrency: int) -> None:
        await self._queue.beat(worker, concurrency=concurrency)
        self.told.append("beat")

    async def claim(self, worker: WorkerId, limit: int, *, idle: bool = True) -> list[Lease]:
        leases = await self._queue.claim(worker, limit, idle=idle)
        if leases:
            if "lease" not in self.told:
                self._clock.advance(PACE.dead_after)
            self.told.append("lease")
        return leases


async def test_what_was_given_in_a_silence_goes_back_and_a_beat_comes_first(tmp_path: Path) -> None:
    """Others may take what a silent worker holds for a dead one's: it begins nothing until it was heard."""
    clock, over, handlers = FakeClock(), asyncio.Event(), Handlers()
    attempts: list[int] = []

    async def handle(run: Run) -> None:
        attempts.append(run.lease.token)
        over.set()

    for item_type in ItemType:
        handlers.on(item_type)(handle)
    store = await open_sqlite(tmp_path, rules=Rules(), clock=clock)
    try:
        away = Away(store.queue, clock)
        worker = Worker(away, handlers, worker_id=WorkerId("w"), concurrency=1, clock=clock, pace=PACE)
        await store.queue.submit([a_job(id=FIRST)])
        running = asyncio.create_task(worker.run())
        async with asyncio.timeout(30):
            await over.wait()
            worker.stop()
            await running
        job = await store.desk.find(FIRST)
    finally:
        await store.close()

    assert away.told == ["beat", "lease", "beat", "lease"]
    assert len(attempts) == 1
    assert job is not None
    assert (job.state, job.retry_count, job.crashes) == (State.DONE, 0, 0)


async def test_a_worker_that_left_is_not_heard_of_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its last beats do not wait for the disk, its leaving does: none of them may come after it."""

    def slow(descriptor: int) -> None:
        time.sleep(0.2)
        os.fdatasync(descriptor)

    monkeypatch.setattr(writer, "sync_log", slow)
    clock, pace = SystemClock(), Pace(beat=0.02, look_after=0.02)
    store = await open_sqlite(tmp_path, rules=Rules(), clock=clock)
    try:
        worker = Worker(
            store.queue, Handlers(), worker_id=WorkerId("w"), concurrency=1, clock=clock, pace=pace
        )
        crew = asyncio.create_task(run_crew(worker, store.queue, store, clock, pace))
        async with asyncio.timeout(30):
            while not await store.desk.workers():  # noqa: ASYNC110  # seen from outside
                await asyncio.sleep(0.01)
            worker.stop()
            await crew

        assert await store.desk.workers() == []
    finally:
        await store.close()
