"""`explain`: one sentence for every way a job can stand, true to the facts it is given."""

from dataclasses import replace

import pytest

from penstock.model.fingerprints import idempotency_key, subject_of
from penstock.model.jobs import Job, JobId, Progress, WorkerId
from penstock.model.standing import COUNT_MAX, Pause, PauseScope, Standing, WorkerSeen, clock_text, explain
from penstock.model.states import State
from tests.support.clock import START
from tests.support.jobs import a_job, an_error

LATER = START + 60
LATER_TEXT = "2025-06-15 15:07:40 UTC"


def a_stored_job(state: State = State.READY) -> Job:
    """A job as a queue would show it."""
    new = a_job("/documents/explained.txt")
    return Job(
        id=JobId("job-1"),
        item_type=new.item_type,
        op=new.op,
        tenant=new.tenant,
        collection=new.collection,
        priority=new.priority,
        state=state,
        payload_json="{}",
        idempotency_key=idempotency_key(new.collection, new.payload),
        subject=subject_of(new.collection, new.payload),
        created_at=START,
        updated_at=START,
    )


def a_standing(job: Job | None = None) -> Standing:
    """The usual facts: one worker lives and nothing is in the way."""
    return Standing(job=job or a_stored_job(), now=START, workers_alive=1)


def a_worker(*, alive: bool) -> WorkerSeen:
    return WorkerSeen(
        id=WorkerId("w1"),
        pid=7,
        host="desk",
        concurrency=2,
        started_at=START,
        beat_at=START,
        running=1,
        alive=alive,
    )


def test_times_are_shown_in_utc() -> None:
    """A time is written so that every reader means the same moment."""
    assert clock_text(LATER) == LATER_TEXT


def test_a_ready_job_says_how_many_stand_before_it() -> None:
    """Position and living workers."""
    standing = replace(a_standing(), ahead=3, workers_alive=2)

    assert explain(standing) == "It is ready; 3 jobs stand before it and 2 workers are alive."


def test_a_long_line_is_not_counted_to_its_end() -> None:
    """Behind the limit of counting the answer is "more than"."""
    assert f"more than {COUNT_MAX} jobs" in explain(replace(a_standing(), ahead=COUNT_MAX))


def test_without_a_worker_it_says_how_to_start_one() -> None:
    """The commonest cause comes with its cure."""
    sentence = explain(replace(a_standing(), workers_alive=0))

    assert sentence == "No worker is alive; start one with: penstock worker."


@pytest.mark.parametrize(
    ("alive", "draining", "sentence"),
    [
        (1, 1, "The only worker is draining and takes no more jobs; start one with: penstock worker."),
        (2, 2, "All 2 workers are draining and take no more jobs; start one with: penstock worker."),
        (2, 1, "It is ready; 0 jobs stand before it and 2 workers are alive, 1 of them draining."),
    ],
)
def test_a_worker_that_drains_is_not_counted_on(alive: int, draining: int, sentence: str) -> None:
    """It takes nothing more, so it is told as what it is."""
    standing = replace(a_standing(), workers_alive=alive, workers_draining=draining)

    assert explain(standing) == sentence


@pytest.mark.parametrize(
    ("pause", "sentence"),
    [
        (
            Pause(scope=PauseScope.ALL, by="ann", since=LATER),
            f"It is paused: everything was paused by ann at {LATER_TEXT}.",
        ),
        (
            Pause(scope=PauseScope.TENANT, name="acme", since=LATER),
            f"It is paused: tenant acme was paused at {LATER_TEXT}.",
        ),
        (
            Pause(scope=PauseScope.TYPE, name="file", by="bo", since=LATER),
            f"It is paused: type file was paused by bo at {LATER_TEXT}.",
        ),
    ],
)
def test_a_paused_job_says_who_paused_what(pause: Pause, sentence: str) -> None:
    """Scope, person and time."""
    assert explain(replace(a_standing(), pause=pause)) == sentence


def test_a_job_behind_a_tenant_deletion_says_so() -> None:
    """The deletion it waits for is named."""
    sentence = explain(replace(a_standing(), barrier="job-0"))

    assert sentence == "It waits until tenant acme has been deleted (job job-0)."


def test_a_deletion_does_not_wait_for_itself() -> None:
    """Once its way is clear the barrier's own sentence is the plain one."""
    assert explain(replace(a_standing(), barrier="job-1")).startswith("It is ready")


@pytest.mark.parametrize(
    ("running", "sentence"),
    [
        (0, "It waits until what came before it for tenant acme has been ended."),
        (1, "It waits until 1 running job of tenant acme has ended."),
        (2, "It waits until 2 running jobs of tenant acme have ended."),
    ],
)
def test_a_deletion_whose_way_is_not_clear_says_what_it_waits_for(running: int, sentence: str) -> None:
    """It is not called ready while jobs of its tenant still run."""
    job = replace(a_stored_job(), barred=True)

    assert explain(replace(a_standing(job), barrier=job.id, tenant_running=running)) == sentence


def test_a_job_behind_another_names_it() -> None:
    """One subject, one job at a time."""
    job = replace(a_stored_job(), behind=JobId("job-0"))

    assert explain(a_standing(job)) == "It waits for job job-0, which is on the same subject and came first."


