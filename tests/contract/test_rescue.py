"""Rescue: jobs of dead workers and run-out leases come back, once, and poison does not come back for ever."""

import asyncio

import pytest

from penstock.model.jobs import JobId, WorkerId
from penstock.model.outcomes import DONE
from penstock.model.standing import PauseScope
from penstock.model.states import State
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from tests.contract.engines import Home, Store, with_rules
from tests.contract.steps import (
    DEAD_AFTER,
    LEASE,
    W1,
    W2,
    W3,
    claim_one,
    claimed,
    die,
    drain,
    ending,
    fall_silent,
    found,
    submit,
)
from tests.support.clock import FakeClock
from tests.support.jobs import OTHER_TENANT, a_job, a_note


async def a_suspect(queue: Queue) -> JobId:
    """A job that two workers died of."""
    (job,) = await submit(queue, a_job())
    for _ in range(2):
        await claim_one(queue)
        await die(queue)
    return job


async def test_a_silent_workers_job_goes_to_one_other(queue: Queue, clock: FakeClock) -> None:
    """C7: a dead worker's job is handed out again, once."""
    (job,) = await submit(queue, a_job())
    await queue.beat(W1, concurrency=1)
    await claim_one(queue)

    assert await fall_silent(queue, clock) == [job]
    found_by = await asyncio.gather(queue.claim(W2, 1), queue.claim(W3, 1))

    assert [lease.job_id for leases in found_by for lease in leases] == [job]


async def test_a_beating_worker_keeps_its_job(queue: Queue, clock: FakeClock) -> None:
    """C7: a worker that beats in time is not dead, however long its job runs within the lease."""
    await submit(queue, a_job())
    await queue.beat(W1, concurrency=1)
    await claim_one(queue)

    for _ in range(10):
        clock.advance(DEAD_AFTER - 1)
        await queue.beat(W1, concurrency=1)
        assert await queue.rescue() == []


async def test_death_is_noticed_long_before_the_lease_ends(queue: Queue, clock: FakeClock) -> None:
    """C7: a killed worker's job is claimable again within ten seconds."""
    (job,) = await submit(queue, a_job())
    await queue.beat(W1, concurrency=1)
    await claim_one(queue)

    clock.advance(10)
    await queue.rescue()

    assert await claimed(queue, worker=W2) == [job]


async def test_only_the_dead_lose_their_jobs(queue: Queue, clock: FakeClock) -> None:
    """C7: a rescue leaves the living alone."""
    first, _ = await submit(queue, a_job(), a_job())
    await queue.beat(W1, concurrency=1)
    await claim_one(queue, W1)
    alive = await claim_one(queue, W2)

    assert await fall_silent(queue, clock, others=[W2]) == [first]
    assert await queue.settle([(alive, DONE)]) == [True]


async def test_a_run_out_lease_comes_back_though_its_worker_beats(
    queue: Queue, desk: Desk, clock: FakeClock
) -> None:
    """C7: a stalled attempt loses its job and spends a retry, but is no crash."""
    (job,) = await submit(queue, a_job())
    await queue.beat(W1, concurrency=1)
    await claim_one(queue)

    clock.advance(LEASE + 1)
    await queue.beat(W1, concurrency=1)
    assert await queue.rescue() == [job]

    kept = await found(desk, job)
    assert (kept.state, kept.retry_count, kept.crashes) == (State.READY, 1, 0)
    assert (kept.worker, kept.lease_until) == (None, None)
    assert kept.error is not None
    assert kept.error.code == "ERR_LEASE_EXPIRED"
    assert (await claim_one(queue)).attempt == 2


async def test_a_lease_that_still_runs_is_not_taken(queue: Queue, clock: FakeClock) -> None:
    """C7: a moment before its end the lease still holds."""
    await submit(queue, a_job())
    await claim_one(queue)
    clock.advance(LEASE - 1)

    assert await queue.rescue() == []


async def test_a_death_spends_a_retry_and_counts_as_a_crash(
    queue: Queue, desk: Desk, clock: FakeClock
) -> None:
    """C7: a dead worker's attempt is written down against the job."""
    (job,) = await submit(queue, a_job())
    await queue.beat(W1, concurrency=1)
    await claim_one(queue)

    await fall_silent(queue, clock)

    kept = await found(desk, job)
    assert (kept.state, kept.retry_count, kept.crashes) == (State.READY, 1, 1)
    assert kept.error is not None
    assert kept.error.code == "ERR_WORKER_DIED"
    lease = await claim_one(queue, W2)
    assert (lease.attempt, lease.crashes, lease.alone) == (2, 1, False)


