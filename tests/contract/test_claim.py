"""A claim: one holder, one lease, one token."""

import asyncio

import pytest

from penstock.model.jobs import COUNT_LIMIT, Progress, WorkerId
from penstock.model.outcomes import DONE, RELEASE
from penstock.model.payloads import ItemType
from penstock.model.states import State
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from tests.contract.engines import Home, Store, with_rules
from tests.contract.steps import LEASE, W1, W2, all_jobs, claim_one, claimed, found, run_next, submit
from tests.support.clock import FakeClock
from tests.support.jobs import a_folder, a_job, a_note


async def test_a_lease_says_what_the_worker_needs(queue: Queue, clock: FakeClock) -> None:
    """C3: holder, end, job and payload are on the lease."""
    job = a_job(priority=7, branch="dev", metadata={"k": "v"}, document_id="doc-1", collection="books")
    await submit(queue, job)

    lease = await claim_one(queue)

    assert (lease.job_id, lease.worker, lease.until) == (job.id, W1, clock.now() + LEASE)
    assert (lease.tenant, lease.collection, lease.priority) == (job.tenant, "books", 7)
    assert (lease.item_type, lease.op, lease.payload) == (ItemType.FILE, job.op, job.payload)
    assert (lease.branch, lease.document_id, lease.metadata_json) == ("dev", "doc-1", '{"k":"v"}')
    assert (lease.attempt, lease.crashes, lease.delete_first, lease.alone) == (1, 0, False, False)


