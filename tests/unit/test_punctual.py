"""What tells others that somebody is alive waits for nobody's disk."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.model.errors import Unavailable
from penstock.model.jobs import WorkerId
from penstock.model.rules import Rules
from tests.support.clock import FakeClock
from tests.support.disks import Disk
from tests.support.jobs import a_job

W = WorkerId("w")
PATIENCE = 20.0


@pytest.fixture
async def store(tmp_path: Path, disk: Disk) -> AsyncIterator[SqliteStore]:
    opened = await open_sqlite(tmp_path, rules=Rules(), clock=FakeClock())
    yield opened
    disk.go_on()
    await opened.close()


async def test_a_beat_and_a_renewal_pass_a_disk_that_stands_still(store: SqliteStore, disk: Disk) -> None:
    """Others see them while a submit of the same process still waits for its sync."""
    await store.queue.submit([a_job()])
    leases = await store.queue.claim(W, 1)
    disk.stall()
    submitting = asyncio.create_task(store.queue.submit([a_job()]))
    await asyncio.to_thread(disk.waited_for.wait, PATIENCE)

    async with asyncio.timeout(PATIENCE):
        await store.queue.beat(W, concurrency=1)
        (renewal,) = await store.queue.extend(leases)
        (seen,) = await store.desk.workers()

    assert not submitting.done()
    assert (seen.id, renewal.held) == (W, True)
    disk.go_on()
    await submitting


async def test_a_closed_store_takes_no_beat(tmp_path: Path) -> None:
    """Neither the first one nor a later one."""
    for beats in (0, 1):
        store = await open_sqlite(tmp_path, rules=Rules(), clock=FakeClock())
        for _ in range(beats):
            await store.queue.beat(W, concurrency=1)
        await store.close()

        with pytest.raises(Unavailable, match="closed"):
            await store.queue.beat(W, concurrency=1)
