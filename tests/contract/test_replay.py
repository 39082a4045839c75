"""Replay: an ended job runs again as a new one that names it."""

import json

import pytest

from penstock.model.errors import Refused
from penstock.model.jobs import Accepted, JobId, Operation
from penstock.model.outcomes import DONE, Failed, Outcome, Retry
from penstock.model.states import State
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from tests.contract.steps import W1, all_jobs, claim_one, claimed, drain, found, run_next, state_of, submit
from tests.support.clock import FakeClock
from tests.support.jobs import a_delete, a_job, an_error

PATH = "/reports/one.txt"


@pytest.mark.parametrize("end", [DONE, Failed(an_error())], ids=["done", "failed"])
async def test_an_ended_job_runs_again_under_a_new_id(queue: Queue, desk: Desk, end: Outcome) -> None:
    """C18: a new job names the old one, which stays as it ended."""
    (old,) = await submit(queue, a_job())
    await run_next(queue, end)
    before = await found(desk, old)

    (receipt,) = await desk.replay([old])

    assert receipt.how is Accepted.CREATED
    assert receipt.job_id != old
    assert (await found(desk, receipt.job_id)).replay_of == old
    assert await found(desk, old) == before
    assert await claimed(queue) == [receipt.job_id]


async def test_a_replay_does_the_same_work(queue: Queue, desk: Desk) -> None:
    """C18: payload, operation, priority and all that the submitter chose are the old job's."""
    job = a_job(
        size=7,
        op=Operation.UPDATE,
        priority=8,
        max_retries=1,
        branch="dev",
        collection="books",
        document_id="doc-1",
        metadata={"k": ["v"]},
    )
    await submit(queue, job)
    await run_next(queue, Failed(an_error()))

    (receipt,) = await desk.replay([job.id])

    again = await claim_one(queue)
    assert again.job_id == receipt.job_id
    assert (again.payload, again.op, again.priority) == (job.payload, Operation.UPDATE, 8)
    assert (again.branch, again.collection, again.document_id) == ("dev", "books", "doc-1")
    assert (await found(desk, receipt.job_id)).max_retries == 1
    assert json.loads(again.metadata_json) == {"k": ["v"]}


async def test_a_replayed_delete_then_ingest_does_both_again(queue: Queue, desk: Desk) -> None:
    """C18: what an ingest took over from a delete is part of its work."""
    (old,) = await submit(queue, a_delete(PATH))
    await submit(queue, a_job(PATH))
    await run_next(queue, Failed(an_error()))

    await desk.replay([old])

    again = await claim_one(queue)
    assert (again.op, again.delete_first) == (Operation.INGEST, True)


async def test_a_replay_starts_with_fresh_attempts(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C18: what the old job spent is not held against the new one."""
    (old,) = await submit(queue, a_job(max_retries=1))
    for _ in range(2):
        await run_next(queue, Retry(an_error()))
        clock.advance(60)
        await queue.promote()
    assert await state_of(desk, old) is State.FAILED

    (receipt,) = await desk.replay([old])

    fresh = await found(desk, receipt.job_id)
    assert (fresh.retry_count, fresh.crashes, fresh.error) == (0, 0, None)
    assert (await claim_one(queue)).attempt == 1


async def test_a_cancelled_job_can_be_replayed(queue: Queue, desk: Desk) -> None:
    """C18: wanted after all."""
    (old,) = await submit(queue, a_job())
    await desk.cancel([old])

    (receipt,) = await desk.replay([old])

    assert await drain(queue) == [receipt.job_id]


@pytest.mark.parametrize("state", ["ready", "delayed", "leased"])
async def test_an_unfinished_job_is_refused(queue: Queue, desk: Desk, state: str) -> None:
    """C18: what still runs or waits cannot be run again."""
    (job,) = await submit(queue, a_job())
    if state == "delayed":
        await run_next(queue, Retry(an_error()))
    if state == "leased":
        await queue.claim(W1, 1)

    with pytest.raises(Refused) as refused:
        await desk.replay([job])

    assert refused.value.code == "ERR_JOB_UNFINISHED"
    assert len(await all_jobs(desk)) == 1


async def test_an_unknown_job_is_refused(desk: Desk) -> None:
    """C18: there is nothing to run again."""
    with pytest.raises(Refused) as refused:
        await desk.replay([JobId("no-such-job")])
    assert refused.value.code == "ERR_JOB_UNKNOWN"


async def test_a_refused_list_replays_nothing(queue: Queue, desk: Desk) -> None:
    """C18: all of them or none."""
    (old,) = await submit(queue, a_job())
    await run_next(queue)

    with pytest.raises(Refused):
        await desk.replay([old, JobId("no-such-job")])

    assert [job.id for job in await all_jobs(desk)] == [old]


async def test_many_are_replayed_in_order(queue: Queue, desk: Desk) -> None:
    """C18: one receipt each, in the order asked."""
    old = await submit(queue, a_job(), a_job(), a_job())
    await drain(queue)

    receipts = await desk.replay(list(reversed(old)))

    new = [await found(desk, receipt.job_id) for receipt in receipts]
    assert [job.replay_of for job in new] == list(reversed(old))
    assert await drain(queue) == [job.id for job in new]


async def test_a_job_may_be_replayed_again_and_again(queue: Queue, desk: Desk) -> None:
    """C18: each replay after an end is a job of its own; a replay of a replay names that one."""
    (old,) = await submit(queue, a_job())
    await run_next(queue)
    (first,) = await desk.replay([old])
    await run_next(queue)
    (second,) = await desk.replay([first.job_id])
    await run_next(queue)
    (third,) = await desk.replay([old])

    assert (await found(desk, second.job_id)).replay_of == first.job_id
    assert (await found(desk, third.job_id)).replay_of == old
    assert len(await all_jobs(desk)) == 4


async def test_a_replay_keeps_the_rules_of_its_subject(queue: Queue, desk: Desk) -> None:
    """C10: a replay waits behind what runs on its subject now."""
    (old,) = await submit(queue, a_job(PATH))
    await run_next(queue)
    await submit(queue, a_job(PATH))
    lease = await claim_one(queue)

    (receipt,) = await desk.replay([old])

    assert await claimed(queue) == []
    await queue.settle([(lease, DONE)])
    assert await claimed(queue) == [receipt.job_id]


async def test_an_empty_replay_is_no_error(desk: Desk) -> None:
    """C18: nothing asked, nothing done."""
    assert await desk.replay([]) == []
