"""Pausing: held back until resumed, and nobody else pays for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from penstock.model.jobs import JobId
from penstock.model.outcomes import DONE, Retry
from penstock.model.payloads import ItemType
from penstock.model.standing import Pause, PauseScope, explain
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from tests.contract.engines import Home, Store, with_rules
from tests.contract.steps import claim_one, claimed, drain, run_next, submit
from tests.support.clock import FakeClock
from tests.support.jobs import OTHER_TENANT, TENANT, a_job, a_note, a_rename, a_tenant_delete, an_error

SCOPES = [
    (PauseScope.ALL, ""),
    (PauseScope.TENANT, TENANT),
    (PauseScope.COLLECTION, "notes"),
    (PauseScope.TYPE, ItemType.FILE),
]
NAMES = [scope.value for scope, _ in SCOPES]
plain_order = with_rules(longest_waiting_every=0)


@asynccontextmanager
async def claiming_all_the_time(queue: Queue) -> AsyncIterator[list[JobId]]:
    """A busy worker that asks again as soon as it was answered; what it was handed."""
    seen: list[JobId] = []

    async def ask() -> None:
        while True:
            seen.extend(await claimed(queue, idle=False))

    asking = asyncio.create_task(ask())
    try:
        yield seen
    finally:
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking


@plain_order
@pytest.mark.parametrize(("scope", "name"), SCOPES, ids=NAMES)
async def test_a_paused_job_is_not_claimed_until_resumed(
    queue: Queue, desk: Desk, scope: PauseScope, name: str
) -> None:
    """C15: in every scope, a pause holds jobs back and a resume restores their order."""
    ids = await submit(queue, a_job(priority=3), a_job(priority=9), a_job(priority=5))
    await desk.pause(scope, name)
    assert await claimed(queue) == []
    assert await claimed(queue) == []

    assert await desk.resume(scope, name)

    assert await claimed(queue) == [ids[1], ids[2], ids[0]]


@pytest.mark.parametrize(("scope", "name"), SCOPES, ids=NAMES)
async def test_jobs_submitted_during_a_pause_are_held_too(
    queue: Queue, desk: Desk, scope: PauseScope, name: str
) -> None:
    """C15: a pause is a rule, not a list of jobs."""
    await desk.pause(scope, name)
    (job,) = await submit(queue, a_job())

    assert await claimed(queue) == []
    await desk.resume(scope, name)
    assert await claimed(queue) == [job]


@pytest.mark.parametrize("limit", [1, 10])
@pytest.mark.parametrize("tenant", ["a", "z"])
@pytest.mark.parametrize(("scope", "name"), SCOPES[1:], ids=NAMES[1:])
async def test_the_others_are_claimed_as_if_it_were_not_there(
    queue: Queue, desk: Desk, scope: PauseScope, name: str, tenant: str, limit: int
) -> None:
    """C15: paused jobs cost the claim nothing, whatever stands where in the order."""
    await submit(queue, *(a_job(priority=priority) for priority in (9, 5, 1)))
    other, lowest = await submit(
        queue,
        a_note(tenant=tenant, collection="drafts", priority=5),
        a_note(tenant=TENANT + "2", collection="drafts", priority=1),
    )

    await desk.pause(scope, name)

    assert await claimed(queue, limit) == [other, lowest][:limit]


async def test_a_paused_lane_does_not_hide_another_of_its_priority(queue: Queue, desk: Desk) -> None:
    """C15: a tenant with nothing but paused jobs is stepped over without losing the priority."""
    await submit(queue, *(a_job(tenant=tenant, priority=9) for tenant in "abc"))
    high, _ = await submit(queue, a_note(tenant="d", priority=9), a_note(tenant="d", priority=1))

    await desk.pause(PauseScope.TYPE, ItemType.FILE)

    assert await claimed(queue, 1) == [high]


async def test_a_running_job_goes_on(queue: Queue, desk: Desk) -> None:
    """C15: a pause holds back claims, not attempts."""
    await submit(queue, a_job())
    lease = await claim_one(queue)
    await desk.pause(PauseScope.ALL)

    assert (await queue.extend([lease]))[0].held
    assert await queue.settle([(lease, DONE)]) == [True]


async def test_a_paused_job_keeps_its_place_in_its_subjects_line(queue: Queue, desk: Desk) -> None:
    """C15: a later job of the subject, not paused itself, does not overtake."""
    first, second = await submit(queue, a_job("/one.txt"), a_rename("/one.txt"))
    await desk.pause(PauseScope.TYPE, ItemType.FILE)
    assert await claimed(queue) == []

    await desk.resume(PauseScope.TYPE, ItemType.FILE)

    assert await drain(queue) == [first, second]


async def test_two_pauses_must_both_be_lifted(queue: Queue, desk: Desk) -> None:
    """C15: a job held back twice is let go by the second resume."""
    (job,) = await submit(queue, a_job())
    await desk.pause(PauseScope.COLLECTION, "notes")
    await desk.pause(PauseScope.TYPE, ItemType.FILE)
    assert await claimed(queue) == []

    await desk.resume(PauseScope.COLLECTION, "notes")
    assert await claimed(queue) == []
    await desk.resume(PauseScope.TYPE, ItemType.FILE)

    assert await claimed(queue) == [job]


@pytest.mark.parametrize("lifted", [0, 1], ids=["collection", "type"])
async def test_a_resume_ends_while_another_pause_holds_the_same_jobs(
    queue: Queue, desk: Desk, lifted: int
) -> None:
    """C15: jobs still held back are not let go and set aside in turns, however busily workers claim."""
    ids = await submit(queue, *(a_job() for _ in range(50)))
    both = [(PauseScope.COLLECTION, "notes"), (PauseScope.TYPE, ItemType.FILE.value)]
    for scope, name in both:
        await desk.pause(scope, name)
    assert await claimed(queue) == []

    async with claiming_all_the_time(queue) as seen:
        assert await asyncio.wait_for(desk.resume(*both.pop(lifted)), 30)
    assert seen == []
    assert await queue.promote() is None

    await desk.resume(*both.pop())
    assert await claimed(queue) == ids


async def test_a_retry_that_comes_due_during_a_pause_is_held(
    queue: Queue, desk: Desk, clock: FakeClock
) -> None:
    """C15: being due is not being allowed."""
    (job,) = await submit(queue, a_job())
    await run_next(queue, Retry(an_error()))
    await desk.pause(PauseScope.TENANT, TENANT)
    clock.advance(60)
    await queue.promote()
    assert await claimed(queue) == []

    await desk.resume(PauseScope.TENANT, TENANT)

    assert await claimed(queue) == [job]


async def test_a_job_that_takes_over_an_intent_stays_paused(queue: Queue, desk: Desk) -> None:
    """C15: asking again is no way around a pause."""
    await submit(queue, a_job("/one.txt"))
    await desk.pause(PauseScope.COLLECTION, "notes")
    assert await claimed(queue) == []

    await submit(queue, a_job("/one.txt", priority=10))

    assert await claimed(queue) == []


async def test_a_paused_deletion_holds_its_tenant(queue: Queue, desk: Desk) -> None:
    """C15: pausing the tenant's deletion does not let later jobs pass it."""
    barrier, later = await submit(queue, a_tenant_delete(), a_job())
    await desk.pause(PauseScope.TYPE, ItemType.DELETE_TENANT)
    await queue.promote()
    assert await claimed(queue) == []

    await desk.resume(PauseScope.TYPE, ItemType.DELETE_TENANT)

    assert await drain(queue) == [barrier, later]


