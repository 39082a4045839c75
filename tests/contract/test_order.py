"""The order of claims: priority, tenants in turn, first in first out, the longest-waiting every nth time."""

import random

import pytest

from penstock.model.jobs import JobId, NewJob
from penstock.model.outcomes import RELEASE
from penstock.model.rules import Rules
from penstock.model.standing import PauseScope
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from tests.contract.engines import ENGINES, Home, Store, with_rules
from tests.contract.steps import W1, W2, claim_one, claimed, claimed_singly, found, run_next, submit
from tests.support.clock import FakeClock
from tests.support.jobs import a_delete, a_job, a_note

plain_order = with_rules(longest_waiting_every=0)
every_third = with_rules(longest_waiting_every=3)


async def tenants_of(desk: Desk, jobs: list[JobId]) -> str:
    """The tenants of these jobs, as one word."""
    return "".join([(await found(desk, job)).tenant for job in jobs])


@plain_order
async def test_higher_priorities_go_first(queue: Queue) -> None:
    """C6: priority, highest first, whatever the order of arrival."""
    ids = await submit(queue, *(a_job(priority=p) for p in (5, 0, 10, 3, 9, 1, 7)))

    order = await claimed(queue)

    assert [ids.index(job) for job in order] == [2, 4, 6, 0, 3, 5, 1]


@plain_order
async def test_within_a_priority_first_in_is_first_out(queue: Queue, clock: FakeClock) -> None:
    """C6: older jobs go first; those of one moment go in submit order."""
    ids = []
    for _ in range(3):
        ids += await submit(queue, a_job(), a_job(), a_job())
        clock.advance(1)

    assert await claimed(queue) == ids


@plain_order
@pytest.mark.parametrize("seed", range(5))
async def test_with_one_tenant_it_is_priority_and_age_exactly(
    queue: Queue, clock: FakeClock, seed: int
) -> None:
    """C6: `priority DESC, created_at ASC`, then submit order, for any mixture and any clock."""
    draw = random.Random(seed)
    jobs: list[tuple[int, float, int, NewJob]] = []
    for number in range(60):
        clock.jump(draw.choice([-5.0, 0.0, 0.0, 1.0, 5.0]))
        job = a_job(priority=draw.randint(0, 10))
        await submit(queue, job)
        jobs.append((-job.priority, clock.now(), number, job))

    order = [job_id for _ in range(12) for job_id in await claimed(queue, 5)]

    assert order == [job.id for *_, job in sorted(jobs, key=lambda known: known[:3])]


@plain_order
async def test_a_delete_counts_as_ten(queue: Queue, clock: FakeClock) -> None:
    """C6: a delete of the lowest priority goes before everything but an older ten."""
    (ten,) = await submit(queue, a_job(priority=10))
    clock.advance(1)
    nine, delete = await submit(queue, a_job(priority=9), a_delete(priority=0))
    clock.advance(1)
    (later_ten,) = await submit(queue, a_job(priority=10))

    assert await claimed(queue) == [ten, delete, later_ten, nine]


@plain_order
async def test_tenants_take_turns(queue: Queue, desk: Desk) -> None:
    """C6: a tenant with a long backlog does not hold up another of the same priority."""
    jobs = [a_job(tenant=tenant) for tenant in "aaaaabbbcc"]
    await submit(queue, *jobs)

    word = await tenants_of(desk, await claimed_singly(queue, 10))

    assert [sorted(word[:3]), sorted(word[3:6]), sorted(word[6:8]), word[8:]] == [
        ["a", "b", "c"],
        ["a", "b", "c"],
        ["a", "b"],
        "aa",
    ]


@plain_order
async def test_a_tenant_that_comes_late_is_served_before_the_first_again(queue: Queue, desk: Desk) -> None:
    """C6: whoever waits while another was just served is next, however young its job."""
    await submit(queue, *(a_job(tenant="m") for _ in range(3)))
    await claim_one(queue)
    await submit(queue, a_job(tenant="a"), a_job(tenant="z"))

    word = await tenants_of(desk, await claimed_singly(queue, 4))

    assert sorted(word[:2]) == ["a", "z"]
    assert word[2:] == "mm"


@plain_order
@pytest.mark.parametrize("limit", [2, 3, 4])
async def test_a_tenant_that_is_held_back_costs_no_other_its_turn(
    queue: Queue, desk: Desk, limit: int
) -> None:
    """C6: whoever is served twice in one claim has let every other tenant that may run pass."""
    open_ones = [a_note(tenant=tenant) for tenant in "aadde"]
    await submit(queue, *open_ones, a_job(tenant="b"), a_job(tenant="c"))
    await desk.pause(PauseScope.TYPE, "file")

    order = [job for _ in range(5) for job in await claimed(queue, limit)]

    assert await tenants_of(desk, order) == "adead"


@plain_order
async def test_within_a_tenants_turn_the_oldest_goes_first(queue: Queue) -> None:
    """C6: turns are between tenants; inside one it is first in, first out."""
    ids = await submit(queue, *(a_job(tenant=tenant) for tenant in "aabb"))

    order = await claimed(queue)

    assert order.index(ids[0]) < order.index(ids[1])
    assert order.index(ids[2]) < order.index(ids[3])


