"""The rescuer judges by silence only after it has watched without a break itself."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from penstock.engines.sqlite import open_sqlite
from penstock.model.errors import Unavailable
from penstock.model.jobs import JobId, WorkerId
from penstock.model.rules import Rules
from penstock.work.pace import Pace
from penstock.work.rescuer import Rescuer
from tests.support.clock import FakeClock
from tests.support.jobs import a_job

PACE = Pace()


class Watched:
    """Only what a rescuer asks of a queue: told apart are certain and judging rounds."""

    def __init__(self) -> None:
        self.certain: list[bool] = []
        self.away = False

    async def rescue(self, *, certain: bool = False) -> Sequence[JobId]:
        if self.away:
            raise Unavailable("the store is away")
        self.certain.append(certain)
        return []


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def queue() -> Watched:
    return Watched()


@pytest.fixture
def rescuer(queue: Watched, clock: FakeClock) -> Rescuer:
    return Rescuer(queue, clock, PACE)  # type: ignore[arg-type]  # the one verb it uses


async def watch(rescuer: Rescuer, clock: FakeClock, seconds: float) -> None:
    for _ in range(int(seconds / PACE.rescue)):
        clock.advance(PACE.rescue)
        await rescuer.look()


async def test_it_watches_before_it_judges(rescuer: Rescuer, queue: Watched, clock: FakeClock) -> None:
    """A newcomer takes back only from the provably dead until the time of dying has passed."""
    await watch(rescuer, clock, PACE.dead_after - PACE.rescue)
    assert all(queue.certain)

    await watch(rescuer, clock, 1)
    assert queue.certain[-1] is False


@pytest.mark.parametrize("seconds", [3600.0, -3600.0])
async def test_a_turned_clock_makes_it_watch_anew(
    rescuer: Rescuer, queue: Watched, clock: FakeClock, seconds: float
) -> None:
    """When wall time jumps, every beat looks old: nobody is declared dead for it."""
    await watch(rescuer, clock, 20)
    clock.jump(seconds)
    await watch(rescuer, clock, PACE.dead_after - PACE.rescue)

    rounds = int((PACE.dead_after - PACE.rescue) / PACE.rescue)
    assert all(queue.certain[-rounds:])


async def test_having_been_away_makes_it_watch_anew(
    rescuer: Rescuer, queue: Watched, clock: FakeClock
) -> None:
    """A process that was stopped must not judge those who went on."""
    await watch(rescuer, clock, 20)
    clock.advance(60)
    await rescuer.look()

    assert queue.certain[-1] is True


async def test_a_store_out_of_reach_makes_it_watch_anew(
    rescuer: Rescuer, queue: Watched, clock: FakeClock
) -> None:
    """Silence while the store was away is nobody's fault."""
    await watch(rescuer, clock, 20)
    queue.away = True
    await watch(rescuer, clock, 1)
    queue.away = False
    await watch(rescuer, clock, 1)

    assert queue.certain[-1] is True


async def test_a_process_that_is_gone_is_taken_from_at_once(tmp_path: Path, clock: FakeClock) -> None:
    """Certain rounds rescue from a worker whose process no longer exists, and from nobody else."""
    store = await open_sqlite(tmp_path, rules=Rules(), clock=clock)
    try:
        gone, here = WorkerId("gone"), WorkerId("here")
        await store.queue.submit([a_job(), a_job()])
        for worker in (gone, here):
            await store.queue.beat(worker, concurrency=1)
            await store.queue.claim(worker, 1)
        other_boot = "UPDATE queue_workers SET process = 'earlier-boot:1:1:1' WHERE worker_id = 'gone'"
        await store.change(lambda db: db.execute(other_boot).rowcount)

        rescued = await store.queue.rescue(certain=True)

        assert len(rescued) == 1
        running = {worker.id: worker.running for worker in await store.desk.workers()}
        assert running == {gone: 0, here: 1}
    finally:
        await store.close()
