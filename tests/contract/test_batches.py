"""Batches: each child counted once, ended when sealed and the last child has ended."""

import asyncio

import pytest

from penstock.model.batches import Batch, BatchState
from penstock.model.errors import Refused
from penstock.model.jobs import BatchId
from penstock.model.outcomes import DONE, Failed, Retry
from penstock.ports.batches import Batches
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from tests.contract.engines import Home, Store
from tests.contract.steps import W1, all_jobs, claim_one, drain, run_next, submit
from tests.support.clock import FakeClock
from tests.support.jobs import a_document_delete, a_folder, a_job, a_rename, a_scan, an_error

PATH = "/reports/one.txt"


async def counts(batches: Batches, batch: BatchId) -> tuple[int, int, int]:
    """Total, done, failed."""
    found = await seen(batches, batch)
    return found.total, found.done, found.failed


async def seen(batches: Batches, batch: BatchId) -> Batch:
    found = await batches.batch(batch)
    assert found is not None
    return found


async def test_a_new_batch_is_open_and_empty(batches: Batches, clock: FakeClock) -> None:
    """C17: it names its parent and waits for children."""
    batch = await batches.open_batch("folder-job")

    assert await seen(batches, batch) == Batch(
        id=batch, parent="folder-job", total=0, done=0, failed=0, sealed=False, created_at=clock.now()
    )


async def test_a_parent_that_runs_again_finds_its_batch(queue: Queue, batches: Batches) -> None:
    """C17: a parent's batch carries its id; opening it again neither doubles nor empties it."""
    batch = await batches.open_batch("folder-job")
    await queue.submit([a_job()], batch=batch)

    again = await batches.open_batch("folder-job")

    assert again == batch == "folder-job"
    assert await counts(batches, batch) == (1, 0, 0)


async def test_children_are_counted_as_they_end(queue: Queue, batches: Batches, clock: FakeClock) -> None:
    """C17: each end moves one child; the batch ends with the last, when it was sealed before."""
    batch = await batches.open_batch()
    await queue.submit([a_job(), a_job(), a_job()], batch=batch)
    assert (await batches.seal_batch(batch)).state is BatchState.RUNNING

    await run_next(queue)
    await run_next(queue, Failed(an_error()))
    assert await counts(batches, batch) == (3, 1, 1)
    assert (await seen(batches, batch)).state is BatchState.RUNNING
    clock.advance(9)
    await run_next(queue)

    ended = await seen(batches, batch)
    assert (ended.state, ended.ended_at) == (BatchState.PARTLY_FAILED, clock.now())


async def test_an_unsealed_batch_does_not_end(queue: Queue, batches: Batches, clock: FakeClock) -> None:
    """C17: all its children may have ended, more may come; sealing then ends it."""
    batch = await batches.open_batch()
    await queue.submit([a_job()], batch=batch)
    await run_next(queue)
    assert (await seen(batches, batch)).state is BatchState.OPEN
    assert (await seen(batches, batch)).ended_at is None

    sealed = await batches.seal_batch(batch)

    assert (sealed.state, sealed.ended_at) == (BatchState.DONE, clock.now())


async def test_an_empty_sealed_batch_is_done(batches: Batches) -> None:
    """C17: a folder without files is no folder that never ends."""
    sealed = await batches.seal_batch(await batches.open_batch())

    assert (sealed.state, sealed.total) == (BatchState.DONE, 0)
    assert sealed.ended_at is not None


async def test_a_batch_whose_children_all_failed_has_failed(queue: Queue, batches: Batches) -> None:
    """C17: nothing done is a failure, not a partial one."""
    batch = await batches.open_batch()
    await queue.submit([a_job(), a_job()], batch=batch)
    await batches.seal_batch(batch)

    await run_next(queue, Failed(an_error()))
    await run_next(queue, Failed(an_error()))

    assert (await seen(batches, batch)).state is BatchState.FAILED


async def test_a_retry_is_no_end(queue: Queue, batches: Batches, clock: FakeClock) -> None:
    """C17: a child counts once, however many attempts it took."""
    batch = await batches.open_batch()
    await queue.submit([a_job()], batch=batch)
    await batches.seal_batch(batch)

    await run_next(queue, Retry(an_error()))
    assert await counts(batches, batch) == (1, 0, 0)
    clock.advance(60)
    await drain(queue)

    assert await counts(batches, batch) == (1, 1, 0)


