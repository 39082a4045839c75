"""The same request again: one job while it waits, a successor while it runs, a new job after the end."""

import asyncio

import pytest

from penstock.model.jobs import Accepted, NewJob
from penstock.model.outcomes import DONE, RELEASE, Failed, Outcome, Park, Retry
from penstock.model.payloads import File
from penstock.model.states import State
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from tests.contract.engines import with_rules
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
from tests.support.jobs import OTHER_TENANT, a_delete, a_document_delete, a_job, a_note, a_rename, an_error

PATH = "/reports/one.txt"


async def test_a_later_payload_replaces_the_waiting_one(queue: Queue, desk: Desk) -> None:
    """C9: one job remains, under the first id, with the later payload."""
    first, later = a_job(PATH, size=1), a_job(PATH, size=2)
    await submit(queue, first)

    (receipt,) = await queue.submit([later])

    assert (receipt.job_id, receipt.how) == (first.id, Accepted.COALESCED)
    assert len(await all_jobs(desk)) == 1
    assert (await claim_one(queue)).payload == File(file_path=PATH, size_bytes=2)


@pytest.mark.parametrize(("first", "later"), [(3, 8), (8, 3)])
async def test_the_higher_priority_stays(queue: Queue, desk: Desk, first: int, later: int) -> None:
    """C9: whichever came first, the job keeps the higher of the two priorities."""
    job, _ = await submit(queue, a_job(PATH, priority=first), a_job(PATH, priority=later))

    assert (await found(desk, job)).priority == 8


async def test_a_coalesced_job_keeps_its_place(queue: Queue) -> None:
    """C9: a job that takes over a later intent does not go to the end of the line."""
    first, second, again = await submit(queue, a_job(PATH), a_job(), a_job(PATH))

    assert again == first
    assert await claimed(queue) == [first, second]


@pytest.mark.parametrize(
    "other",
    [a_job(PATH, tenant=OTHER_TENANT), a_job(PATH, collection="drafts")],
    ids=["tenant", "collection"],
)
async def test_another_tenant_or_collection_is_another_request(
    queue: Queue, desk: Desk, other: NewJob
) -> None:
    """C9: the key is unique per tenant, and names its collection."""
    await submit(queue, a_job(PATH))

    (receipt,) = await queue.submit([other])

    assert receipt.how is Accepted.CREATED
    assert len(await all_jobs(desk)) == 2
    assert len(await claimed(queue)) == 2


async def test_many_callers_at_once_make_one_job(queue: Queue, desk: Desk) -> None:
    """C9: twenty requests with one key at the same time are one job, whose id all are told."""
    receipts = [r for (r,) in await asyncio.gather(*(queue.submit([a_job(PATH)]) for _ in range(20)))]

    assert len({receipt.job_id for receipt in receipts}) == 1
    assert sorted(receipt.how for receipt in receipts) == [Accepted.COALESCED] * 19 + [Accepted.CREATED]
    assert len(await all_jobs(desk)) == 1


async def test_coalescing_lets_a_delayed_retry_run_now(queue: Queue, desk: Desk) -> None:
    """C9: whoever asks again need not wait for the delay of the failure before."""
    (job,) = await submit(queue, a_job(PATH, size=1))
    await run_next(queue, Retry(an_error()))
    assert await state_of(desk, job) is State.DELAYED

    assert await submit(queue, a_job(PATH, size=2)) == [job]

    assert await state_of(desk, job) is State.READY
    assert (await claim_one(queue)).payload == File(file_path=PATH, size_bytes=2)


async def test_coalescing_lets_a_parked_job_run_now(queue: Queue) -> None:
    """C9: a new request tries a dependency again that was down."""
    (job,) = await submit(queue, a_job(PATH))
    await run_next(queue, Park(an_error("ERR_DEPENDENCY_DOWN"), 3600))

    await submit(queue, a_job(PATH))

    assert await claimed(queue) == [job]


async def test_coalescing_without_a_time_lets_a_scheduled_job_run_now(queue: Queue, clock: FakeClock) -> None:
    """C9: the later intent, which names no time, means now."""
    (job,) = await submit(queue, a_job(PATH, run_at=clock.now() + 3600))

    await submit(queue, a_job(PATH))

    assert await claimed(queue) == [job]


async def test_a_successor_waits_while_the_first_runs(queue: Queue, desk: Desk) -> None:
    """C9: a request that comes while its like runs is a job of its own, and is held back."""
    first = a_job(PATH, size=1)
    await submit(queue, first)
    lease = await claim_one(queue)

    (receipt,) = await queue.submit([a_job(PATH, size=2)])

    assert receipt.how is Accepted.CREATED
    assert receipt.job_id != first.id
    assert (await found(desk, receipt.job_id)).behind == first.id
    assert await claimed(queue) == []
    await queue.settle([(lease, DONE)])
    successor = await claim_one(queue)
    assert (successor.job_id, successor.payload) == (receipt.job_id, File(file_path=PATH, size_bytes=2))


async def test_requests_behind_a_running_one_share_one_successor(queue: Queue, desk: Desk) -> None:
    """C9: while the successor waits, it takes over later intents as any waiting job does."""
    await submit(queue, a_job(PATH, size=1))
    await claim_one(queue)

    second, third = await submit(queue, a_job(PATH, size=2), a_job(PATH, size=3))

    assert second == third
    assert len(await all_jobs(desk)) == 2


