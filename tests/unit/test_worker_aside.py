"""Attempts that stand aside: they keep their lease, but neither slot nor time of theirs is counted."""

from __future__ import annotations

import asyncio
from pathlib import Path

from penstock.engines.sqlite import open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.jobs import WorkerId
from penstock.model.payloads import ItemType
from penstock.model.rules import Rules
from penstock.ports.queue import Queue
from penstock.work.handlers import Handler, Handlers, Run
from penstock.work.pace import Pace
from penstock.work.worker import ASIDE_TIMES_MAX, Worker
from tests.support.jobs import a_job


def a_worker(queue: Queue, handler: Handler, pace: Pace) -> Worker:
    """With one slot."""
    handlers = Handlers()
    for item_type in ItemType:
        handlers.on(item_type)(handler)
    return Worker(queue, handlers, worker_id=WorkerId("w"), concurrency=1, clock=SystemClock(), pace=pace)


async def test_the_slot_of_who_stands_aside_is_another_ones(tmp_path: Path) -> None:
    """As many as may stand aside do; one more holds the only slot until one of them is back and ends."""
    began: list[bool] = []
    ended, most, every = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def handle(run: Run) -> None:
        with run.aside() as step_aside:
            began.append(ended.is_set())
            step_aside()
            step_aside()
            if len(began) == ASIDE_TIMES_MAX + 1:
                most.set()
            if len(began) == ASIDE_TIMES_MAX + 5:
                every.set()
            await ended.wait()

    store = await open_sqlite(tmp_path, rules=Rules(), clock=SystemClock())
    try:
        worker = a_worker(store.queue, handle, Pace())
        await store.queue.submit([a_job(collection=f"c{n}") for n in range(ASIDE_TIMES_MAX + 5)])
        running = asyncio.create_task(worker.run())
        async with asyncio.timeout(20.0):
            await most.wait()
            held = len(worker.held())
            ended.set()
            await every.wait()
            worker.stop()
            await running
    finally:
        await store.close()

    assert held == ASIDE_TIMES_MAX + 1
    assert began == [False] * (ASIDE_TIMES_MAX + 1) + [True] * 4


async def test_time_spent_aside_is_no_time_of_the_attempt(tmp_path: Path) -> None:
    """It outlives the limit on runs and the one on progress there, and is held to both once it is back."""
    ends: list[str] = []
    over = asyncio.Event()

    async def handle(run: Run) -> None:
        with run.aside() as step_aside:
            step_aside()
            await asyncio.sleep(2.0)
        held.append(run.lease in worker.held())
        ends.append("back")
        try:
            await asyncio.sleep(30.0)
        except asyncio.CancelledError:
            ends.append("interrupted")
            over.set()
            raise

    held: list[bool] = []
    store = await open_sqlite(tmp_path, rules=Rules(), clock=SystemClock())
    try:
        worker = a_worker(store.queue, handle, Pace(timeout=0.8, stall=0.5))
        await store.queue.submit([a_job(max_retries=0)])
        running = asyncio.create_task(worker.run())
        async with asyncio.timeout(20.0):
            await over.wait()
            worker.stop()
            await running
    finally:
        await store.close()

    assert ends == ["back", "interrupted"]
    assert held == [True]