@pytest.mark.parametrize("end", ["cancelled", "superseded"])
async def test_a_child_ended_from_outside_counts_as_failed(
    queue: Queue, desk: Desk, batches: Batches, end: str
) -> None:
    """C17: cancelled and superseded children end their batch like any other."""
    batch = await batches.open_batch()
    (receipt,) = await queue.submit([a_job(PATH)], batch=batch)
    await batches.seal_batch(batch)

    if end == "cancelled":
        await desk.cancel([receipt.job_id])
    else:
        await submit(queue, a_document_delete(PATH))

    assert await counts(batches, batch) == (1, 0, 1)
    assert (await seen(batches, batch)).ended_at is not None


async def test_a_child_submitted_twice_counts_once(queue: Queue, batches: Batches) -> None:
    """C17: a lost reply and a repeated list add no children."""
    batch = await batches.open_batch()
    job = a_job()

    await queue.submit([job, job], batch=batch)
    await queue.submit([job], batch=batch)
    await run_next(queue)
    await queue.submit([job], batch=batch)

    assert await counts(batches, batch) == (1, 1, 0)


async def test_children_that_coalesce_count_once(queue: Queue, batches: Batches) -> None:
    """C17: two requests that became one job are one child."""
    batch = await batches.open_batch()
    await queue.submit([a_job(PATH), a_job(PATH)], batch=batch)
    await queue.submit([a_job(PATH)], batch=batch)
    await batches.seal_batch(batch)
    assert await counts(batches, batch) == (1, 0, 0)

    await drain(queue)

    assert await counts(batches, batch) == (1, 1, 0)


async def test_a_child_that_joins_a_waiting_job_counts_it_once(queue: Queue, batches: Batches) -> None:
    """C17: a job that waited already is the batch's child from now on."""
    await submit(queue, a_job(PATH))
    batch = await batches.open_batch()
    await queue.submit([a_job(PATH), a_job()], batch=batch)
    await batches.seal_batch(batch)
    assert await counts(batches, batch) == (2, 0, 0)

    await drain(queue)

    assert await counts(batches, batch) == (2, 2, 0)
    assert (await seen(batches, batch)).state is BatchState.DONE


async def test_a_scan_that_finds_a_waiting_job_counts_it(queue: Queue, batches: Batches) -> None:
    """C17: nothing changed about the job, but the batch waits for it."""
    await submit(queue, a_folder("/f"))
    batch = await batches.open_batch()
    await queue.submit([a_scan("/f")], batch=batch)
    await batches.seal_batch(batch)

    await drain(queue)

    assert await counts(batches, batch) == (1, 1, 0)


async def test_one_job_may_be_a_child_of_two_batches(queue: Queue, batches: Batches) -> None:
    """C17: each batch counts it once."""
    first, second = await batches.open_batch(), await batches.open_batch()
    await queue.submit([a_job(PATH)], batch=first)
    await queue.submit([a_job(PATH)], batch=second)

    await drain(queue)

    assert await counts(batches, first) == (1, 1, 0)
    assert await counts(batches, second) == (1, 1, 0)


async def test_a_successor_is_a_child_of_its_own(queue: Queue, batches: Batches) -> None:
    """C17: the running first and its successor are two jobs, and both are waited for."""
    batch = await batches.open_batch()
    await queue.submit([a_job(PATH)], batch=batch)
    lease = await claim_one(queue)
    await queue.submit([a_job(PATH)], batch=batch)
    await batches.seal_batch(batch)
    assert await counts(batches, batch) == (2, 0, 0)

    await queue.settle([(lease, DONE)])
    assert (await seen(batches, batch)).state is BatchState.RUNNING
    await drain(queue)

    assert await counts(batches, batch) == (2, 2, 0)


async def test_children_that_end_each_other_in_one_list(queue: Queue, batches: Batches) -> None:
    """C17: a delete that ends its brother in the same submit leaves the counts true."""
    batch = await batches.open_batch()
    await queue.submit([a_job(PATH), a_rename(PATH), a_document_delete(PATH)], batch=batch)
    await batches.seal_batch(batch)
    assert await counts(batches, batch) == (3, 0, 2)

    await drain(queue)

    assert await counts(batches, batch) == (3, 1, 2)


