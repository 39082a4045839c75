"""The desk: finding, listing, counting and explaining."""

from dataclasses import replace

import pytest

from penstock.model.errors import Refused
from penstock.model.jobs import JobId, NewJob
from penstock.model.outcomes import DONE, Failed, Park, Retry
from penstock.model.standing import PauseScope, clock_text, explain
from penstock.model.states import State
from penstock.ports.desk import Counts, Desk, Wanted
from penstock.ports.queue import Queue
from tests.contract.steps import DEAD_AFTER, LEASE, W1, W2, claim_one, die, run_next, submit
from tests.support.clock import FakeClock
from tests.support.jobs import OTHER_TENANT, a_job, a_note, a_rename, a_tenant_delete, an_error

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


@pytest.mark.parametrize("state", [None, State.READY, State.FAILED, State.DELAYED])
async def test_a_listing_by_state_pages_on(
    queue: Queue, desk: Desk, clock: FakeClock, state: State | None
) -> None:
    """Jobs of several types come in one order, page after page, each once."""
    ids = []
    for number in range(9):
        due = clock.now() + 60 if state is State.DELAYED else None
        ids += await submit(queue, a_job(run_at=due) if number % 3 else a_note(run_at=due))
    if state is State.FAILED:
        for _ in ids:
            await run_next(queue, Failed(an_error()))

    pages = [await ids_of(desk, Wanted(state=state, limit=2))]
    while pages[-1]:
        pages.append(await ids_of(desk, Wanted(state=state, limit=2, before=pages[-1][-1])))

    assert [job for page in pages for job in page] == ids[::-1]


async def test_a_listing_leaves_payloads_out_if_asked(queue: Queue, desk: Desk) -> None:
    """Everything else about a job is told as it is."""
    (job,) = await submit(queue, a_note("a long text", document_id="d", metadata={"year": 2024}))
    (whole,) = await desk.jobs(Wanted())

    (slim,) = await desk.jobs(Wanted(payload=False))

    assert (whole.id, "a long text" in whole.payload_json) == (job, True)
    assert slim == replace(whole, payload_json="{}")


async def test_a_listing_before_an_unknown_job_is_empty(queue: Queue, desk: Desk) -> None:
    """There is nothing older than a job nobody knows."""
    await submit(queue, a_job())

    assert await ids_of(desk, Wanted(before=JobId("no-such-job"))) == []


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(tenants=[OTHER_TENANT]), [4]),
        (Wanted(collection="drafts"), [3]),
        (Wanted(item_type="content"), [5]),
        (Wanted(state=State.DONE), [0]),
        (Wanted(state=State.FAILED), [1]),
        (Wanted(state=State.LEASED), [2]),
        (Wanted(state=State.DELAYED), [6]),
        (Wanted(state=State.READY), [5, 4, 3]),
        (Wanted(state=State.ACCEPTED), []),
        (Wanted(error_code="ERR_BROKEN"), [1]),
        (Wanted(state=State.READY, tenants=[OTHER_TENANT]), [4]),
        (Wanted(state=State.DONE, tenants=[OTHER_TENANT]), []),
        (Wanted(state=State.READY, item_type="file"), [4, 3]),
        (Wanted(state=State.DELAYED, item_type="content"), []),
        (Wanted(item_type="file"), [6, 4, 3, 2, 1, 0]),
        (Wanted(item_type="file", limit=2), [6, 4]),
        (Wanted(state=State.FAILED, error_code="ERR_TIMEOUT"), []),
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


async def test_what_waits_for_a_tenants_deletion_is_told_apart(queue: Queue, desk: Desk) -> None:
    """C12: jobs behind the deletion are barred, the deletion only while older ones run, and others never."""
    (running,) = await submit(queue, a_job(tenant=OTHER_TENANT))
    lease = await claim_one(queue)
    deletion, behind, other = await submit(
        queue, a_tenant_delete(tenant=OTHER_TENANT), a_job(tenant=OTHER_TENANT), a_job()
    )

    async def barred() -> set[JobId]:
        listed = {job.id for job in await desk.jobs(Wanted()) if job.barred}
        for job_id in (running, deletion, behind, other):
            found = await desk.find(job_id)
            assert found is not None
            assert found.barred == (job_id in listed)
        return listed

    assert await barred() == {deletion, behind}
    await queue.settle([(lease, DONE)])
    await queue.promote()
    assert await barred() == {behind}


