"""Prune: ended jobs past their retention go, and nothing else."""

import pytest

from penstock.model.outcomes import DONE, Failed, Park, Retry
from penstock.model.standing import PauseScope
from penstock.model.states import State
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from tests.contract.steps import W1, W2, all_jobs, claim_one, drain, run_next, state_of, submit
from tests.support.clock import FakeClock
from tests.support.jobs import OTHER_TENANT, a_job, a_note, a_rename, a_tenant_delete, an_error

DAY = 86_400.0


async def test_old_ended_jobs_go(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C19: done and failed jobs older than their limits are removed and counted."""
    done, failed = await submit(queue, a_job(), a_job())
    await run_next(queue)
    await run_next(queue, Failed(an_error()))
    clock.advance(DAY)

    assert await queue.prune(done_before=clock.now(), failed_before=clock.now()) == 2

    assert await desk.find(done) is None
    assert await desk.find(failed) is None
    assert await queue.prune(done_before=clock.now(), failed_before=clock.now()) == 0


async def test_done_and_failed_have_their_own_limits(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C19: failures are usually kept longer."""
    _, failed = await submit(queue, a_job(), a_job())
    await run_next(queue)
    await run_next(queue, Failed(an_error()))
    clock.advance(DAY)

    assert await queue.prune(done_before=clock.now(), failed_before=clock.now() - 7 * DAY) == 1

    assert [job.id for job in await all_jobs(desk)] == [failed]


async def test_young_ended_jobs_stay(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C19: what counts is when it ended, not when it was submitted."""
    (job,) = await submit(queue, a_job())
    clock.advance(30 * DAY)
    await run_next(queue)
    clock.advance(DAY / 2)

    assert await queue.prune(done_before=clock.now() - DAY, failed_before=clock.now() - DAY) == 0
    assert await state_of(desk, job) is State.DONE


async def test_unfinished_jobs_stay_however_old(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C19: ready, scheduled, retrying, parked, queued-up, paused and running jobs are nobody's rubbish."""
    await submit(queue, a_job())
    await run_next(queue, Retry(an_error()))
    await submit(queue, a_job())
    await run_next(queue, Park(an_error(), DAY * 365))
    await submit(queue, a_job("/x"), a_rename("/x"), a_job(run_at=clock.now() + 365 * DAY), a_note())
    await claim_one(queue, W2)
    await submit(queue, a_job(tenant=OTHER_TENANT), a_tenant_delete(tenant=OTHER_TENANT))
    await desk.pause(PauseScope.COLLECTION, "notes")
    await queue.promote()
    before = [job for job in await all_jobs(desk) if job.state is not State.FAILED]
    clock.advance(100 * DAY)

    await queue.prune(done_before=clock.now(), failed_before=clock.now())

    assert await all_jobs(desk) == before


async def test_a_call_removes_at_most_its_limit(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C19: a long history goes in portions, mixed as it may be."""
    for number in range(10):
        await submit(queue, a_job(priority=number))
        await run_next(queue, Failed(an_error()) if number % 2 else DONE)
    clock.advance(DAY)

    removed = []
    while count := await queue.prune(done_before=clock.now(), failed_before=clock.now(), limit=4):
        removed.append(count)

    assert removed == [4, 4, 2]
    assert await all_jobs(desk) == []


async def test_jobs_that_ended_together_go_in_portions_too(
    queue: Queue, desk: Desk, clock: FakeClock
) -> None:
    """C19: an engine may keep them as one; each is counted and removed by itself."""
    await submit(queue, *(a_job() for _ in range(6)))
    leases = await queue.claim(W1, limit=6)
    assert all(await queue.settle([(lease, DONE) for lease in leases]))
    assert (await desk.counts()).done == 6
    clock.advance(DAY)

    removed = []
    while count := await queue.prune(done_before=clock.now(), failed_before=clock.now(), limit=4):
        removed.append((count, (await desk.counts()).done))

    assert removed == [(4, 2), (2, 0)]
    assert await all_jobs(desk) == []


@pytest.mark.parametrize("with_line", [True, False])
async def test_pruning_leaves_order_and_lines_as_they_are(
    queue: Queue, desk: Desk, clock: FakeClock, with_line: bool
) -> None:
    """C19: what remains runs as it would have."""
    await submit(queue, a_job("/x"))
    await run_next(queue)
    jobs = [a_job("/x"), a_rename("/x"), a_job("/x")] if with_line else [a_job(), a_job(), a_job()]
    first, second, *_ = await submit(queue, *jobs)
    clock.advance(DAY)

    await queue.prune(done_before=clock.now(), failed_before=clock.now())

    assert (await drain(queue))[:2] == [first, second]


async def test_a_pruned_request_can_be_made_again(queue: Queue, clock: FakeClock) -> None:
    """C19: nothing remains that would stand in the way of the same path."""
    await submit(queue, a_job("/x"), a_job("/x"))
    await run_next(queue)
    clock.advance(DAY)
    await queue.prune(done_before=clock.now(), failed_before=clock.now())

    again = await submit(queue, a_job("/x"))

    assert await drain(queue) == again


async def test_an_attempt_from_before_a_prune_has_no_say_afterwards(
    queue: Queue, desk: Desk, clock: FakeClock
) -> None:
    """C4: a job submitted again after it was removed does not honour the tokens of its first life."""
    job = a_job()
    await submit(queue, job)
    old = await claim_one(queue)
    await queue.leave(W1, died=True)
    await run_next(queue)
    clock.advance(DAY)
    await queue.prune(done_before=clock.now(), failed_before=clock.now())
    await submit(queue, job)
    new = await claim_one(queue)

    assert await queue.settle([(old, Failed(an_error()))]) == [False]
    assert await state_of(desk, job.id) is State.LEASED
    assert await queue.settle([(new, DONE)]) == [True]