async def test_jobs_outside_the_batch_are_not_counted(queue: Queue, batches: Batches) -> None:
    """C17: only children count."""
    batch = await batches.open_batch()
    await queue.submit([a_job()], batch=batch)
    await submit(queue, a_job(), a_job())
    await batches.seal_batch(batch)

    await drain(queue)

    assert await counts(batches, batch) == (1, 1, 0)


async def test_a_batch_nobody_will_seal_goes_with_its_parent(
    queue: Queue, batches: Batches, clock: FakeClock
) -> None:
    """C17: once the parent has ended, or is unknown, and the batch is old; one of nobody's stays."""
    (parent,) = await submit(queue, a_job(PATH))
    mine, orphan, own = [await batches.open_batch(each) for each in (parent, "nobody", None)]
    lease = await claim_one(queue)

    async def prune() -> list[bool]:
        clock.advance(10)
        await queue.prune(done_before=clock.now() - 5, failed_before=clock.now() - 5)
        return [await batches.batch(each) is not None for each in (mine, orphan, own)]

    assert await prune() == [True, False, True]
    await queue.settle([(lease, DONE)])
    assert await prune() == [False, False, True]


async def test_an_unknown_batch_is_refused(queue: Queue, desk: Desk, batches: Batches) -> None:
    """C17: children of nothing are not accepted, and nothing of the list stays."""
    with pytest.raises(Refused) as refused:
        await queue.submit([a_job(), a_job()], batch=BatchId("no-such-batch"))

    assert refused.value.code == "ERR_BATCH_UNKNOWN"
    assert await all_jobs(desk) == []
    assert await batches.batch(BatchId("no-such-batch")) is None
    with pytest.raises(Refused) as refused:
        await batches.seal_batch(BatchId("no-such-batch"))
    assert refused.value.code == "ERR_BATCH_UNKNOWN"


async def test_a_sealed_batch_takes_no_children(queue: Queue, desk: Desk, batches: Batches) -> None:
    """C17: its total is final."""
    batch = await batches.open_batch()
    await batches.seal_batch(batch)

    with pytest.raises(Refused):
        await queue.submit([a_job()], batch=batch)

    assert await counts(batches, batch) == (0, 0, 0)
    assert await all_jobs(desk) == []


async def test_sealing_twice_is_sealing_once(queue: Queue, batches: Batches, clock: FakeClock) -> None:
    """C17: the second time nothing changes, not even the end's time."""
    batch = await batches.open_batch()
    first = await batches.seal_batch(batch)
    clock.advance(60)

    assert await batches.seal_batch(batch) == first


async def test_many_children_from_many_callers(queue: Queue, batches: Batches) -> None:
    """C17: concurrent submits and ends lose no count."""
    batch = await batches.open_batch()
    await asyncio.gather(*(queue.submit([a_job(), a_job()], batch=batch) for _ in range(20)))
    await batches.seal_batch(batch)

    leases = [lease for _ in range(4) for lease in await queue.claim(W1, 10)]
    await asyncio.gather(*(queue.settle([(lease, DONE)]) for lease in leases))

    assert await counts(batches, batch) == (40, 40, 0)


async def test_counts_survive_a_crash_and_pruning(home: Home, store: Store, clock: FakeClock) -> None:
    """C17: a child that was counted and removed stays counted."""
    batch = await store.batches.open_batch()
    await store.queue.submit([a_job(), a_job()], batch=batch)
    await run_next(store.queue)
    clock.advance(60)
    assert await store.queue.prune(done_before=clock.now(), failed_before=clock.now()) == 1

    after = await home.crash(store)
    await after.batches.seal_batch(batch)
    await drain(after.queue)

    ended = await seen(after.batches, batch)
    assert (ended.total, ended.done, ended.state) == (2, 2, BatchState.DONE)


async def test_failed_children_are_told_and_no_others(queue: Queue, batches: Batches) -> None:
    """C17: a batch names its own failures, as many as are asked for."""
    batch, other = await batches.open_batch(), await batches.open_batch()
    await queue.submit([a_job() for _ in range(3)], batch=batch)
    await queue.submit([a_job()], batch=other)
    await queue.submit([a_job()])
    leases = await queue.claim(W1, 10)
    await queue.settle([(leases[0], DONE), *((lease, Failed(an_error())) for lease in leases[1:])])

    assert {job.id for job in await batches.failures(batch)} == {lease.job_id for lease in leases[1:3]}
    assert [job.error for job in await batches.failures(batch, limit=1)] == [an_error()]
    assert len(await batches.failures(other)) == 1
