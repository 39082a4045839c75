"""delete_tenant: a barrier in submit order."""

from collections.abc import Callable

import pytest

from penstock.model.jobs import JobId, NewJob
from penstock.model.outcomes import DONE, RELEASE, Failed, Outcome, Park, Retry
from penstock.model.standing import explain
from penstock.model.states import State
from penstock.ports.desk import Desk, Wanted
from penstock.ports.queue import Queue
from tests.contract.engines import Home, Store
from tests.contract.steps import (
    W2,
    all_jobs,
    claim_one,
    claimed,
    die,
    drain,
    ending,
    fall_silent,
    run_next,
    state_of,
    submit,
)
from tests.support.clock import FakeClock
from tests.support.jobs import OTHER_TENANT, a_job, a_note, a_rename, a_scan, a_tenant_delete, an_error

PATH = "/reports/one.txt"
SUPERSEDED = (State.FAILED, "ERR_SUPERSEDED")


async def clear_the_way(queue: Queue) -> None:
    """What the promoter does all the time; several passes, for a long backlog."""
    for _ in range(5):
        await queue.promote()


async def test_earlier_waiting_jobs_end(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C12: ready, scheduled, retrying and queued-up jobs of the tenant end superseded."""
    (retrying,) = await submit(queue, a_job())
    await run_next(queue, Retry(an_error()))
    others = await submit(
        queue, a_job(PATH), a_rename(PATH), a_note(run_at=clock.now() + 60), a_job(collection="drafts")
    )

    (barrier,) = await submit(queue, a_tenant_delete())
    await clear_the_way(queue)

    assert [await ending(desk, job) for job in (retrying, *others)] == [SUPERSEDED] * 5
    assert await drain(queue) == [barrier]


async def test_later_jobs_wait_until_it_has_ended(queue: Queue, desk: Desk) -> None:
    """C12: nothing submitted after it runs before it has ended; then in order."""
    (barrier,) = await submit(queue, a_tenant_delete())
    later = await submit(queue, a_job(priority=10), a_note(), a_job(collection="drafts", priority=1))
    await clear_the_way(queue)

    lease = await claim_one(queue)
    assert lease.job_id == barrier
    assert await claimed(queue, worker=W2) == []
    await queue.settle([(lease, DONE)])

    assert await drain(queue) == later


@pytest.mark.parametrize("outcome", [Retry(an_error()), Park(an_error(), 5), RELEASE], ids=str)
async def test_later_jobs_wait_through_its_retries(queue: Queue, clock: FakeClock, outcome: Outcome) -> None:
    """C12: a deletion that is tried again is still in the way."""
    barrier, later = await submit(queue, a_tenant_delete(), a_job())
    await clear_the_way(queue)
    await run_next(queue, outcome)
    assert later not in await claimed(queue, worker=W2)
    await queue.leave(W2)

    clock.advance(60)

    assert await drain(queue) == [barrier, later]


@pytest.mark.parametrize("end", [DONE, Failed(an_error())], ids=["done", "failed"])
async def test_any_end_lifts_it(queue: Queue, end: Outcome) -> None:
    """C12: a deletion that failed does not close its tenant for ever."""
    _, later = await submit(queue, a_tenant_delete(), a_job())
    await clear_the_way(queue)

    await run_next(queue, end)

    assert await drain(queue) == [later]


async def test_cancelling_it_lifts_it(queue: Queue, desk: Desk) -> None:
    """C12: a deletion called off lets later jobs go; earlier ones stay ended."""
    earlier, barrier, later = await submit(queue, a_job(), a_tenant_delete(), a_job())
    await clear_the_way(queue)

    assert await desk.cancel([barrier]) == [True]

    assert await ending(desk, earlier) == SUPERSEDED
    assert await drain(queue) == [later]


async def test_running_jobs_are_told_and_waited_for(queue: Queue, desk: Desk) -> None:
    """C12: nothing of the tenant still runs when the deletion starts."""
    running, _ = await submit(queue, a_job(), a_note())
    leases = await queue.claim(W2, 2)
    (barrier,) = await submit(queue, a_tenant_delete())
    await clear_the_way(queue)

    assert {renewal.cancel_code for renewal in await queue.extend(leases)} == {"ERR_SUPERSEDED"}
    assert await claimed(queue) == []
    await queue.settle([(leases[0], RELEASE)])
    await clear_the_way(queue)
    assert await claimed(queue) == []
    await queue.settle([(leases[1], DONE)])
    await clear_the_way(queue)

    assert await claimed(queue) == [barrier]
    assert await ending(desk, running) == SUPERSEDED


@pytest.mark.parametrize("way", ["died", "silent", "left"])
async def test_a_dead_workers_job_does_not_return_nor_block(
    queue: Queue, desk: Desk, clock: FakeClock, way: str
) -> None:
    """C12: a job whose worker is gone ends, and the deletion goes on."""
    (running,) = await submit(queue, a_job())
    await queue.beat(W2, concurrency=1)
    await claim_one(queue, W2)
    (barrier,) = await submit(queue, a_tenant_delete())

    if way == "died":
        await die(queue, W2)
    elif way == "silent":
        await fall_silent(queue, clock)
    else:
        await queue.leave(W2)

    assert await ending(desk, running) == SUPERSEDED
    assert await drain(queue) == [barrier]


async def test_other_tenants_are_not_affected(queue: Queue, desk: Desk) -> None:
    """C12: neither their earlier nor their later jobs notice it."""
    (earlier,) = await submit(queue, a_job(tenant=OTHER_TENANT))
    (barrier,) = await submit(queue, a_tenant_delete())
    (later,) = await submit(queue, a_job(tenant=OTHER_TENANT))
    await clear_the_way(queue)

    order = await drain(queue)

    assert sorted(order) == sorted([earlier, barrier, later])
    assert await state_of(desk, earlier) is State.DONE


async def test_two_tenants_may_be_deleted_at_once(queue: Queue) -> None:
    """C12: each barrier closes its own tenant alone."""
    mine, theirs, later = await submit(
        queue, a_tenant_delete(), a_tenant_delete(tenant=OTHER_TENANT), a_job(tenant=OTHER_TENANT)
    )
    await clear_the_way(queue)
    leases = {lease.job_id: lease for lease in await queue.claim(W2, 5)}

    assert set(leases) == {mine, theirs}
    await queue.settle([(leases[theirs], DONE)])
    assert await claimed(queue) == [later]


async def test_a_second_deletion_covers_what_came_between(queue: Queue, desk: Desk) -> None:
    """C12: while the first waits, it takes over the second, and what was submitted in between ends."""
    (running,) = await submit(queue, a_job())
    lease = await claim_one(queue)
    barrier, between, again, later = await submit(
        queue, a_tenant_delete(), a_job(), a_tenant_delete(), a_job()
    )
    await clear_the_way(queue)

    assert again == barrier
    assert await ending(desk, between) == SUPERSEDED
    await queue.settle([(lease, DONE)])
    assert await drain(queue) == [barrier, later]
    assert await state_of(desk, running) is State.DONE


async def test_a_second_deletion_while_the_first_runs_follows_it(queue: Queue, desk: Desk) -> None:
    """C12: what came between ends, and what comes later waits for both."""
    await submit(queue, a_tenant_delete())
    await clear_the_way(queue)
    lease = await claim_one(queue)
    between, second, later = await submit(queue, a_job(), a_tenant_delete(), a_job())
    await clear_the_way(queue)
    assert await claimed(queue) == []

    await queue.settle([(lease, DONE)])

    assert await ending(desk, between) == SUPERSEDED
    assert await drain(queue) == [second, later]


@pytest.mark.parametrize("together", [True, False], ids=["one list", "one by one"])
@pytest.mark.parametrize("job", [a_job, a_scan], ids=["file", "scan"])
async def test_the_same_request_after_the_barrier_is_not_lost_with_the_one_before(
    queue: Queue, desk: Desk, job: Callable[[str], NewJob], together: bool
) -> None:
    """C12: a later intent never joins a job that the barrier ends."""
    jobs = [job(PATH), a_tenant_delete(), job(PATH)]
    if together:
        before, barrier, after = await submit(queue, *jobs)
    else:
        before, barrier, after = [job_id for one in jobs for job_id in await submit(queue, one)]
    await clear_the_way(queue)

    assert after != before
    assert await ending(desk, before) == SUPERSEDED
    assert await drain(queue) == [barrier, after]


async def test_a_long_backlog_ends_and_later_requests_stay(queue: Queue, desk: Desk) -> None:
    """C12: thousands of earlier jobs end, and the same requests made again after it all run."""
    paths = [f"/many/{number}" for number in range(2_500)]
    await submit(queue, *(a_job(path) for path in paths))
    (barrier,) = await submit(queue, a_tenant_delete())
    await submit(queue, *(a_job(path) for path in paths))
    await clear_the_way(queue)

    await queue.settle([(await claim_one(queue), DONE)])

    assert await state_of(desk, barrier) is State.DONE
    assert len(await queue.claim(W2, 5_000)) == 2_500


async def test_a_list_after_a_long_backlog_keeps_its_order(queue: Queue) -> None:
    """C10: what a barrier has not ended yet does not turn around the order of later requests."""
    paths = [f"/many/{number:04}" for number in range(2_500)]
    await submit(queue, *(a_job(path) for path in paths), a_tenant_delete())

    later = await submit(queue, *(job for path in paths[-3:] for job in (a_job(path), a_rename(path))))
    await clear_the_way(queue)

    order = await drain(queue)
    assert [order.index(ingest) < order.index(rename) for ingest, rename in in_pairs(later)] == [True] * 3


def in_pairs(ids: list[JobId]) -> list[tuple[JobId, JobId]]:
    """Neighbours, two by two."""
    return list(zip(ids[::2], ids[1::2], strict=True))


async def test_it_survives_a_crash(home: Home, store: Store) -> None:
    """C12: the barrier is in the store, not in a process."""
    earlier, barrier, later = await submit(store.queue, a_job(), a_tenant_delete(), a_job())

    after = await home.crash(store)

    assert await drain(after.queue) == [barrier, later]
    assert await ending(after.desk, earlier) == SUPERSEDED


async def test_a_deletion_that_kills_its_workers_still_ends(queue: Queue, desk: Desk) -> None:
    """C12: a deletion under suspicion runs alone like any other job, and its tenant opens again."""
    barrier, later = await submit(queue, a_tenant_delete(), a_job())
    await clear_the_way(queue)
    for _ in range(2):
        await claim_one(queue)
        await die(queue)

    lease = await claim_one(queue)

    assert (lease.job_id, lease.alone) == (barrier, True)
    await queue.settle([(lease, DONE)])
    assert await drain(queue) == [later]


async def test_pruning_does_not_let_a_later_job_slip_before_it(
    queue: Queue, desk: Desk, clock: FakeClock
) -> None:
    """C12: what is submitted after the barrier stays after it, whatever was removed in between."""
    await submit(queue, a_job())
    lease = await claim_one(queue)
    await submit(queue, a_tenant_delete(), a_job(), a_tenant_delete())
    clock.advance(10)
    await queue.prune(done_before=clock.now(), failed_before=clock.now())

    (later,) = await submit(queue, a_job())
    await clear_the_way(queue)

    assert await state_of(desk, later) is State.READY
    await queue.settle([(lease, DONE)])
    assert (await drain(queue))[-1] == later


async def test_replayed_jobs_come_after_it(queue: Queue, desk: Desk) -> None:
    """C12: an old job run again is a new job, submitted now."""
    (old,) = await submit(queue, a_job())
    await run_next(queue)
    (barrier,) = await submit(queue, a_tenant_delete())

    (receipt,) = await desk.replay([old])

    assert await drain(queue) == [barrier, receipt.job_id]


async def test_waiting_jobs_say_what_they_wait_for(queue: Queue, desk: Desk) -> None:
    """C12: explain names the deletion."""
    barrier, later = await submit(queue, a_tenant_delete(), a_job())
    await clear_the_way(queue)

    assert explain(await desk.standing(later)) == (
        f"It waits until tenant acme has been deleted (job {barrier})."
    )


async def test_a_deletion_says_that_it_waits_for_what_runs(queue: Queue, desk: Desk) -> None:
    """C12: it is not called ready while a job that came before it still runs."""
    await submit(queue, a_job())
    lease = await claim_one(queue, W2)
    await queue.beat(W2, concurrency=2)
    (barrier,) = await submit(queue, a_tenant_delete())
    await queue.promote()

    assert explain(await desk.standing(barrier)) == "It waits until 1 running job of tenant acme has ended."

    await queue.settle([(lease, DONE)])
    await clear_the_way(queue)
    assert explain(await desk.standing(barrier)).startswith("It is ready")


async def test_waiting_jobs_are_counted_as_waiting(queue: Queue, desk: Desk) -> None:
    """C12: what stands behind a tenant deletion is not counted as ready."""
    await submit(queue, a_tenant_delete(), a_job(), a_note(), a_job(tenant=OTHER_TENANT))
    await clear_the_way(queue)

    counts = await desk.counts()

    assert (counts.ready, counts.waiting) == (2, 2)


async def test_the_tenant_starts_empty_afterwards(queue: Queue, desk: Desk) -> None:
    """C12: the same tenant goes on as if new, and can be deleted again."""
    await submit(queue, a_job(PATH), a_tenant_delete())
    await drain(queue)

    again = await submit(queue, a_job(PATH))
    assert await drain(queue) == again
    (second,) = await submit(queue, a_tenant_delete())
    assert await drain(queue) == [second]


async def test_nothing_unfinished_is_left_behind(queue: Queue, desk: Desk) -> None:
    """C12: after the deletion every earlier job of the tenant has ended."""
    for number in range(30):
        path = f"/many/{number % 7}"
        await submit(queue, a_job(path) if number % 2 else a_rename(path, f"/to/{number}"))
    await submit(queue, a_tenant_delete())

    await drain(queue)

    assert await desk.jobs(Wanted(state=State.READY)) == []
    assert {job.state for job in await all_jobs(desk)} <= {State.DONE, State.FAILED}
