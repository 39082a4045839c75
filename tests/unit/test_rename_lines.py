"""A rename is ordered against work on the path it takes as on the one it leaves, on every queue."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from penstock.engines.sqlite import open_sqlite
from penstock.model.jobs import JobId, Lease, NewJob, WorkerId
from penstock.model.outcomes import DONE
from penstock.model.rules import Rules
from penstock.model.states import State
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from tests.contract.engines import BookedStore
from tests.contract.redis_store import open_redis_store
from tests.support.clock import FakeClock
from tests.support.jobs import OTHER_TENANT, a_document_delete, a_job, a_rename

A, B, C = "/own/a.txt", "/own/b.txt", "/own/c.txt"
W = WorkerId("w")


class Line:
    """A queue, and a worker that takes what it can get."""

    def __init__(self, queue: Queue, desk: Desk, clock: FakeClock) -> None:
        self._queue = queue
        self._clock = clock
        self.desk = desk

    async def submit(self, *jobs: NewJob) -> list[JobId]:
        return [receipt.job_id for job in jobs for receipt in await self._queue.submit([job])]

    async def claim(self) -> list[Lease]:
        """All that may run now; what came too early has its time again."""
        self._clock.advance(2)
        await self._queue.beat(W, concurrency=10)
        await self._queue.promote()
        return await self._queue.claim(W, 10)

    async def settle(self, leases: Sequence[Lease]) -> None:
        await self._queue.settle([(lease, DONE) for lease in leases])

    async def drain(self) -> list[list[JobId]]:
        """What ran together, one round after another."""
        rounds: list[list[JobId]] = []
        while leases := await self.claim():
            rounds.append([lease.job_id for lease in leases])
            await self.settle(leases)
        return rounds


@pytest.fixture(params=["database", "redis"])
async def line(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Line]:
    clock = FakeClock()
    if request.param == "database":
        store = await open_sqlite(tmp_path, rules=Rules(), clock=clock)
        yield Line(store.queue, store.desk, clock)
        await store.close()
        return
    book = await open_sqlite(tmp_path, rules=Rules(), clock=clock, booked=True)
    engine = await open_redis_store(tmp_path, Rules(), clock)
    booked = BookedStore(book, engine.queue, engine.desk, engine)
    yield Line(booked.queue, booked.desk, clock)
    await booked.close()


@pytest.mark.parametrize("later", [a_job(B), a_document_delete(B), a_rename(B, C), a_rename(C, B)])
async def test_what_comes_to_the_new_path_later_waits_for_the_rename(line: Line, later: NewJob) -> None:
    """However urgent: else the rename would put an older document over it, or bring a deleted one back."""
    rename, second = await line.submit(a_rename(A, B), later)

    assert await line.drain() == [[rename], [second]]


async def test_a_rename_waits_for_what_came_to_its_new_path_before(line: Line) -> None:
    """What runs there ends first, and so does what waits there."""
    earlier, delete = await line.submit(a_job(B), a_document_delete(C))
    first = await line.claim()
    (rename,) = await line.submit(a_rename(A, B))

    assert await line.claim() == []
    await line.settle(first)

    assert sorted(lease.job_id for lease in first) == sorted([earlier, delete])
    assert await line.drain() == [[rename]]


@pytest.mark.parametrize("last", [A, B])
async def test_a_rename_waits_for_both_its_paths(line: Line, last: str) -> None:
    """Whichever of them is through first, the other counts too."""
    await line.submit(a_job(A), a_job(B))
    leases = {lease.payload.file_path: lease for lease in await line.claim()}  # type: ignore[union-attr]
    (rename,) = await line.submit(a_rename(A, B))

    await line.settle([lease for path, lease in leases.items() if path != last])
    assert await line.claim() == []
    await line.settle([leases[last]])

    assert await line.drain() == [[rename]]


async def test_a_rename_that_is_cancelled_lets_nobody_past_another(line: Line) -> None:
    """Who waited for it goes on waiting for what is before them on their own path."""
    await line.submit(a_job(B), a_job(A))
    running = await line.claim()
    rename, again = await line.submit(a_rename(A, B), a_job(B))

    await line.desk.cancel([rename])
    assert await line.claim() == []
    await line.settle(running)

    assert await line.drain() == [[again]]


async def test_a_delete_of_the_new_path_does_not_end_the_rename(line: Line) -> None:
    """Else the document would stay where its file no longer is."""
    rename, _ = await line.submit(a_rename(A, B), a_document_delete(B))

    found = await line.desk.find(rename)
    assert found is not None
    assert found.state is State.READY


async def test_a_file_moved_again_and_again_is_moved_in_order(line: Line) -> None:
    """Two files that change places over a third name end as they should."""
    ids = await line.submit(a_rename(A, C), a_rename(B, A), a_rename(C, B))

    assert await line.drain() == [[job] for job in ids]


async def test_renames_that_share_no_path_run_beside_each_other(line: Line) -> None:
    """Nothing waits for what it does not touch: another path, collection or tenant."""
    ids = await line.submit(
        a_rename(A, B), a_job(C), a_job(B, collection="drafts"), a_job(B, tenant=OTHER_TENANT)
    )

    (together,) = await line.drain()
    assert sorted(together) == sorted(ids)