async def test_a_claimed_job_is_recorded(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C3: the store knows who holds it, since when and until when."""
    (job,) = await submit(queue, a_job())
    clock.advance(5)

    await claim_one(queue)

    kept = await found(desk, job)
    assert (kept.state, kept.worker) == (State.LEASED, W1)
    assert (kept.lease_until, kept.started_at) == (clock.now() + LEASE, clock.now())


async def test_an_empty_queue_gives_nothing(queue: Queue) -> None:
    """C3: there is nothing to claim, and that is no error."""
    assert await queue.claim(W1, 10) == []


@pytest.mark.parametrize("limit", [0, 1, 3, 5, 9])
async def test_a_claim_keeps_its_limit(queue: Queue, limit: int) -> None:
    """C3: never more than asked for, nor more than there are."""
    ids = await submit(queue, *(a_job() for _ in range(5)))

    assert await claimed(queue, limit) == ids[:limit]


@pytest.mark.parametrize("idle", [True, False])
@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 8, 20])
async def test_a_claim_nobody_heard_the_answer_of_costs_nothing(
    queue: Queue, desk: Desk, turns: int, idle: bool
) -> None:
    """C3: wherever it was cut off, its worker's next claim gets the jobs, in their first attempt."""
    ids = await submit(queue, a_job(), a_job())
    cut_off = asyncio.create_task(queue.claim(W1, 2, idle=idle))
    for _ in range(turns):
        await asyncio.sleep(0)
    cut_off.cancel()
    heard = (await asyncio.gather(cut_off, return_exceptions=True))[0]

    leases = heard if isinstance(heard, list) else await queue.claim(W1, 2, idle=idle)

    assert [(lease.job_id, lease.attempt) for lease in leases] == [(job, 1) for job in ids]
    assert await queue.settle([(lease, DONE) for lease in leases]) == [True, True]
    assert [(await found(desk, job)).state for job in ids] == [State.DONE, State.DONE]


async def test_a_claimed_job_is_not_handed_out_again(queue: Queue) -> None:
    """C3: one holder at a time."""
    first, second = await submit(queue, a_job(), a_job())

    assert await claimed(queue, 1, W1) == [first]
    assert await claimed(queue, 5, W2) == [second]
    assert await claimed(queue, 5, W1) == []


async def test_workers_that_claim_at_once_never_share(queue: Queue) -> None:
    """C3: ten workers asking at the same time get each job once."""
    ids = await submit(queue, *(a_job() for _ in range(25)))
    workers = [WorkerId(f"w{number}") for number in range(10)]

    leases = await asyncio.gather(*(queue.claim(worker, 3) for worker in workers))

    handed_out = [lease.job_id for some in leases for lease in some]
    assert sorted(handed_out) == sorted(ids)
    assert all(lease.worker == worker for worker, some in zip(workers, leases, strict=True) for lease in some)


async def test_processes_that_claim_at_once_never_share(home: Home, store: Store) -> None:
    """C3: the same holds between processes on one store."""
    other = await home.open()
    ids = await submit(store.queue, *(a_job() for _ in range(20)))

    found_by = await asyncio.gather(
        *(which.queue.claim(worker, 2) for which, worker in [(store, W1), (other, W2)] * 5)
    )

    assert sorted(lease.job_id for some in found_by for lease in some) == sorted(ids)


async def test_what_one_process_submits_another_claims(home: Home, store: Store) -> None:
    """C1: a submit that returned is seen by every process."""
    other = await home.open()
    ids = await submit(store.queue, a_job(), a_job())

    assert await claimed(other.queue) == ids


async def test_every_attempt_has_its_own_token(queue: Queue) -> None:
    """C3: a worker that claims the same job again is another attempt."""
    await submit(queue, a_job())
    tokens = set()
    for _ in range(5):
        lease = await claim_one(queue)
        tokens.add(lease.token)
        await queue.settle([(lease, RELEASE)])

    assert len(tokens) == 5


@with_rules(lease_seconds_by_type={ItemType.FOLDER: 3600.0})
async def test_a_lease_lasts_as_its_type_says(queue: Queue, clock: FakeClock) -> None:
    """C3: the length of a lease is set per item type."""
    folder, note = await submit(queue, a_folder(), a_note())

    until = {lease.job_id: lease.until - clock.now() for lease in await queue.claim(W1, 2)}

    assert until == {folder: 3600.0, note: LEASE}


async def test_a_lease_outlives_a_crash_of_the_store(home: Home, store: Store) -> None:
    """C3: the attempt is recorded: after a crash it is still its holder's, and can be settled."""
    (job,) = await submit(store.queue, a_job())
    lease = await claim_one(store.queue)

    after = await home.crash(store)

    assert await claimed(after.queue, worker=W2) == []
    assert await after.queue.settle([(lease, DONE)]) == [True]
    assert (await found(after.desk, job)).state is State.DONE


async def test_progress_is_kept_while_it_runs(queue: Queue, desk: Desk) -> None:
    """C3: how far the holder is can be seen, and a new attempt starts from nothing."""
    (job,) = await submit(queue, a_job())
    lease = await claim_one(queue)

    assert await queue.progress(lease, Progress(done=3, total=9))
    assert (await found(desk, job)).progress == Progress(done=3, total=9)

    await queue.settle([(lease, RELEASE)])
    await claim_one(queue)
    assert (await found(desk, job)).progress is None


async def test_the_largest_progress_is_kept(queue: Queue, desk: Desk) -> None:
    """C3: every count the model allows, an engine can hold."""
    (job,) = await submit(queue, a_job())
    told = Progress(done=COUNT_LIMIT, total=COUNT_LIMIT)

    assert await queue.progress(await claim_one(queue), told)

    assert (await found(desk, job)).progress == told


async def test_ended_jobs_are_not_handed_out(queue: Queue, desk: Desk) -> None:
    """C5: what has ended stays ended."""
    await submit(queue, a_job(), a_job())
    await run_next(queue)
    await run_next(queue)

    assert await claimed(queue) == []
    assert {job.state for job in await all_jobs(desk)} == {State.DONE}


async def test_a_submit_wakes_who_waits_for_work(queue: Queue) -> None:
    """C1: a worker that found nothing learns of new work without asking again and again."""
    while await queue.arrival(0.001):
        pass
    waiting = asyncio.create_task(queue.arrival(60))
    await asyncio.sleep(0)

    await submit(queue, a_job())

    assert await asyncio.wait_for(waiting, 30)


async def test_waiting_for_work_ends_when_the_time_is_up(queue: Queue) -> None:
    """C1: with nothing new the wait ends and says so."""
    answers = [await queue.arrival(0.001) for _ in range(3)]

    assert answers[-1] is False
