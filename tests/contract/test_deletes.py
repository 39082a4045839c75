"""Deletes: what they end, what they wait for, and what an ingest over them means."""

import pytest

from penstock.model.jobs import Accepted, NewJob, Operation
from penstock.model.outcomes import DONE, RELEASE, Failed, Outcome, Park, Retry
from penstock.model.states import State
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from tests.contract.steps import (
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
from tests.support.jobs import (
    OTHER_TENANT,
    a_delete,
    a_document_delete,
    a_folder,
    a_job,
    a_note,
    a_rename,
    a_scan,
    an_error,
)

PATH = "/reports/one.txt"
SUPERSEDED = (State.FAILED, "ERR_SUPERSEDED")


async def test_a_delete_takes_over_a_waiting_ingest(queue: Queue, desk: Desk) -> None:
    """C11: a delete over a waiting ingest of the same key is one job, under the first id."""
    (first,) = await submit(queue, a_job(PATH))

    (receipt,) = await queue.submit([a_delete(PATH)])

    assert (receipt.job_id, receipt.how) == (first, Accepted.COALESCED)
    lease = await claim_one(queue)
    assert (lease.job_id, lease.op, lease.delete_first) == (first, Operation.DELETE, False)
    assert len(await all_jobs(desk)) == 1


@pytest.mark.parametrize("op", [Operation.INGEST, Operation.UPDATE])
async def test_an_ingest_over_a_waiting_delete_does_both(queue: Queue, desk: Desk, op: Operation) -> None:
    """C11: one job remains, which deletes first and then ingests."""
    (first,) = await submit(queue, a_delete(PATH))

    (receipt,) = await queue.submit([a_job(PATH, size=7, op=op)])

    assert (receipt.job_id, receipt.how) == (first, Accepted.COALESCED)
    assert (await found(desk, first)).delete_first
    lease = await claim_one(queue)
    assert (lease.job_id, lease.op, lease.delete_first) == (first, op, True)
    assert lease.payload == a_job(PATH, size=7).payload


async def test_a_second_ingest_does_not_forget_the_delete(queue: Queue) -> None:
    """C11: delete, ingest, ingest is still a delete and one ingest."""
    await submit(queue, a_delete(PATH), a_job(PATH, size=1), a_job(PATH, size=2))

    lease = await claim_one(queue)

    assert (lease.op, lease.delete_first) == (Operation.INGEST, True)
    assert lease.payload == a_job(PATH, size=2).payload


async def test_a_delete_over_a_delete_then_ingest_is_a_delete(queue: Queue) -> None:
    """C11: the last word counts: delete, ingest, delete is a delete."""
    await submit(queue, a_delete(PATH), a_job(PATH), a_delete(PATH))

    lease = await claim_one(queue)

    assert (lease.op, lease.delete_first) == (Operation.DELETE, False)


@pytest.mark.parametrize(
    "waiting", [a_folder("/f"), a_scan("/f", depth=1), a_folder("/f", op=Operation.DELETE)]
)
async def test_a_scan_over_a_waiting_job_leaves_it_as_it_is(
    queue: Queue, desk: Desk, waiting: NewJob
) -> None:
    """C11: whatever waits under its key, a scan changes nothing and returns that job."""
    await submit(queue, waiting)
    before = await found(desk, waiting.id)

    (receipt,) = await queue.submit([a_scan("/f", depth=9, priority=10)])

    assert (receipt.job_id, receipt.how) == (waiting.id, Accepted.EXISTING)
    assert await all_jobs(desk) == [before]


async def test_a_scan_over_a_delayed_job_does_not_hurry_it(queue: Queue, desk: Desk) -> None:
    """C11: a retry keeps its due time when a scan comes."""
    await submit(queue, a_folder("/f"))
    await run_next(queue, Retry(an_error()))
    before = await all_jobs(desk)

    await submit(queue, a_scan("/f"))

    assert await all_jobs(desk) == before


async def test_a_scan_behind_a_running_job_is_a_job(queue: Queue) -> None:
    """C9: what runs may have passed the folder already, so the scan follows it."""
    await submit(queue, a_folder("/f"))
    lease = await claim_one(queue)

    (receipt,) = await queue.submit([a_scan("/f")])

    assert receipt.how is Accepted.CREATED
    await queue.settle([(lease, DONE)])
    assert await claimed(queue) == [receipt.job_id]


async def test_an_ingest_takes_over_a_waiting_scan(queue: Queue) -> None:
    """C9: an ingest of the folder is the stronger intent."""
    (first,) = await submit(queue, a_scan("/f"))
    await submit(queue, a_folder("/f"))

    lease = await claim_one(queue)

    assert (lease.job_id, lease.op, lease.delete_first) == (first, Operation.INGEST, False)


@pytest.mark.parametrize("delete", [a_delete(PATH), a_document_delete(PATH)], ids=["file", "document"])
async def test_a_delete_ends_earlier_waiting_jobs_of_other_keys(
    queue: Queue, desk: Desk, delete: NewJob
) -> None:
    """C11: renames and deletes under other keys on the same object are pointless now."""
    (rename, other_rename) = await submit(queue, a_rename(PATH, "/b"), a_rename(PATH, "/c"))

    (last,) = await submit(queue, delete)

    assert await ending(desk, rename) == SUPERSEDED
    assert await ending(desk, other_rename) == SUPERSEDED
    assert await drain(queue) == [last]


async def test_a_delete_that_took_over_ends_what_came_between(queue: Queue, desk: Desk) -> None:
    """C11: a rename between an ingest and the delete that took it over is earlier than the delete."""
    ingest, rename, delete = await submit(queue, a_job(PATH), a_rename(PATH), a_delete(PATH))

    assert delete == ingest
    assert await ending(desk, rename) == SUPERSEDED
    assert await drain(queue) == [ingest]


async def test_a_delete_by_path_ends_a_waiting_ingest(queue: Queue, desk: Desk) -> None:
    """C11: different keys, one object."""
    ingest, delete = await submit(queue, a_job(PATH), a_document_delete(PATH))

    assert await ending(desk, ingest) == SUPERSEDED
    assert await drain(queue) == [delete]


async def test_a_delete_ends_delayed_and_paused_jobs_too(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C11: every earlier unfinished job, whatever it waits for."""
    (retrying,) = await submit(queue, a_job(PATH))
    await run_next(queue, Retry(an_error()))
    (scheduled,) = await submit(queue, a_rename(PATH, run_at=clock.now() + 60))

    (delete,) = await submit(queue, a_document_delete(PATH))

    assert await ending(desk, retrying) == SUPERSEDED
    assert await ending(desk, scheduled) == SUPERSEDED
    assert await drain(queue) == [delete]


@pytest.mark.parametrize("delete", [a_delete(PATH), a_document_delete(PATH)], ids=["file", "document"])
async def test_a_delete_tells_a_running_job_to_stop_and_waits(
    queue: Queue, desk: Desk, delete: NewJob
) -> None:
    """C11: the running one learns it with its next renewal; the delete is not claimed before it ended."""
    (running,) = await submit(queue, a_job(PATH))
    lease = await claim_one(queue)

    (last,) = await submit(queue, delete)

    (renewal,) = await queue.extend([lease])
    assert (renewal.held, renewal.cancel_code) == (True, "ERR_SUPERSEDED")
    assert await claimed(queue) == []
    assert await queue.settle([(lease, Retry(an_error()))]) == [True]
    assert await ending(desk, running) == SUPERSEDED
    assert await drain(queue) == [last]


@pytest.mark.parametrize(
    "outcome",
    [Failed(an_error()), Retry(an_error()), Park(an_error()), RELEASE],
    ids=["failed", "retry", "park", "release"],
)
async def test_a_told_job_ends_superseded_whatever_it_reports(
    queue: Queue, desk: Desk, outcome: Outcome
) -> None:
    """C11: it cannot come back, however its attempt ended."""
    (running,) = await submit(queue, a_job(PATH))
    lease = await claim_one(queue)
    await submit(queue, a_document_delete(PATH))

    await queue.settle([(lease, outcome)])

    assert await ending(desk, running) == SUPERSEDED


async def test_a_told_job_that_was_done_already_is_done(queue: Queue, desk: Desk) -> None:
    """C11: what was finished before it heard of the delete counts, and the delete comes after it."""
    (running,) = await submit(queue, a_job(PATH))
    lease = await claim_one(queue)
    (delete,) = await submit(queue, a_document_delete(PATH))

    await queue.settle([(lease, DONE)])

    assert await state_of(desk, running) is State.DONE
    assert await drain(queue) == [delete]


async def test_a_told_job_whose_worker_dies_does_not_come_back(queue: Queue, desk: Desk) -> None:
    """C11: a death instead of an answer changes nothing about the delete."""
    (running,) = await submit(queue, a_job(PATH))
    await claim_one(queue)
    (delete,) = await submit(queue, a_delete(PATH))

    await die(queue)

    assert await ending(desk, running) == SUPERSEDED
    assert await drain(queue) == [delete]


async def test_a_delete_over_a_waiting_successor_stops_the_running_first(queue: Queue, desk: Desk) -> None:
    """C11: the delete takes over the successor, and the one that runs is told as well."""
    await submit(queue, a_job(PATH))
    lease = await claim_one(queue)
    (successor,) = await submit(queue, a_job(PATH))

    (delete,) = await submit(queue, a_delete(PATH))

    assert delete == successor
    assert (await queue.extend([lease]))[0].cancel_code == "ERR_SUPERSEDED"
    await queue.settle([(lease, RELEASE)])
    assert (await claim_one(queue)).op is Operation.DELETE


async def test_a_later_job_is_never_touched_by_a_delete(queue: Queue, desk: Desk) -> None:
    """C11: what is submitted after the delete runs after it."""
    delete, rename, ingest = await submit(queue, a_document_delete(PATH), a_rename(PATH), a_job(PATH))

    lease = await claim_one(queue)
    assert lease.job_id == delete
    assert [await state_of(desk, job) for job in (rename, ingest)] == [State.READY] * 2
    await queue.settle([(lease, DONE)])

    assert await drain(queue) == [rename, ingest]


async def test_a_delete_that_is_retried_touches_no_later_job(queue: Queue, clock: FakeClock) -> None:
    """C11: a second attempt at a delete is no second delete."""
    delete, ingest = await submit(queue, a_document_delete(PATH), a_job(PATH))

    await run_next(queue, Retry(an_error()))
    clock.advance(60)

    assert await drain(queue) == [delete, ingest]


@pytest.mark.parametrize(
    "outcome",
    [Retry(an_error()), Park(an_error("ERR_DEPENDENCY_DOWN")), RELEASE],
    ids=["retry", "park", "release"],
)
async def test_a_delete_that_gives_way_hands_its_delete_on(
    queue: Queue, desk: Desk, outcome: Outcome
) -> None:
    """C11: an ingest that waits behind a delete of its key does both when the delete could not end."""
    (delete,) = await submit(queue, a_delete(PATH))
    lease = await claim_one(queue)
    (ingest,) = await submit(queue, a_job(PATH))

    await queue.settle([(lease, outcome)])

    assert await ending(desk, delete) == SUPERSEDED
    successor = await claim_one(queue)
    assert (successor.job_id, successor.op, successor.delete_first) == (ingest, Operation.INGEST, True)


async def test_a_delete_whose_worker_dies_hands_its_delete_on(queue: Queue) -> None:
    """C11: the same when the delete's worker died on the way."""
    await submit(queue, a_delete(PATH))
    await claim_one(queue)
    await submit(queue, a_job(PATH))

    await die(queue)

    assert (await claim_one(queue)).delete_first


async def test_a_delete_that_was_done_leaves_a_plain_ingest(queue: Queue) -> None:
    """C11: an ingest behind a delete that ended need not delete again."""
    await submit(queue, a_delete(PATH))
    lease = await claim_one(queue)
    await submit(queue, a_job(PATH))

    await queue.settle([(lease, DONE)])

    successor = await claim_one(queue)
    assert (successor.op, successor.delete_first) == (Operation.INGEST, False)


@pytest.mark.parametrize(
    "other",
    [a_rename(PATH, tenant=OTHER_TENANT), a_rename(PATH, collection="drafts"), a_rename(PATH + "x")],
    ids=["tenant", "collection", "path"],
)
async def test_a_delete_touches_nothing_else(queue: Queue, desk: Desk, other: NewJob) -> None:
    """C11: other tenants, collections and paths go on as before."""
    waiting = other.id
    await submit(queue, other, a_note())

    await submit(queue, a_document_delete(PATH))

    assert await state_of(desk, waiting) is State.READY


async def test_a_delete_by_document_id_ends_the_documents_jobs(queue: Queue, desk: Desk) -> None:
    """C11: with a document id the document is the object."""
    ingest, delete = await submit(queue, a_job(document_id="doc-7"), a_document_delete("doc-7"))

    assert await ending(desk, ingest) == SUPERSEDED
    assert await drain(queue) == [delete]
