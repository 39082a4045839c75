"""The desk: finding, listing, counting and explaining."""

import pytest

from penstock.model.errors import Refused
from penstock.model.jobs import JobId, NewJob
from penstock.model.outcomes import DONE, Failed, Park, Retry
from penstock.model.standing import clock_text, explain
from penstock.model.states import State
from penstock.ports.desk import Counts, Desk, Wanted
from penstock.ports.queue import Queue
from tests.contract.steps import DEAD_AFTER, LEASE, W1, W2, claim_one, die, run_next, submit
from tests.support.clock import FakeClock
from tests.support.jobs import OTHER_TENANT, a_job, a_note, a_rename, an_error

PATH = "/reports/one.txt"


async def ids_of(desk: Desk, wanted: Wanted) -> list[JobId]:
    return [job.id for job in await desk.jobs(wanted)]


async def test_an_unknown_job_is_not_found(desk: Desk) -> None:
    """Find answers with nothing, explain refuses."""
    assert await desk.find(JobId("no-such-job")) is None
    with pytest.raises(Refused) as refused:
        await desk.standing(JobId("no-such-job"))
    assert refused.value.code == "ERR_JOB_UNKNOWN"


async def test_jobs_are_listed_newest_first(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """The latest submit stands on top, whatever its priority."""
    ids = []
    for priority in (5, 9, 1):
        ids += await submit(queue, a_job(priority=priority))
        clock.advance(1)

    assert await ids_of(desk, Wanted()) == ids[::-1]


async def test_a_listing_pages_on(queue: Queue, desk: Desk) -> None:
    """Page after page, every job once, also when new ones arrive in between."""
    ids = await submit(queue, *(a_job() for _ in range(7)))

    pages = [await ids_of(desk, Wanted(limit=3))]
    await submit(queue, a_job())
    while pages[-1]:
        pages.append(await ids_of(desk, Wanted(limit=3, before=pages[-1][-1])))

    assert [job for page in pages for job in page] == ids[::-1]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(tenant=OTHER_TENANT), [4]),
        (Wanted(collection="drafts"), [3]),
        (Wanted(item_type="content"), [5]),
        (Wanted(state=State.DONE), [0]),
        (Wanted(state=State.FAILED), [1]),
        (Wanted(state=State.LEASED), [2]),
        (Wanted(state=State.DELAYED), [6]),
        (Wanted(state=State.READY), [5, 4, 3]),
        (Wanted(state=State.ACCEPTED), []),
        (Wanted(error_code="ERR_BROKEN"), [1]),
        (Wanted(state=State.READY, tenant=OTHER_TENANT), [4]),
        (Wanted(state=State.DONE, tenant=OTHER_TENANT), []),
    ],
    ids=str,
)
async def test_a_listing_shows_what_is_wanted(
    queue: Queue, desk: Desk, clock: FakeClock, wanted: Wanted, found: list[int]
) -> None:
    """Each filter, and filters together."""
    ids = await submit(queue, a_job(), a_job(), a_job())
    await run_next(queue)
    await run_next(queue, Failed(an_error("ERR_BROKEN")))
    await claim_one(queue)
    ids += await submit(
        queue,
        a_job(collection="drafts"),
        a_job(tenant=OTHER_TENANT),
        a_note(),
        a_job(run_at=clock.now() + 60),
    )

    assert [ids.index(job) for job in await ids_of(desk, wanted)] == found