@pytest.mark.parametrize("silent", [False, True], ids=["handed back", "rescued"])
async def test_what_no_handler_had_begun_goes_back_free(
    queue: Queue, desk: Desk, clock: FakeClock, silent: bool
) -> None:
    """C7: of what a worker had claimed, its death counts against what it had begun."""
    jobs = await submit(queue, *(a_job() for _ in range(3)))
    await queue.beat(W1, concurrency=3)
    roll = queue.roll(W1)
    leases = await queue.claim(W1, 3)
    roll.begins(leases[1])

    if silent:
        assert sorted(await fall_silent(queue, clock)) == sorted(jobs)
    else:
        await die(queue)

    kept = [await found(desk, job) for job in jobs]
    assert [(job.state, job.retry_count, job.crashes) for job in kept] == [
        (State.READY, 0, 0),
        (State.READY, 1, 1),
        (State.READY, 0, 0),
    ]


async def test_an_attempt_that_ended_makes_room_on_the_roll(queue: Queue, desk: Desk) -> None:
    """C7: its place is another's, and what began later is charged all the same."""
    roll = queue.roll(W1)
    for _ in range(3):
        await submit(queue, a_job())
        ended = await claim_one(queue)
        roll.begins(ended)
        await queue.settle([(ended, DONE)])
        roll.ended([ended])
    (job,) = await submit(queue, a_job())
    roll.begins(await claim_one(queue))

    await die(queue)

    kept = await found(desk, job)
    assert (kept.retry_count, kept.crashes) == (1, 1)


async def test_a_certain_rescue_spares_the_merely_silent(queue: Queue, clock: FakeClock) -> None:
    """C7: who only takes from workers that no longer exist takes nothing from one that may be slow."""
    (job,) = await submit(queue, a_job())
    await queue.beat(W1, concurrency=1)
    await claim_one(queue)

    clock.advance(LEASE + 1)

    assert await queue.rescue(certain=True) == []
    assert await queue.rescue() == [job]