@pytest.mark.parametrize(("scope", "name"), SCOPES, ids=NAMES)
async def test_explain_says_who_paused_it(
    queue: Queue, desk: Desk, clock: FakeClock, scope: PauseScope, name: str
) -> None:
    """C15: a person who asks why it waits learns whom to ask."""
    (job,) = await submit(queue, a_job())
    await desk.pause(scope, name, by="ann")

    standing = await desk.standing(job)

    assert standing.pause == Pause(scope=scope, name=name, by="ann", since=clock.now())
    assert "was paused by ann at" in explain(standing)


async def test_pauses_are_listed(desk: Desk, clock: FakeClock) -> None:
    """C15: what is held back can be seen, and pausing twice keeps the first word."""
    await desk.pause(PauseScope.TENANT, TENANT, by="ann")
    clock.advance(5)
    await desk.pause(PauseScope.TENANT, TENANT, by="bo")
    await desk.pause(PauseScope.ALL, by="bo")

    assert await desk.pauses() == [
        Pause(scope=PauseScope.TENANT, name=TENANT, by="ann", since=clock.now() - 5),
        Pause(scope=PauseScope.ALL, by="bo", since=clock.now()),
    ]


async def test_resuming_what_was_not_paused_says_so(desk: Desk) -> None:
    """C15: False where there was no such pause."""
    await desk.pause(PauseScope.TENANT, TENANT)

    assert not await desk.resume(PauseScope.TENANT, OTHER_TENANT)
    assert not await desk.resume(PauseScope.ALL)
    assert await desk.resume(PauseScope.TENANT, TENANT)
    assert not await desk.resume(PauseScope.TENANT, TENANT)
    assert await desk.pauses() == []


async def test_a_pause_survives_a_restart(home: Home, store: Store) -> None:
    """C15: what an operator held back is not let go by a crash."""
    await submit(store.queue, a_job())
    await store.desk.pause(PauseScope.ALL, by="ann")

    after = await home.crash(store)

    assert await claimed(after.queue) == []
    assert [pause.by for pause in await after.desk.pauses()] == ["ann"]


@pytest.mark.parametrize(("scope", "name"), SCOPES, ids=NAMES)
async def test_paused_jobs_are_counted_as_paused(
    queue: Queue, desk: Desk, scope: PauseScope, name: str
) -> None:
    """C15: the operator does not see held-back jobs as ready, whether a claim has met them or not."""
    await submit(queue, a_job(), a_job(), a_note(tenant=OTHER_TENANT, collection="drafts"))
    await desk.pause(scope, name)

    counts = await desk.counts()

    held = 3 if scope is PauseScope.ALL else 2
    assert (counts.paused, counts.ready) == (held, 3 - held)


async def test_a_paused_and_scheduled_job_is_counted_once(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C15: a later intent may give a held-back job a due time; it is still one job."""
    await submit(queue, a_job("/one.txt"))
    await desk.pause(PauseScope.COLLECTION, "notes")
    assert await claimed(queue) == []

    await submit(queue, a_job("/one.txt", run_at=clock.now() + 60))

    counts = await desk.counts()
    assert counts.ready + counts.delayed + counts.waiting + counts.paused == 1
