"""Retries, parking and due times."""

import pytest

from penstock.model.outcomes import DONE, RELEASE, Failed, Park, Retry
from penstock.model.rules import Backoff
from penstock.model.states import State
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from tests.contract.engines import Home, Store, with_rules
from tests.contract.steps import W1, claim_one, claimed, ending, found, run_next, submit
from tests.support.clock import FakeClock
from tests.support.jobs import a_job, an_error

A_MOMENT = 0.001
"""Engines store times to the millisecond at least."""


async def test_delays_follow_the_backoff(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C13: each retry is due within its delay and a tenth more: 5, 10, 30, 30 seconds."""
    (job,) = await submit(queue, a_job(max_retries=4))
    for delay in (5, 10, 30, 30):
        await run_next(queue, Retry(an_error()))

        kept = await found(desk, job)
        assert kept.run_at is not None
        assert delay - A_MOMENT <= kept.run_at - clock.now() <= 1.1 * delay + A_MOMENT
        clock.advance(delay * 1.1 + 1)
        await queue.promote()


@with_rules(backoff=Backoff(base=2.0, max=7.0))
async def test_delays_may_double(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C13: with base and max the delays are 2, 4, 7 seconds and a tenth more."""
    (job,) = await submit(queue, a_job())
    for delay in (2, 4, 7):
        await run_next(queue, Retry(an_error()))

        kept = await found(desk, job)
        assert kept.run_at is not None
        assert delay - A_MOMENT <= kept.run_at - clock.now() <= 1.1 * delay + A_MOMENT
        clock.advance(delay * 1.1 + 1)
        await queue.promote()


@pytest.mark.parametrize("max_retries", [0, 1, 3])
async def test_attempts_are_one_plus_max_retries(
    queue: Queue, desk: Desk, clock: FakeClock, max_retries: int
) -> None:
    """C13: a job that fails every time is tried 1 + max_retries times, each attempt numbered."""
    (job,) = await submit(queue, a_job(max_retries=max_retries))
    attempts = []
    while leases := await queue.claim(W1, 1):
        attempts.append(leases[0].attempt)
        await queue.settle([(leases[0], Retry(an_error("ERR_BROKEN")))])
        clock.advance(60)
        await queue.promote()

    assert attempts == list(range(1, 2 + max_retries))
    assert await ending(desk, job) == (State.FAILED, "ERR_BROKEN")


async def test_a_permanent_error_ends_at_once(queue: Queue, desk: Desk) -> None:
    """C13: what cannot work is not tried again, whatever retries are left."""
    (job,) = await submit(queue, a_job())

    await run_next(queue, Failed(an_error("ERR_BROKEN")))

    kept = await found(desk, job)
    assert (kept.state, kept.retry_count) == (State.FAILED, 0)


async def test_a_retry_remembers_its_error(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C13: while it waits, the job says what went wrong and when."""
    (job,) = await submit(queue, a_job())
    clock.advance(3)

    await run_next(queue, Retry(an_error("ERR_BROKEN", "torn page")))

    kept = await found(desk, job)
    assert kept.error is not None
    assert (kept.state, kept.error.code, kept.error.message) == (State.DELAYED, "ERR_BROKEN", "torn page")
    assert (kept.last_error_at, kept.retry_count, kept.worker) == (clock.now(), 1, None)


async def test_a_delayed_job_is_not_claimable_before_its_time(queue: Queue, clock: FakeClock) -> None:
    """C8: a promote a moment too early changes nothing."""
    await submit(queue, a_job())
    await run_next(queue, Retry(an_error()))

    clock.advance(4.9)
    await queue.promote()

    assert await claimed(queue) == []


async def test_a_delayed_job_is_claimable_after_the_next_promote(queue: Queue, clock: FakeClock) -> None:
    """C8: its time has come, somebody promotes, it is there."""
    (job,) = await submit(queue, a_job())
    await run_next(queue, Retry(an_error()))

    clock.advance(5.6)
    await queue.promote()

    assert await claimed(queue) == [job]


async def test_a_promote_says_when_the_next_is_due(queue: Queue, clock: FakeClock) -> None:
    """C8: whoever promotes knows how long it may sleep."""
    start = clock.now()
    await submit(queue, a_job(run_at=start + 90), a_job(run_at=start + 30), a_job(run_at=start + 60))

    answers = []
    for _ in range(3):
        answers.append(await queue.promote())
        clock.advance(30)

    assert answers == [start + 30, start + 60, start + 90]
    assert await queue.promote() is None


async def test_a_due_time_outlives_a_restart(home: Home, store: Store, clock: FakeClock) -> None:
    """C8: a delay is stored as a time, never slept in a process."""
    (job,) = await submit(store.queue, a_job())
    await run_next(store.queue, Retry(an_error()))

    after = await home.crash(store)
    await after.queue.promote()
    assert await claimed(after.queue) == []

    clock.advance(6)
    await after.queue.promote()
    assert await claimed(after.queue) == [job]


async def test_a_clock_set_back_makes_no_job_early(queue: Queue, clock: FakeClock) -> None:
    """C8: due times are wall times; a clock that runs late only delays."""
    (job,) = await submit(queue, a_job(run_at=clock.now() + 10))

    clock.jump(-3600)
    clock.advance(20)
    await queue.promote()
    assert await claimed(queue) == []

    clock.jump(3600)
    await queue.promote()
    assert await claimed(queue) == [job]


async def test_parking_honours_the_seconds_it_was_asked_for(
    queue: Queue, desk: Desk, clock: FakeClock
) -> None:
    """C13: Retry-After is the due time, exactly."""
    (job,) = await submit(queue, a_job())

    await run_next(queue, Park(an_error("ERR_DEPENDENCY_DOWN"), 42.0))

    kept = await found(desk, job)
    assert (kept.state, kept.run_at) == (State.DELAYED, clock.now() + 42.0)
    assert (kept.parked_since, kept.retry_count) == (clock.now(), 0)


async def test_parking_without_a_time_follows_the_policy(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C13: the policy's own delay, and a tenth more at most."""
    (job,) = await submit(queue, a_job())

    await run_next(queue, Park(an_error("ERR_DEPENDENCY_DOWN")))

    kept = await found(desk, job)
    assert kept.run_at is not None
    assert 30 - A_MOMENT <= kept.run_at - clock.now() <= 33 + A_MOMENT


async def test_parking_spends_no_retry_however_often(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C13: a long outage costs the job nothing but time."""
    (job,) = await submit(queue, a_job(max_retries=0))
    first_parked = clock.now()
    for _ in range(20):
        lease = await claim_one(queue)
        assert lease.attempt == 1
        await queue.settle([(lease, Park(an_error("ERR_DEPENDENCY_DOWN"), 60))])
        clock.advance(61)
        await queue.promote()

    kept = await found(desk, job)
    assert (kept.retry_count, kept.parked_since) == (0, first_parked)
    await run_next(queue, DONE)
    assert (await found(desk, job)).state is State.DONE


@with_rules(park_seconds_max=100.0)
async def test_parking_ends_with_the_dependencys_code(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C13: after the longest time to park the job fails and names what was down."""
    (job,) = await submit(queue, a_job())
    await run_next(queue, Park(an_error("ERR_DEPENDENCY_DOWN"), 1000.0))
    assert (await found(desk, job)).run_at == clock.now() + 100

    clock.advance(101)
    await queue.promote()
    await run_next(queue, Park(an_error("ERR_BREAKER_OPEN"), 1.0))

    assert await ending(desk, job) == (State.FAILED, "ERR_BREAKER_OPEN")


@with_rules(park_seconds_max=100.0)
async def test_an_error_of_its_own_starts_the_parking_anew(
    queue: Queue, desk: Desk, clock: FakeClock
) -> None:
    """C13: a job that got past the outage once has its full time to park again."""
    (job,) = await submit(queue, a_job())
    await run_next(queue, Park(an_error("ERR_DEPENDENCY_DOWN"), 90.0))
    clock.advance(91)
    await queue.promote()
    await run_next(queue, Retry(an_error()))
    clock.advance(20)
    await queue.promote()

    await run_next(queue, Park(an_error("ERR_DEPENDENCY_DOWN"), 50.0))

    kept = await found(desk, job)
    assert (kept.state, kept.parked_since) == (State.DELAYED, clock.now())


async def test_releasing_spends_nothing(queue: Queue, desk: Desk) -> None:
    """C13: a job given back is ready at once, as if it had not been claimed."""
    (job,) = await submit(queue, a_job(max_retries=0))
    for _ in range(5):
        lease = await claim_one(queue)
        assert lease.attempt == 1
        await queue.settle([(lease, RELEASE)])

    kept = await found(desk, job)
    assert (kept.state, kept.retry_count, kept.error, kept.worker) == (State.READY, 0, None, None)


@with_rules(park_seconds_max=100.0)
async def test_releasing_does_not_reset_the_time_to_park(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C13: shutdowns during an outage do not let a job park for ever."""
    (job,) = await submit(queue, a_job())
    await run_next(queue, Park(an_error("ERR_DEPENDENCY_DOWN"), 60.0))
    clock.advance(101)
    await queue.promote()
    await run_next(queue, RELEASE)

    await run_next(queue, Park(an_error("ERR_DEPENDENCY_DOWN"), 60.0))

    assert await ending(desk, job) == (State.FAILED, "ERR_DEPENDENCY_DOWN")


async def test_a_job_that_succeeds_after_retries_is_done(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C13: the count of retries says how hard it was."""
    (job,) = await submit(queue, a_job())
    for _ in range(3):
        await run_next(queue, Retry(an_error()))
        clock.advance(60)
        await queue.promote()

    await run_next(queue, DONE)

    kept = await found(desk, job)
    assert (kept.state, kept.retry_count) == (State.DONE, 3)
