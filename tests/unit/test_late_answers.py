"""A claim that is committed and answered too late, or not at all: its jobs wait for nobody's lease to end."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.model.errors import Unavailable
from penstock.model.jobs import WorkerId
from penstock.model.outcomes import DONE
from penstock.model.rules import Rules
from tests.support.clock import FakeClock
from tests.support.disks import Disk
from tests.support.jobs import a_job

W1, W2 = WorkerId("w1"), WorkerId("w2")
PATIENCE = 20.0


@pytest.fixture
async def store(tmp_path: Path, disk: Disk, clock: FakeClock) -> AsyncIterator[SqliteStore]:
    opened = await open_sqlite(tmp_path, rules=Rules(), clock=clock)
    yield opened
    disk.go_on()
    await opened.close()


async def cut_off(store: SqliteStore, disk: Disk) -> None:
    """A claim that is committed, and whose worker waits no longer while the disk is waited for."""
    disk.stall()
    late = asyncio.create_task(store.queue.claim(W1, 1, idle=False))
    await asyncio.to_thread(disk.waited_for.wait, PATIENCE)
    late.cancel()
    await asyncio.gather(late, return_exceptions=True)
    disk.go_on()


async def test_jobs_of_a_claim_answered_too_late_go_to_the_next_one(store: SqliteStore, disk: Disk) -> None:
    """The worker waits no longer; what was leased to it meanwhile is its own with the next claim, unspent."""
    ids = [receipt.job_id for receipt in await store.queue.submit([a_job(), a_job()])]
    running = (await store.queue.claim(W1, 1))[0]
    await cut_off(store, disk)

    (lease,) = await store.queue.claim(W1, 1, idle=False)

    assert {running.job_id, lease.job_id} == set(ids)
    assert lease.attempt == 1
    assert await store.queue.settle([(running, DONE), (lease, DONE)]) == [True, True]


async def test_jobs_of_a_claim_the_disk_refused_are_not_left_leased(
    store: SqliteStore, disk: Disk, tmp_path: Path
) -> None:
    """The claim is told to have failed though others see it; the next one gives its jobs back first."""
    ids = [receipt.job_id for receipt in await store.queue.submit([a_job(), a_job()])]
    disk.fails = True
    with closing(sqlite3.connect(tmp_path / "penstock.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM unified_queue").fetchone()  # keeps a copy from being whole
        with pytest.raises(Unavailable):
            await store.queue.claim(W1, 2, idle=False)
        reader.execute("ROLLBACK")
    disk.fails = False

    (first,) = await store.queue.claim(W1, 1, idle=False)
    (other,) = await store.queue.claim(W2, 1, idle=False)

    assert [first.job_id, other.job_id] == ids
    assert [first.attempt, other.attempt] == [1, 1]


async def test_what_another_has_claimed_meanwhile_stays_its_own(
    store: SqliteStore, disk: Disk, clock: FakeClock
) -> None:
    """A worker that asks again after long has no say any more in whose job it is."""
    await store.queue.submit([a_job()])
    await cut_off(store, disk)
    clock.advance(Rules().lease_seconds + 1)
    await store.queue.rescue()
    (lease,) = await store.queue.claim(W2, 1)

    assert await store.queue.claim(W1, 1) == []

    assert await store.queue.settle([(lease, DONE)]) == [True]