def test_a_scheduled_job_says_when() -> None:
    """A due time without a failure before it is a schedule."""
    job = replace(a_stored_job(State.DELAYED), run_at=LATER)

    assert explain(a_standing(job)) == f"It is scheduled for {LATER_TEXT}."


def test_a_scheduled_job_that_nobody_would_take_says_so_too() -> None:
    """Its time is told, and that it will pass without a worker."""
    job = replace(a_stored_job(State.DELAYED), run_at=LATER)

    assert explain(replace(a_standing(job), workers_alive=0)) == (
        f"It is scheduled for {LATER_TEXT}. No worker is alive; start one with: penstock worker."
    )


@pytest.mark.parametrize(
    ("workers", "sentence"),
    [
        (0, "No worker is alive; start one with: penstock worker."),
        (1, f"It has been due since {clock_text(START)} and is about to be made ready."),
    ],
)
def test_a_time_that_has_passed_is_not_told_as_to_come(workers: int, sentence: str) -> None:
    """What keeps it waiting is that nobody was there when its time came."""
    job = replace(a_stored_job(State.DELAYED), run_at=START)

    assert explain(replace(a_standing(job), workers_alive=workers)) == sentence


def test_a_retrying_job_says_what_failed_and_when_it_goes_on() -> None:
    """The error, the count and the due time."""
    job = replace(a_stored_job(State.DELAYED), run_at=LATER, retry_count=2, error=an_error("ERR_BROKEN"))

    assert explain(a_standing(job)) == (
        f"Attempt 2 failed (ERR_BROKEN: the page would not turn); retry 2 of 3 is due at {LATER_TEXT}."
    )


def test_a_parked_job_says_what_it_waits_for() -> None:
    """Since when, because of what, until when."""
    error = an_error("ERR_DEPENDENCY_DOWN")
    job = replace(a_stored_job(State.DELAYED), run_at=LATER, parked_since=START, error=error)

    assert explain(a_standing(job)) == (
        f"It is parked since {clock_text(START)} because of ERR_DEPENDENCY_DOWN; "
        f"it is tried again at {LATER_TEXT}."
    )


def test_a_tenant_at_its_limit_is_told() -> None:
    """How many run, and how many may."""
    standing = replace(a_standing(), tenant_running=2, tenant_limit=2)

    assert explain(standing) == "Tenant acme already runs 2 jobs at once, its limit is 2."


def test_a_suspect_says_why_it_waits() -> None:
    """It waits for a worker that runs nothing else."""
    sentence = explain(a_standing(replace(a_stored_job(), crashes=2)))

    assert sentence == "It has killed 2 workers, so it waits for a worker that runs nothing else."


@pytest.mark.parametrize(
    ("progress", "words"),
    [(None, ""), (Progress(done=3), " at 3"), (Progress(done=3, total=9), " at 3 of 9")],
)
def test_a_running_job_names_its_worker_and_how_far_it_is(progress: Progress | None, words: str) -> None:
    """Who holds it, how far it is, until when."""
    job = replace(a_stored_job(State.LEASED), worker=WorkerId("w1"), lease_until=LATER, progress=progress)

    sentence = explain(replace(a_standing(job), holder=a_worker(alive=True)))

    assert sentence == f"Worker w1 is running it{words} and holds it until {LATER_TEXT}."


def test_a_running_job_that_was_cancelled_says_so() -> None:
    """It has been told, and ends with its attempt."""
    job = replace(
        a_stored_job(State.LEASED), worker=WorkerId("w1"), lease_until=LATER, cancel_code="ERR_CANCELLED"
    )

    assert "; it has been told to stop." in explain(a_standing(job))


def test_a_job_of_a_silent_worker_says_that_it_goes_back() -> None:
    """Nobody needs to wonder whether it is stuck."""
    job = replace(a_stored_job(State.LEASED), worker=WorkerId("w1"), lease_until=LATER)

    sentence = explain(replace(a_standing(job), holder=a_worker(alive=False)))

    assert f"has not been seen since {clock_text(START)}" in sentence
    assert "the job goes back" in sentence


def test_a_done_job_says_since_when() -> None:
    """The end and its time."""
    job = replace(a_stored_job(State.DONE), finished_at=LATER)

    assert explain(a_standing(job)) == f"It is done since {LATER_TEXT}."


def test_a_failed_job_says_why() -> None:
    """Attempts, message and code."""
    job = replace(a_stored_job(State.FAILED), retry_count=3, error=an_error("ERR_BROKEN"))

    assert explain(a_standing(job)) == "It failed after 4 attempts: the page would not turn (ERR_BROKEN)."


def test_a_cancelled_job_is_shown_as_cancelled() -> None:
    """People are not told that what they cancelled "failed"."""
    job = replace(a_stored_job(State.FAILED), error=an_error("ERR_CANCELLED", "cancelled"))

    assert explain(a_standing(job)) == "It was cancelled: cancelled (ERR_CANCELLED)."


def test_a_pause_comes_before_every_other_reason() -> None:
    """The reason a person can lift at once is the one that is told."""
    job = replace(a_stored_job(), behind=JobId("job-0"), run_at=LATER)
    standing = replace(a_standing(job), pause=Pause(scope=PauseScope.ALL), barrier="job-9", workers_alive=0)

    assert explain(standing).startswith("It is paused")
