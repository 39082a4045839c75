"""Cancelling: at once while it waits, by being told while it runs."""

import pytest

from penstock.model.errors import Refused
from penstock.model.jobs import Accepted, JobId
from penstock.model.outcomes import DONE, RELEASE, Failed, Outcome, Park, Retry
from penstock.model.standing import explain
from penstock.model.states import State
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from tests.contract.engines import Home, Store
from tests.contract.steps import (
    LEASE,
    W1,
    all_jobs,
    claim_one,
    claimed,
    die,
    drain,
    ending,
    found,
    run_next,
    state_of,
    submit,
)
from tests.support.clock import FakeClock
from tests.support.jobs import a_job, a_rename, an_error

PATH = "/reports/one.txt"
CANCELLED = (State.FAILED, "ERR_CANCELLED")


async def test_a_waiting_job_fails_at_once(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C14: a cancelled waiting job ends now and is never claimed."""
    job, other = await submit(queue, a_job(), a_job())
    clock.advance(5)

    assert await desk.cancel([job]) == [True]

    assert await ending(desk, job) == CANCELLED
    assert (await found(desk, job)).finished_at == clock.now()
    assert await drain(queue) == [other]


@pytest.mark.parametrize("kind", ["scheduled", "retrying", "parked"])
async def test_a_delayed_job_fails_at_once(queue: Queue, desk: Desk, clock: FakeClock, kind: str) -> None:
    """C14: a due time to come does not keep it alive."""
    (job,) = await submit(queue, a_job(run_at=clock.now() + 60 if kind == "scheduled" else None))
    if kind == "retrying":
        await run_next(queue, Retry(an_error()))
    if kind == "parked":
        await run_next(queue, Park(an_error(), 60))

    assert await desk.cancel([job]) == [True]

    clock.advance(120)
    assert await ending(desk, job) == CANCELLED
    assert await drain(queue) == []


async def test_a_running_job_is_told(queue: Queue, desk: Desk) -> None:
    """C14: its worker learns it with the next renewal, and keeps its lease until then."""
    (job,) = await submit(queue, a_job())
    lease = await claim_one(queue)

    assert await desk.cancel([job]) == [True]

    (renewal,) = await queue.extend([lease])
    assert (renewal.held, renewal.cancel_code) == (True, "ERR_CANCELLED")
    kept = await found(desk, job)
    assert (kept.state, kept.cancel_code) == (State.LEASED, "ERR_CANCELLED")
    assert "told to stop" in explain(await desk.standing(job))


@pytest.mark.parametrize(
    "outcome",
    [Failed(an_error()), Retry(an_error()), Park(an_error()), RELEASE],
    ids=["failed", "retry", "park", "release"],
)
async def test_a_told_job_fails_whatever_its_attempt_says(queue: Queue, desk: Desk, outcome: Outcome) -> None:
    """C14: any end but done is the cancel."""
    (job,) = await submit(queue, a_job())
    lease = await claim_one(queue)
    await desk.cancel([job])

    assert await queue.settle([(lease, outcome)]) == [True]

    assert await ending(desk, job) == CANCELLED
    assert await claimed(queue) == []


async def test_a_told_job_that_was_done_is_done(queue: Queue, desk: Desk) -> None:
    """C14: work that was finished is not thrown away."""
    (job,) = await submit(queue, a_job())
    lease = await claim_one(queue)
    await desk.cancel([job])

    await queue.settle([(lease, DONE)])

    assert await state_of(desk, job) is State.DONE


@pytest.mark.parametrize("way", ["died", "left", "ran out"])
async def test_a_told_job_does_not_come_back(queue: Queue, desk: Desk, clock: FakeClock, way: str) -> None:
    """C14: however its attempt is lost, a cancelled job ends."""
    (job,) = await submit(queue, a_job())
    await claim_one(queue)
    await desk.cancel([job])

    if way == "died":
        await die(queue)
    elif way == "left":
        await queue.leave(W1)
    else:
        clock.advance(LEASE + 1)
        await queue.rescue()

    assert await ending(desk, job) == CANCELLED


async def test_an_ended_job_cannot_be_cancelled(queue: Queue, desk: Desk) -> None:
    """C14: the answer is no, and the end stays what it was."""
    done, failed = await submit(queue, a_job(), a_job())
    await run_next(queue)
    await run_next(queue, Failed(an_error("ERR_BROKEN")))

    assert await desk.cancel([done, failed]) == [False, False]

    assert await state_of(desk, done) is State.DONE
    assert await ending(desk, failed) == (State.FAILED, "ERR_BROKEN")


async def test_answers_stand_in_the_order_asked(queue: Queue, desk: Desk) -> None:
    """C14: waiting, ended and running ones in one call."""
    ended, running, waiting = await submit(queue, a_job(), a_job(), a_job())
    await run_next(queue)
    await claim_one(queue)

    assert await desk.cancel([waiting, ended, running]) == [True, False, True]


async def test_cancelling_twice_is_no_error(queue: Queue, desk: Desk) -> None:
    """C14: the second time it has ended already."""
    (job,) = await submit(queue, a_job())

    assert await desk.cancel([job]) == [True]
    assert await desk.cancel([job]) == [False]
    assert await ending(desk, job) == CANCELLED


async def test_an_unknown_job_cannot_be_cancelled(desk: Desk) -> None:
    """C14: a job that never was is told apart from one that ended."""
    with pytest.raises(Refused) as refused:
        await desk.cancel([JobId("no-such-job")])
    assert refused.value.code == "ERR_JOB_UNKNOWN"


async def test_after_a_cancel_the_same_request_is_a_new_job(queue: Queue, desk: Desk) -> None:
    """C9: a cancelled job does not block its key."""
    (job,) = await submit(queue, a_job(PATH))
    await desk.cancel([job])

    (receipt,) = await queue.submit([a_job(PATH)])

    assert receipt.how is Accepted.CREATED
    assert await drain(queue) == [receipt.job_id]


async def test_a_request_behind_a_told_job_still_runs(queue: Queue, desk: Desk) -> None:
    """C14: cancelling the running one does not cancel its successor."""
    (job,) = await submit(queue, a_job(PATH))
    lease = await claim_one(queue)
    successor, rename = await submit(queue, a_job(PATH), a_rename(PATH))

    await desk.cancel([job])
    await queue.settle([(lease, RELEASE)])

    assert await ending(desk, job) == CANCELLED
    assert await drain(queue) == [successor, rename]


async def test_a_cancel_survives_a_crash(home: Home, store: Store) -> None:
    """C14: a running job that was told stays told."""
    (job,) = await submit(store.queue, a_job())
    lease = await claim_one(store.queue)
    await store.desk.cancel([job])

    after = await home.crash(store)

    assert (await after.queue.extend([lease]))[0].cancel_code == "ERR_CANCELLED"
    assert len(await all_jobs(after.desk)) == 1