@plain_order
async def test_turns_are_kept_per_priority(queue: Queue, desk: Desk) -> None:
    """C6: a higher priority goes first even if its tenant was just served."""
    await submit(queue, *(a_job(tenant="a", priority=9) for _ in range(3)), a_job(tenant="b", priority=5))

    assert await tenants_of(desk, await claimed_singly(queue, 4)) == "aaab"


@plain_order
async def test_turns_hold_across_workers_and_restarts(home: Home, store: Store) -> None:
    """C6: whose turn it is, is kept in the store."""
    await submit(store.queue, *(a_job(tenant=tenant) for tenant in "aaaabbbb"))
    first = (await claim_one(store.queue, W1)).tenant

    after = await home.restart(store)
    second = (await claim_one(after.queue, W2)).tenant
    beside = await home.open()
    third = (await claim_one(beside.queue, W1)).tenant

    assert first != second != third


async def test_every_tenth_claim_takes_the_longest_waiting(queue: Queue, clock: FakeClock) -> None:
    """C6: a low job behind an endless stream of high ones is the tenth at the latest."""
    (low,) = await submit(queue, a_job(priority=0))
    clock.advance(1)
    await submit(queue, *(a_job(priority=9) for _ in range(30)))

    order = await claimed_singly(queue, 10)

    assert order.index(low) == 9


@every_third
async def test_every_nth_claim_takes_the_longest_waiting_exactly(queue: Queue, clock: FakeClock) -> None:
    """C6: the 3rd, 6th, 9th claimed job is the oldest of all; the others follow priority."""
    old = await submit(queue, *(a_job(priority=1) for _ in range(3)))
    clock.advance(1)
    new = await submit(queue, *(a_job(priority=9) for _ in range(6)))

    assert await claimed(queue) == [new[0], new[1], old[0], new[2], new[3], old[1], new[4], new[5], old[2]]


@every_third
async def test_the_longest_waiting_is_told_by_age_not_by_arrival(queue: Queue, clock: FakeClock) -> None:
    """C6: after the clock was set back, the job with the smallest created_at is the oldest."""
    await submit(queue, a_job(priority=9), a_job(priority=9), a_job(priority=5))
    clock.jump(-3600)
    (oldest,) = await submit(queue, a_job(priority=1))

    assert (await claimed_singly(queue, 3))[2] == oldest


@every_third
async def test_the_count_goes_on_across_workers_and_restarts(home: Home, store: Store) -> None:
    """C6: the nth claim is counted in the store, not in a process."""
    low, *_ = await submit(store.queue, a_job(priority=0), *(a_job(priority=9) for _ in range(5)))
    await claim_one(store.queue, W1)
    after = await home.crash(store)
    await claim_one(after.queue, W2)
    after = await home.restart(after)

    assert (await claim_one(after.queue, W1)).job_id == low


@every_third
async def test_an_empty_claim_is_not_counted(queue: Queue) -> None:
    """C6: only jobs count, not questions."""
    for _ in range(5):
        assert await claimed(queue) == []
    low, *_ = await submit(queue, a_job(priority=0), *(a_job(priority=9) for _ in range(5)))

    assert (await claimed_singly(queue, 3)).index(low) == 2


@plain_order
async def test_with_the_rule_off_a_low_job_waits_for_all(queue: Queue) -> None:
    """C6: 0 switches the rule off."""
    low, *_ = await submit(queue, a_job(priority=0), *(a_job(priority=9) for _ in range(30)))

    assert (await claimed(queue)).index(low) == 30


@pytest.mark.parametrize("engine", sorted(ENGINES))
@pytest.mark.parametrize("every", [0, 3, 10])
@pytest.mark.parametrize("limit", [2, 7, 50])
async def test_a_claim_of_many_equals_many_claims(
    home: Home, store: Store, clock: FakeClock, engine: str, every: int, limit: int
) -> None:
    """C6: claiming n at once hands out what n single claims would, in the same order."""
    rules = Rules(longest_waiting_every=every, tenant_limit=15)
    draw = random.Random(every * 100 + limit)
    folders = [home.folder / name for name in ("single", "many")]
    single, many = [await ENGINES[engine].open(folder, rules, clock) for folder in folders]
    for _ in range(40):
        job = a_job(tenant=draw.choice("abc"), priority=draw.choice([1, 5, 5, 9]))
        await submit(single.queue, job)
        await submit(many.queue, job)
        clock.advance(draw.choice([0, 1]))

    one_by_one = await claimed_singly(single.queue, 40)
    together: list[JobId] = []
    while some := await claimed(many.queue, limit):
        together += some
    await single.close()
    await many.close()

    assert together == one_by_one


@plain_order
async def test_a_released_job_keeps_its_place(queue: Queue) -> None:
    """C13: a job given back unharmed is the next again."""
    ids = await submit(queue, a_job(), a_job(), a_job())

    await run_next(queue, RELEASE)

    assert await claimed(queue) == ids


@plain_order
async def test_a_delayed_job_does_not_stand_before_ready_ones(queue: Queue, clock: FakeClock) -> None:
    """C8: however urgent, a job that is not due costs the others nothing; once due it goes first."""
    urgent, normal, other = await submit(queue, a_job(priority=10, run_at=clock.now() + 60), a_job(), a_job())
    assert await claimed(queue, 1) == [normal]

    clock.advance(61)
    await queue.promote()

    assert await claimed(queue, 2) == [urgent, other]