@pytest.mark.parametrize("outcome", [DONE, Failed(an_error())], ids=["done", "failed"])
async def test_after_the_end_it_is_a_new_job(queue: Queue, outcome: Outcome) -> None:
    """C9: what has ended does not block the same request from being made again."""
    (first,) = await submit(queue, a_job(PATH))
    await run_next(queue, outcome)

    (receipt,) = await queue.submit([a_job(PATH)])

    assert receipt.how is Accepted.CREATED
    assert receipt.job_id != first
    assert await claimed(queue) == [receipt.job_id]


@pytest.mark.parametrize(
    "outcome",
    [Retry(an_error()), Park(an_error("ERR_DEPENDENCY_DOWN"), 60), RELEASE],
    ids=["retry", "park", "release"],
)
async def test_a_first_that_would_go_back_gives_way_to_its_successor(
    queue: Queue, desk: Desk, outcome: Outcome
) -> None:
    """C9: two jobs with one key never wait at once: the later intent stays, the earlier is superseded."""
    (first,) = await submit(queue, a_job(PATH, size=1))
    lease = await claim_one(queue)
    (successor,) = await submit(queue, a_job(PATH, size=2))

    assert await queue.settle([(lease, outcome)]) == [True]

    assert await ending(desk, first) == (State.FAILED, "ERR_SUPERSEDED")
    assert await claimed(queue) == [successor]


@pytest.mark.parametrize("way", ["left", "died", "rescued"])
async def test_a_first_that_is_taken_back_gives_way_to_its_successor(
    queue: Queue, desk: Desk, clock: FakeClock, way: str
) -> None:
    """C9: the same holds when the first comes back from a worker that left, died or stalled."""
    (first,) = await submit(queue, a_job(PATH, size=1))
    await claim_one(queue)
    (successor,) = await submit(queue, a_job(PATH, size=2))

    if way == "left":
        await queue.leave(W1)
    elif way == "died":
        await die(queue)
    else:
        clock.advance(LEASE + 1)
        await queue.rescue()

    assert await ending(desk, first) == (State.FAILED, "ERR_SUPERSEDED")
    assert await claimed(queue) == [successor]


async def test_a_first_that_fails_keeps_its_own_reason(queue: Queue, desk: Desk) -> None:
    """C9: a successor does not rewrite how the first ended."""
    (first,) = await submit(queue, a_job(PATH))
    lease = await claim_one(queue)
    (successor,) = await submit(queue, a_job(PATH))

    await queue.settle([(lease, Failed(an_error("ERR_BROKEN")))])

    assert await ending(desk, first) == (State.FAILED, "ERR_BROKEN")
    assert await claimed(queue) == [successor]


@with_rules(longest_waiting_every=0)
async def test_a_raised_priority_counts_at_the_next_claim(queue: Queue) -> None:
    """C9: a job that took over a higher priority is claimed by it."""
    low, middle = await submit(queue, a_job(PATH, priority=1), a_job(priority=5))

    await submit(queue, a_job(PATH, priority=9))

    assert await claimed(queue) == [low, middle]


async def test_a_document_named_later_is_the_jobs_document(queue: Queue, desk: Desk) -> None:
    """C9, C11: the later intent's document is taken over, so that a delete of it ends the job."""
    (job,) = await submit(queue, a_note("text"))
    await submit(queue, a_note("text", document_id="d"))
    named = await found(desk, job)

    await submit(queue, a_document_delete("d"))

    assert (named.document_id, named.subject) == ("d", "document:d")
    assert await ending(desk, job) == (State.FAILED, "ERR_SUPERSEDED")


async def test_a_document_known_already_is_not_forgotten(queue: Queue, desk: Desk) -> None:
    """C9: a later intent that names none is about the same one."""
    (job,) = await submit(queue, a_note("text", document_id="d"))

    await submit(queue, a_note("text"))

    assert ((await found(desk, job)).document_id, (await claim_one(queue)).document_id) == ("d", "d")


async def test_a_job_whose_document_is_named_later_stands_in_its_line(queue: Queue, desk: Desk) -> None:
    """C10: what came on that document before goes first, what comes after waits; one of them at a time."""
    first, job = await submit(queue, a_note("one", document_id="d"), a_note("text"))

    (again,) = await submit(queue, a_note("text", document_id="d"))
    (last,) = await submit(queue, a_note("two", document_id="d"))

    assert again == job
    assert ((await found(desk, job)).behind, (await found(desk, last)).behind) == (first, job)
    lease = await claim_one(queue)
    assert (lease.job_id, await claimed(queue)) == (first, [])
    assert await queue.settle([(lease, DONE)]) == [True]
    assert await drain(queue) == [job, last]


async def test_a_job_whose_document_is_named_later_leaves_its_old_line(queue: Queue) -> None:
    """C10: what waited behind it no longer does, and it no longer waits there itself."""
    job, renamed = await submit(queue, a_job(PATH), a_rename(PATH))

    await submit(queue, a_job(PATH, document_id="d"))

    assert sorted(await claimed(queue)) == sorted([job, renamed])


async def test_a_delete_that_names_a_document_reaches_the_path_too(queue: Queue, desk: Desk) -> None:
    """C11: it took over a job on the path, so what else waits there came before it on its object."""
    job, renamed = await submit(queue, a_job(PATH), a_rename(PATH))

    (again,) = await submit(queue, a_delete(PATH, document_id="d"))

    assert again == job
    assert await ending(desk, renamed) == (State.FAILED, "ERR_SUPERSEDED")
    assert await claimed(queue) == [job]
