"""Limits: how many of a tenant run at once, and how much a submit may carry."""

import asyncio

import pytest

from penstock.model.errors import Refused
from penstock.model.jobs import WorkerId
from penstock.model.outcomes import DONE, Retry
from penstock.model.standing import explain
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from tests.contract.engines import Home, Store, with_rules
from tests.contract.steps import W1, W2, all_jobs, claim_one, claimed, die, submit
from tests.support.clock import FakeClock
from tests.support.jobs import OTHER_TENANT, a_job, a_note, an_error

two_at_once = with_rules(tenant_limit=2)


@two_at_once
async def test_one_claim_keeps_the_limit(queue: Queue) -> None:
    """C16: a claim of many takes no more of a tenant than may run."""
    ids = await submit(queue, *(a_job() for _ in range(5)))

    assert await claimed(queue, 5) == ids[:2]


@two_at_once
async def test_other_tenants_fill_the_claim(queue: Queue) -> None:
    """C16: a tenant at its limit leaves the room to others, also of lower priority."""
    await submit(queue, *(a_job(priority=9) for _ in range(5)))
    others = await submit(queue, *(a_job(tenant=OTHER_TENANT, priority=1) for _ in range(5)))

    taken = await claimed(queue, 10)

    assert len(taken) == 4
    assert set(others[:2]) <= set(taken)


@two_at_once
async def test_the_limit_holds_across_workers_and_processes(home: Home, store: Store) -> None:
    """C16: it is the tenant's limit, not a worker's."""
    other = await home.open()
    await submit(store.queue, *(a_job() for _ in range(8)))
    workers = [WorkerId(f"w{number}") for number in range(6)]

    leases = await asyncio.gather(
        *(which.queue.claim(worker, 3) for worker in workers for which in (store, other))
    )

    assert sum(map(len, leases)) == 2


@two_at_once
@pytest.mark.parametrize("way", ["done", "retry", "died"])
async def test_an_ended_attempt_makes_room(queue: Queue, way: str) -> None:
    """C16: however it ended, another may run."""
    await submit(queue, *(a_job() for _ in range(4)))
    lease = await claim_one(queue, W1)
    await claim_one(queue, W2)
    assert await claimed(queue) == []

    if way == "died":
        await die(queue, W1)
    else:
        await queue.settle([(lease, DONE if way == "done" else Retry(an_error()))])

    assert len(await claimed(queue, worker=W1)) == 1


@with_rules(tenant_limit=1, longest_waiting_every=2)
async def test_the_longest_waiting_keeps_the_limit_too(queue: Queue, clock: FakeClock) -> None:
    """C16: the nth claim takes the longest-waiting job that may run."""
    old, _ = await submit(queue, a_job(priority=9), a_job(priority=9))
    clock.advance(1)
    (young,) = await submit(queue, a_job(tenant=OTHER_TENANT, priority=1))

    assert await claimed(queue) == [old, young]


@two_at_once
async def test_a_suspect_keeps_the_limit(queue: Queue) -> None:
    """C16: running alone is no way around it."""
    await submit(queue, a_job())
    for _ in range(2):
        await claim_one(queue)
        await die(queue)
    await submit(queue, a_job(), a_job())
    assert len(await claimed(queue, worker=W2, idle=False)) == 2

    assert await claimed(queue, worker=W1) == []


@two_at_once
async def test_explain_names_the_limit(queue: Queue, desk: Desk) -> None:
    """C16: whoever asks learns that the tenant's own jobs are in the way."""
    *_, third = await submit(queue, a_job(), a_job(), a_job())
    await queue.beat(W1, concurrency=5)
    await queue.claim(W1, 5)

    assert explain(await desk.standing(third)) == ("Tenant acme already runs 2 jobs at once, its limit is 2.")


async def test_without_a_limit_all_run(queue: Queue) -> None:
    """C16: 0 means no limit."""
    await submit(queue, *(a_job() for _ in range(50)))

    assert len(await claimed(queue, 50)) == 50


@with_rules(bulk_max=3)
async def test_too_many_jobs_are_refused_whole(queue: Queue, desk: Desk) -> None:
    """C1: a list over the limit leaves nothing; the limit itself is fine."""
    with pytest.raises(Refused) as refused:
        await queue.submit([a_job() for _ in range(4)])

    assert refused.value.code == "ERR_BULK_TOO_LARGE"
    assert await all_jobs(desk) == []
    assert len(await queue.submit([a_job() for _ in range(3)])) == 3


@with_rules(payload_bytes_max=200)
async def test_a_payload_over_the_limit_is_refused(queue: Queue, desk: Desk) -> None:
    """C1: one payload too large refuses the list it came in."""
    with pytest.raises(Refused) as refused:
        await queue.submit([a_job(), a_note("x" * 201), a_job()])

    assert refused.value.code == "ERR_PAYLOAD_TOO_LARGE"
    assert await all_jobs(desk) == []
    assert len(await submit(queue, a_note("x" * 50))) == 1


@with_rules(payload_bytes_max=200)
async def test_the_payload_is_measured_in_bytes(queue: Queue, desk: Desk) -> None:
    """C1: what counts is what is stored, not how many characters it has."""
    with pytest.raises(Refused) as refused:
        await queue.submit([a_note("世" * 100)])

    assert refused.value.code == "ERR_PAYLOAD_TOO_LARGE"
    assert await all_jobs(desk) == []


@with_rules(metadata_bytes_max=100)
async def test_metadata_over_the_limit_is_refused(queue: Queue, desk: Desk) -> None:
    """C1: metadata has a limit of its own."""
    with pytest.raises(Refused) as refused:
        await queue.submit([a_job(), a_job(metadata={"k": "x" * 101})])

    assert refused.value.code == "ERR_METADATA_TOO_LARGE"
    assert await all_jobs(desk) == []
    assert len(await submit(queue, a_job(metadata={"k": "x" * 50}))) == 1


@pytest.mark.parametrize(
    "value", [object(), {1, 2}.__iter__(), "\ud800"], ids=["object", "iterator", "no text"]
)
async def test_metadata_that_is_no_json_is_refused(queue: Queue, desk: Desk, value: object) -> None:
    """C1: what cannot be stored is refused with its code."""
    with pytest.raises(Refused) as refused:
        await queue.submit([a_job(metadata={"k": value})])

    assert refused.value.code == "ERR_METADATA_INVALID"
    assert await all_jobs(desk) == []


@with_rules(bulk_max=3)
async def test_a_refused_list_can_be_sent_again_in_parts(queue: Queue, desk: Desk) -> None:
    """C2: nothing of a refused list stands in the way of its jobs."""
    jobs = [a_job() for _ in range(4)]
    with pytest.raises(Refused):
        await queue.submit(jobs)

    await submit(queue, *jobs[:3])
    await submit(queue, *jobs[3:])

    assert len(await all_jobs(desk)) == 4
