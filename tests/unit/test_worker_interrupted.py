"""An attempt that ends before its first step leaves nothing behind in its worker."""

import asyncio
from pathlib import Path

import pytest

from penstock.engines.sqlite import open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.jobs import JobId, Lease, Renewal, WorkerId
from penstock.model.payloads import ItemType
from penstock.model.rules import Rules
from penstock.ports.telemetry import Silent
from penstock.work.handlers import Handlers, Run
from penstock.work.pace import Pace
from penstock.work.worker import Worker
from tests.support.jobs import a_job

FIRST = JobId("01890000-0000-7000-8000-000000000001")
LOST = Renewal(job_id=FIRST, held=False)
CANCELLED = Renewal(job_id=FIRST, held=True, cancel_code="ERR_CANCELLED")


class Interrupted(Worker):
    """Its keeper has bad news of the first job just before that begins, as after a pause of the machine."""

    renewal: Renewal | None = None

    def _start(self, lease: Lease) -> None:
        super()._start(lease)
        if self.renewal is not None:
            self.renewed([(lease, self.renewal)])
            self.renewal = None


@pytest.mark.parametrize("renewal", [LOST, CANCELLED], ids=["lost", "cancelled"])
async def test_its_slot_is_free_again(tmp_path: Path, renewal: Renewal) -> None:
    """The only slot: the next job gets it, and a stop ends the worker long before its grace does."""
    seen: list[str] = []
    over = asyncio.Event()
    handlers = Handlers()

    async def handle(run: Run) -> None:
        seen.append(run.lease.collection)
        over.set()

    for item_type in ItemType:
        handlers.on(item_type)(handle)
    store = await open_sqlite(tmp_path, rules=Rules(), clock=SystemClock())
    try:
        worker = Interrupted(
            store.queue,
            handlers,
            worker_id=WorkerId("w"),
            concurrency=1,
            clock=SystemClock(),
            pace=Pace(grace=60.0),
        )
        worker.renewal = renewal
        running = asyncio.create_task(worker.run())
        await store.queue.submit([a_job(id=FIRST, collection="first")])
        await store.queue.submit([a_job(collection="second")])
        async with asyncio.timeout(30):
            await over.wait()
            worker.stop()
            await running
    finally:
        await store.close()

    assert seen
    assert worker.running == []


class Clumsy(Silent):
    """Stumbles over whatever begins."""

    def __init__(self) -> None:
        self.over = asyncio.Event()

    def began(self, lease: Lease) -> None:
        raise RuntimeError("stumbled")

    def settled(self, *_: object, **__: object) -> None:
        self.over.set()


async def test_an_attempt_nobody_could_write_down_ends(tmp_path: Path) -> None:
    """The job waits for its retry, its slot is free, and a stop ends the worker at once."""
    telemetry = Clumsy()
    store = await open_sqlite(tmp_path, rules=Rules(), clock=SystemClock())
    try:
        worker = Worker(
            store.queue,
            Handlers(),
            worker_id=WorkerId("w"),
            concurrency=1,
            clock=SystemClock(),
            pace=Pace(grace=60.0),
            telemetry=telemetry,
        )
        running = asyncio.create_task(worker.run())
        await store.queue.submit([a_job(id=FIRST)])
        async with asyncio.timeout(30):
            await telemetry.over.wait()
            worker.stop()
            await running
        counts = await store.desk.counts()
    finally:
        await store.close()

    assert worker.running == []
    assert counts.delayed == 1