async def test_rescues_at_the_same_time_take_a_job_once(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C7: every process rescues all the time, and a job comes back once."""
    ids = await submit(queue, *(a_job() for _ in range(5)))
    await queue.claim(W1, 5)
    clock.advance(LEASE + 1)

    taken = await asyncio.gather(*(queue.rescue() for _ in range(5)))

    assert sorted(job for some in taken for job in some) == sorted(ids)
    assert [(await found(desk, job)).retry_count for job in ids] == [1] * 5
    assert await queue.rescue() == []


async def test_another_process_rescues(home: Home, store: Store, clock: FakeClock) -> None:
    """C7: a store opened after the worker's crash takes its job back."""
    (job,) = await submit(store.queue, a_job())
    await store.queue.beat(W1, concurrency=1)
    await claim_one(store.queue)

    after = await home.crash(store)

    assert await fall_silent(after.queue, clock) == [job]
    assert await claimed(after.queue, worker=W2) == [job]


@with_rules(longest_waiting_every=0)
async def test_a_rescued_job_stands_ahead_of_its_backlog(queue: Queue, clock: FakeClock) -> None:
    """C7: what was next once is next again, not last."""
    first, second = await submit(queue, a_job(), a_job())
    await queue.claim(W1, 2)
    clock.advance(LEASE + 1)
    backlog = await submit(queue, a_job(), a_job())

    await queue.rescue()

    assert await claimed(queue) == [first, second, *backlog]


async def test_a_worker_that_leaves_hands_its_jobs_back_unharmed(queue: Queue, desk: Desk) -> None:
    """C13: a clean exit spends nothing, and tells how many went back."""
    ids = await submit(queue, a_job(), a_job(), a_job())
    leases = await queue.claim(W1, 2)

    assert await queue.leave(W1) == 2

    assert [(await found(desk, job)).retry_count for job in ids] == [0, 0, 0]
    assert await queue.settle([(leases[0], DONE)]) == [False]
    assert await claimed(queue, worker=W2) == ids


async def test_a_leaving_worker_takes_nobody_elses_jobs(queue: Queue) -> None:
    """C13: only what the worker itself held goes back."""
    await submit(queue, a_job(), a_job())
    await claim_one(queue, W1)
    kept = await claim_one(queue, W2)

    assert await queue.leave(W1, died=True) == 1
    assert await queue.leave(WorkerId("nobody")) == 0
    assert await queue.settle([(kept, DONE)]) == [True]


async def test_a_reported_death_gives_the_job_back_at_once(queue: Queue, desk: Desk) -> None:
    """C7: a supervisor that saw its child die need not wait for the heartbeat."""
    (job,) = await submit(queue, a_job())
    await queue.beat(W1, concurrency=1)
    await claim_one(queue)

    assert await die(queue) == 1

    kept = await found(desk, job)
    assert (kept.state, kept.retry_count, kept.crashes) == (State.READY, 1, 1)


async def test_after_two_deaths_a_job_runs_alone(queue: Queue) -> None:
    """C7: a suspect comes by itself, marked, and only to a worker that runs nothing else."""
    suspect = await a_suspect(queue)
    others = await submit(queue, a_job(), a_job())

    assert await claimed(queue, idle=False) == others
    (lease,) = await queue.claim(W2, 10, idle=True)

    assert (lease.job_id, lease.alone, lease.crashes) == (suspect, True, 2)


async def test_an_idle_claim_never_mixes_a_suspect_with_others(queue: Queue) -> None:
    """C7: a claim of many hands out ordinary jobs, or one suspect, and the suspect's turn comes."""
    suspect = await a_suspect(queue)
    await submit(queue, *(a_job() for _ in range(4)))

    seen: list[list[JobId]] = []
    while leases := await queue.claim(W2, 3, idle=True):
        assert len(leases) == 1 or not any(lease.alone for lease in leases)
        seen.append([lease.job_id for lease in leases])
        await queue.settle([(lease, DONE) for lease in leases])

    assert [suspect] in seen
    assert sum(map(len, seen)) == 5


async def test_a_suspect_is_counted_as_such(queue: Queue, desk: Desk) -> None:
    """C7: the operator sees how many wait for an idle worker."""
    await a_suspect(queue)
    await submit(queue, a_job())

    counts = await desk.counts()

    assert (counts.suspects, counts.ready) == (1, 1)
    assert await desk.suspects() == 1


@pytest.mark.parametrize(
    ("scope", "name"),
    [(PauseScope.TENANT, OTHER_TENANT), (PauseScope.COLLECTION, "drafts"), (PauseScope.TYPE, "content")],
)
async def test_a_suspect_runs_however_many_are_held_back_before_it(
    queue: Queue, desk: Desk, clock: FakeClock, scope: PauseScope, name: str
) -> None:
    """C7: suspects that may not run now keep no other suspect from its turn."""
    await submit(queue, *(a_note(tenant=OTHER_TENANT, collection="drafts") for _ in range(150)))
    clock.advance(1)
    (behind,) = await submit(queue, a_job())
    for _ in range(2):
        assert len(await queue.claim(W1, 200)) == 151
        await die(queue)
    await desk.pause(scope, name)

    assert await desk.suspects() >= 1
    assert await claimed(queue, 1, W2) == [behind]
    assert await desk.suspects() == 0


@pytest.mark.parametrize("way", ["reported", "noticed"])
async def test_a_third_death_makes_it_poison(queue: Queue, desk: Desk, clock: FakeClock, way: str) -> None:
    """C7: a job that kills the worker it ran alone in does not get a fourth."""
    suspect = await a_suspect(queue)
    await queue.beat(W2, concurrency=1)
    await claim_one(queue, W2)

    if way == "reported":
        await die(queue, W2)
    else:
        await fall_silent(queue, clock)

    assert await ending(desk, suspect) == (State.FAILED, "ERR_POISON")
    assert await drain(queue) == []


async def test_a_suspect_that_succeeds_is_done(queue: Queue, desk: Desk) -> None:
    """C7: running alone is a chance, not a sentence."""
    suspect = await a_suspect(queue)

    await queue.settle([(await claim_one(queue), DONE)])

    assert (await found(desk, suspect)).state is State.DONE


@pytest.mark.parametrize("max_retries", [0, 1])
async def test_deaths_count_against_the_retries(queue: Queue, desk: Desk, max_retries: int) -> None:
    """C13: a job without retries left ends with the worker that died."""
    (job,) = await submit(queue, a_job(max_retries=max_retries))
    for _ in range(1 + max_retries):
        await claim_one(queue)
        await die(queue)

    assert await ending(desk, job) == (State.FAILED, "ERR_WORKER_DIED")


async def test_stalls_count_against_the_retries_and_never_make_poison(
    queue: Queue, desk: Desk, clock: FakeClock
) -> None:
    """C7: a job that stalls for ever ends as such after its last attempt."""
    (job,) = await submit(queue, a_job())
    for _ in range(4):
        await claim_one(queue)
        clock.advance(LEASE + 1)
        await queue.rescue()

    kept = await found(desk, job)
    assert (kept.state, kept.crashes, kept.retry_count) == (State.FAILED, 0, 3)
    assert kept.error is not None
    assert kept.error.code == "ERR_LEASE_EXPIRED"