async def test_an_empty_queue_counts_nothing(desk: Desk) -> None:
    """All counts are zero."""
    assert await desk.counts() == Counts()


async def test_the_oldest_is_the_one_ready_for_longest(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """However many are ready, whatever their priority; running, delayed and waiting ones are not."""
    await submit(queue, a_job(PATH, priority=9))
    await claim_one(queue)
    await submit(queue, a_rename(PATH), a_job(run_at=clock.now() + 600))
    clock.advance(1)
    (oldest,) = await submit(queue, a_job(priority=1))
    clock.advance(1)
    await submit(queue, *(a_job(priority=9) for _ in range(300)))

    found = await desk.oldest()

    assert found is not None
    assert found.id == oldest


@pytest.mark.parametrize(
    ("scope", "name"),
    [
        (PauseScope.TENANT, OTHER_TENANT),
        (PauseScope.COLLECTION, "drafts"),
        (PauseScope.TYPE, "content"),
        (PauseScope.ALL, ""),
    ],
)
async def test_what_is_held_back_is_not_the_oldest(
    queue: Queue, desk: Desk, clock: FakeClock, scope: PauseScope, name: str
) -> None:
    """Jobs that no worker may take are not ready, so another one is the oldest, or none."""
    for _ in range(5):
        await submit(queue, a_note(tenant=OTHER_TENANT, collection="drafts"))
        clock.advance(1)
    (open_one,) = await submit(queue, a_job())
    await desk.pause(scope, name)

    found = await desk.oldest()

    assert (found.id if found else None) == (None if scope is PauseScope.ALL else open_one)


async def test_a_tenant_under_deletion_has_no_oldest(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """Its jobs wait for the deletion; what others have is ready."""
    await submit(queue, a_job(tenant=OTHER_TENANT))
    await claim_one(queue)
    clock.advance(1)
    await submit(queue, a_tenant_delete(tenant=OTHER_TENANT), a_job(tenant=OTHER_TENANT))
    clock.advance(1)
    (open_one,) = await submit(queue, a_job())

    found = await desk.oldest()

    assert found is not None
    assert found.id == open_one


async def test_an_empty_queue_has_no_oldest(desk: Desk) -> None:
    """Nothing is ready."""
    assert await desk.oldest() is None


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


async def test_a_worker_long_dead_is_forgotten(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """Also one that held nothing when it died, which nobody has to rescue."""
    await queue.beat(W1, concurrency=1)
    clock.advance(2 * 3600)
    await queue.beat(W2, concurrency=1)

    await queue.rescue()
    await queue.prune(done_before=0, failed_before=0)

    assert [worker.id for worker in await desk.workers()] == [W2]


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


async def test_a_worker_that_drains_is_told_as_such(queue: Queue, desk: Desk) -> None:
    """One that offers to run nothing is alive, and takes nothing more."""
    (job,) = await submit(queue, a_job())
    await queue.beat(W1, concurrency=2)
    await queue.beat(W1, concurrency=0)

    (seen,) = await desk.workers()
    assert (seen.alive, seen.draining) == (True, True)
    assert explain(await desk.standing(job)).startswith("The only worker is draining and takes no more jobs")
    await queue.beat(W2, concurrency=2)
    assert explain(await desk.standing(job)).endswith("2 workers are alive, 1 of them draining.")


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
    await queue.beat(W1, concurrency=1)

    assert explain(await desk.standing(job)) == f"It is scheduled for {clock_text(clock.now() + 60)}."


async def test_explain_a_job_whose_time_came_while_nobody_was_there(
    queue: Queue, desk: Desk, clock: FakeClock
) -> None:
    """The reason is the worker that is missing, not a time that has passed."""
    (job,) = await submit(queue, a_job(run_at=clock.now() + 60))
    clock.advance(61)

    assert explain(await desk.standing(job)) == "No worker is alive; start one with: penstock worker."


async def test_explain_a_suspect(queue: Queue, desk: Desk) -> None:
    """It waits for a worker that runs nothing else."""
    (job,) = await submit(queue, a_job())
    for _ in range(2):
        await claim_one(queue)
        await die(queue)
    await queue.beat(W2, concurrency=1)

    assert "waits for a worker that runs nothing else" in explain(await desk.standing(job))
