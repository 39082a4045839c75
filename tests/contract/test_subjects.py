"""One subject, one job at a time, in submit order."""

import asyncio

import pytest

from penstock.model.jobs import JobId, NewJob
from penstock.model.outcomes import DONE, Failed, Outcome, Park, Retry
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from tests.contract.steps import W1, W2, W3, claim_one, claimed, drain, found, run_next, submit
from tests.support.clock import FakeClock
from tests.support.jobs import (
    OTHER_TENANT,
    a_document_delete,
    a_folder,
    a_job,
    a_note,
    a_rename,
    an_error,
)

PATH = "/reports/one.txt"


async def test_a_later_job_of_a_subject_waits_for_the_first(queue: Queue, desk: Desk) -> None:
    """C10: a rename waits until the ingest of its path has ended, and says for what."""
    ingest, rename = await submit(queue, a_job(PATH), a_rename(PATH))

    lease = await claim_one(queue)
    assert lease.job_id == ingest
    assert await claimed(queue) == []
    assert (await found(desk, rename)).behind == ingest

    await queue.settle([(lease, DONE)])
    assert await claimed(queue) == [rename]
    assert (await found(desk, rename)).behind is None


async def test_submit_order_beats_priority(queue: Queue) -> None:
    """C10: however urgent, a later job of the subject does not overtake."""
    ids = await submit(
        queue, a_job(PATH, priority=0), a_rename(PATH, "/b", priority=10), a_rename(PATH, "/c", priority=9)
    )

    assert await drain(queue) == ids


async def test_submit_order_beats_the_clock(queue: Queue, clock: FakeClock) -> None:
    """C10: a clock that was set back does not turn the line around."""
    (first,) = await submit(queue, a_job(PATH))
    clock.jump(-3600)
    (second,) = await submit(queue, a_rename(PATH))

    assert await drain(queue) == [first, second]


async def test_a_claim_of_many_takes_one_of_each_subject(queue: Queue) -> None:
    """C10: one claim never hands out two jobs of a subject."""
    first, _, other = await submit(queue, a_job(PATH), a_rename(PATH), a_job())

    assert await claimed(queue) == [first, other]


async def test_workers_that_claim_at_once_never_share_a_subject(queue: Queue) -> None:
    """C10: between workers as well, one job of a subject at a time."""
    first, *_ = await submit(queue, a_job(PATH), *(a_rename(PATH, f"/to/{number}") for number in range(5)))

    leases = await asyncio.gather(*(queue.claim(worker, 5) for worker in (W1, W2, W3)))

    assert [lease.job_id for some in leases for lease in some] == [first]


@pytest.mark.parametrize("end", [DONE, Failed(an_error())], ids=["done", "failed"])
async def test_the_line_goes_on_whatever_the_end(queue: Queue, end: Outcome) -> None:
    """C10: a failed job does not hold its subject for ever."""
    _, second, third = await submit(queue, a_job(PATH), a_rename(PATH, "/b"), a_rename(PATH, "/c"))

    await run_next(queue, end)

    assert await drain(queue) == [second, third]


@pytest.mark.parametrize(
    "outcome", [Retry(an_error()), Park(an_error("ERR_DEPENDENCY_DOWN"), 5)], ids=["retry", "park"]
)
async def test_a_delayed_first_still_goes_first(queue: Queue, clock: FakeClock, outcome: Outcome) -> None:
    """C10: while the first waits for its retry, the next waits with it."""
    first, second = await submit(queue, a_job(PATH), a_rename(PATH))
    await run_next(queue, outcome)

    assert await claimed(queue) == []
    clock.advance(60)
    assert await drain(queue) == [first, second]


async def test_a_scheduled_first_still_goes_first(queue: Queue, clock: FakeClock) -> None:
    """C10: submit order holds for a job that is not yet due."""
    first, second = await submit(queue, a_job(PATH, run_at=clock.now() + 60), a_rename(PATH))
    assert await claimed(queue) == []

    clock.advance(61)

    assert await drain(queue) == [first, second]