async def test_every_job_is_counted_once(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """Each job stands in one of the counts, and they add up."""
    await submit(queue, a_job(), a_job(), a_job(PATH))
    await run_next(queue)
    await run_next(queue, Failed(an_error()))
    await claim_one(queue)
    await submit(queue, a_rename(PATH, "/a"), a_rename(PATH, "/b"), a_job(run_at=clock.now() + 60), a_job())

    assert await desk.counts() == Counts(ready=1, delayed=1, waiting=2, leased=1, done=1, failed=1)


async def test_an_empty_queue_counts_nothing(desk: Desk) -> None:
    """All counts are zero."""
    assert await desk.counts() == Counts()


async def test_workers_are_seen_by_their_beats(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """Who is there, since when, with how much in hand."""
    await submit(queue, a_job(), a_job())
    await queue.beat(W1, concurrency=4)
    start = clock.now()
    clock.advance(5)
    await queue.beat(W1, concurrency=4)
    await queue.claim(W1, 2)

    (seen,) = await desk.workers()

    assert (seen.id, seen.concurrency, seen.running, seen.alive) == (W1, 4, 2, True)
    assert (seen.started_at, seen.beat_at) == (start, clock.now())


async def test_a_silent_worker_is_shown_as_dead(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """Its last beat is too old; another one's is not."""
    await queue.beat(W1, concurrency=1)
    clock.advance(DEAD_AFTER + 1)
    await queue.beat(W2, concurrency=1)

    assert {worker.id: worker.alive for worker in await desk.workers()} == {W1: False, W2: True}


async def test_a_worker_that_left_is_forgotten(queue: Queue, desk: Desk) -> None:
    """A clean exit leaves no trace among the workers."""
    await queue.beat(W1, concurrency=1)

    await queue.leave(W1)

    assert await desk.workers() == []


async def test_explain_without_workers(queue: Queue, desk: Desk) -> None:
    """The commonest reason comes first."""
    (job,) = await submit(queue, a_job())

    assert explain(await desk.standing(job)) == "No worker is alive; start one with: penstock worker."


async def test_explain_counts_what_stands_before(queue: Queue, desk: Desk) -> None:
    """Higher priorities and older jobs stand before it, lower ones do not."""
    await submit(queue, a_job(priority=9), a_job(), a_job(priority=1))
    (job,) = await submit(queue, a_job())
    await queue.beat(W1, concurrency=1)

    assert explain(await desk.standing(job)) == "It is ready; 2 jobs stand before it and 1 worker is alive."


async def test_explain_a_job_behind_another(queue: Queue, desk: Desk) -> None:
    """The one it waits for is named."""
    first, second = await submit(queue, a_job(PATH), a_rename(PATH))

    assert f"It waits for job {first}," in explain(await desk.standing(second))


async def test_explain_a_running_job(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """Who runs it, and until when it is held."""
    (job,) = await submit(queue, a_job())
    await queue.beat(W1, concurrency=1)
    await claim_one(queue)

    until = clock_text(clock.now() + LEASE)
    assert explain(await desk.standing(job)) == f"Worker w1 is running it and holds it until {until}."
    clock.advance(DEAD_AFTER + 1)
    assert "has not been seen since" in explain(await desk.standing(job))


@pytest.mark.parametrize(
    ("job", "outcome", "words"),
    [
        (a_job(), Retry(an_error("ERR_BROKEN")), "retry 1 of 3 is due at"),
        (a_job(), Park(an_error("ERR_DEPENDENCY_DOWN"), 60), "because of ERR_DEPENDENCY_DOWN"),
        (a_job(), Failed(an_error("ERR_BROKEN", "torn")), "It failed after 1 attempt: torn (ERR_BROKEN)."),
        (a_job(), DONE, "It is done since"),
    ],
    ids=["retry", "park", "failed", "done"],
)
async def test_explain_what_became_of_an_attempt(
    queue: Queue, desk: Desk, job: NewJob, outcome: Retry, words: str
) -> None:
    """Retrying, parked, failed and done jobs each say so."""
    await submit(queue, job)
    await run_next(queue, outcome)

    assert words in explain(await desk.standing(job.id))


async def test_explain_a_scheduled_job(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """When it is due."""
    (job,) = await submit(queue, a_job(run_at=clock.now() + 60))

    assert explain(await desk.standing(job)) == f"It is scheduled for {clock_text(clock.now() + 60)}."


async def test_explain_a_suspect(queue: Queue, desk: Desk) -> None:
    """It waits for a worker that runs nothing else."""
    (job,) = await submit(queue, a_job())
    for _ in range(2):
        await claim_one(queue)
        await die(queue)
    await queue.beat(W2, concurrency=1)

    assert "waits for a worker that runs nothing else" in explain(await desk.standing(job))