async def test_a_job_behind_another_keeps_its_own_time(queue: Queue, clock: FakeClock) -> None:
    """C10: the line does not make a scheduled job early."""
    await submit(queue, a_job(PATH))
    (second,) = await submit(queue, a_rename(PATH, run_at=clock.now() + 60))

    await run_next(queue)
    assert await claimed(queue) == []

    clock.advance(61)
    assert await drain(queue) == [second]


async def test_a_cancelled_one_in_mid_line_lets_the_next_go_on_in_order(queue: Queue, desk: Desk) -> None:
    """C10: the one behind a cancelled job stands behind what that one stood behind."""
    first, second, third, fourth = await submit(
        queue, a_job(PATH), a_rename(PATH, "/b"), a_rename(PATH, "/c"), a_rename(PATH, "/d")
    )
    lease = await claim_one(queue)

    await desk.cancel([second])

    assert await claimed(queue) == []
    assert (await found(desk, third)).behind == first
    await queue.settle([(lease, DONE)])
    assert await drain(queue) == [third, fourth]


async def test_cancelling_the_whole_middle_keeps_the_end_waiting(queue: Queue, desk: Desk) -> None:
    """C10: however many go, the last still waits for the one that runs."""
    _, second, third, fourth = await submit(
        queue, a_job(PATH), a_rename(PATH, "/b"), a_rename(PATH, "/c"), a_rename(PATH, "/d")
    )
    lease = await claim_one(queue)

    await desk.cancel([third, second])

    assert await claimed(queue) == []
    await queue.settle([(lease, DONE)])
    assert await drain(queue) == [fourth]


@pytest.mark.parametrize(
    "others",
    [
        (a_job(PATH), a_rename(PATH, tenant=OTHER_TENANT)),
        (a_job(PATH), a_rename(PATH, collection="drafts")),
        (a_job(PATH), a_job("/reports/two.txt")),
        (a_note("one"), a_note("two")),
    ],
    ids=["tenant", "collection", "path", "text"],
)
async def test_different_subjects_run_beside_each_other(queue: Queue, others: tuple[NewJob, NewJob]) -> None:
    """C10: nothing waits for what it does not touch."""
    ids = await submit(queue, *others)

    assert sorted(await claimed(queue)) == sorted(ids)


@pytest.mark.parametrize(
    "second",
    [a_rename(PATH), a_folder(PATH), a_document_delete(PATH)],
    ids=["rename", "folder", "delete by path"],
)
async def test_what_touches_a_path_shares_its_subject(queue: Queue, second: NewJob) -> None:
    """C10: different types on one path wait for each other."""
    await submit(queue, a_job(PATH))
    await claim_one(queue)
    await submit(queue, second)

    assert await claimed(queue) == []


async def test_a_documents_jobs_share_its_subject(queue: Queue) -> None:
    """C10: with a document id the document is the subject, whatever its path is called now."""
    first, second = await submit(queue, a_job("/a.txt", document_id="d"), a_job("/b.txt", document_id="d"))

    assert await claimed(queue) == [first]
    await queue.leave(W1)
    assert await drain(queue) == [first, second]


async def test_a_successor_joins_the_end_of_its_line(queue: Queue) -> None:
    """C10: a request made while its like runs comes after what was submitted in between."""
    (first,) = await submit(queue, a_job(PATH))
    lease = await claim_one(queue)
    rename, again = await submit(queue, a_rename(PATH), a_job(PATH))

    await queue.settle([(lease, DONE)])

    assert again != first
    assert await drain(queue) == [rename, again]


async def test_long_lines_run_in_order(queue: Queue) -> None:
    """C10: two subjects with fifty jobs each, each line in its own order."""
    lines: dict[str, list[JobId]] = {"/x": [], "/y": []}
    for number in range(50):
        for path, line in lines.items():
            line += await submit(queue, a_rename(path, f"/to/{number}", priority=number % 11))

    order = await drain(queue)

    for line in lines.values():
        assert [job for job in order if job in set(line)] == line
