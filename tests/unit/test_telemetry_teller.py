"""The teller counts what the queue accepted, and asks the desk what became of the rest."""

import pytest

from penstock.engines.sqlite import SqliteStore
from penstock.engines.telemetry.board import new_board
from penstock.engines.telemetry.current import ATTEMPT, current_facts
from penstock.engines.telemetry.labels import Labels
from penstock.engines.telemetry.page import Page
from penstock.engines.telemetry.teller import Teller
from penstock.model.errors import ErrorClass, ErrorReport, Unavailable
from penstock.model.jobs import Job, JobId, Lease
from penstock.model.outcomes import DONE, RELEASE, Failed, Outcome, Park, Retry
from penstock.model.rules import Rules
from penstock.ports.telemetry import SILENT
from tests.contract.steps import DEAD_AFTER, LEASE, W2, claim_one, submit
from tests.support.clock import FakeClock
from tests.support.jobs import a_delete, a_job
from tests.support.leases import a_lease
from tests.support.metrics import Numbers, numbers_of

TIRED = ErrorReport(code="ERR_HANDLER_FAILED", message="tired")
DOWN = ErrorReport(code="ERR_EMBEDDER_DOWN", message="down", kind=ErrorClass.UNAVAILABLE)
WRONG = ErrorReport(code="ERR_PDF_INVALID", message="wrong", kind=ErrorClass.PERMANENT)


class Counting:
    """A teller on the page's board, and what the page says of it."""

    def __init__(self, store: SqliteStore, clock: FakeClock) -> None:
        self.page = Page(Labels(), clock)
        self.board, self._descriptor = self.page.open_board()
        self.teller = Teller(store.desk.find, clock, self.board)
        self._queue = store.queue

    async def end(self, lease: Lease, outcome: Outcome) -> None:
        """One whole attempt."""
        self.teller.began(lease)
        self.teller.ended(lease, outcome, 0.01)
        self.teller.settled([(lease, outcome)], await self._queue.settle([(lease, outcome)]))

    async def numbers(self) -> Numbers:
        await self.teller.finish()
        return numbers_of(self.page.text()[0].decode())


@pytest.fixture
def counting(store: SqliteStore, clock: FakeClock) -> Counting:
    return Counting(store, clock)


async def test_a_done_job_is_consumed_and_completed(store: SqliteStore, counting: Counting) -> None:
    """Counted under the queue of its priority; a delete under the highest."""
    await submit(store.queue, a_job(priority=9), a_job(), a_job(priority=0), a_delete(priority=1))
    for _ in range(4):
        await counting.end(await claim_one(store.queue), DONE)

    numbers = await counting.numbers()

    assert numbers.by_queue("jobs_consumed_total") == {"high": 2, "normal": 1, "low": 1}
    assert numbers.by_queue("jobs_completed_total") == {"high": 2, "normal": 1, "low": 1}
    assert numbers.by_queue("job_processing_duration_seconds_count") == {"high": 2, "normal": 1, "low": 1}


async def test_what_the_queue_did_not_accept_is_not_counted(store: SqliteStore, counting: Counting) -> None:
    """T3: the attempt that lost its lease ends nothing."""
    await submit(store.queue, a_job())
    lease = await claim_one(store.queue)
    await counting.end(lease._replace(token=lease.token + 1), DONE)
    await counting.end(lease._replace(token=lease.token + 1), Failed(WRONG))

    numbers = await counting.numbers()

    assert numbers.by_queue("jobs_completed_total") == {}
    assert numbers.by_queue("jobs_failed_total") == {}


async def test_attempts_that_fail_are_retried_until_the_last(
    store: SqliteStore, counting: Counting, clock: FakeClock
) -> None:
    """Failed attempts are those that are tried again and the one that ends the job."""
    await submit(store.queue, a_job(max_retries=2))
    for _ in range(3):
        await counting.end(await claim_one(store.queue), Retry(TIRED))
        clock.advance(60)
        await store.queue.promote()

    numbers = await counting.numbers()

    assert numbers.by_queue("jobs_retried_total") == {"normal": 2}
    assert numbers.by_queue("jobs_dead_letter_total") == {"normal": 1}
    assert numbers.by_reason() == {"transient": 3}


async def test_a_refused_job_is_dead_at_once(store: SqliteStore, counting: Counting) -> None:
    """A permanent error is never tried again."""
    await submit(store.queue, a_job(priority=1))
    await counting.end(await claim_one(store.queue), Failed(WRONG))

    numbers = await counting.numbers()

    assert numbers.by_queue("jobs_dead_letter_total") == {"low": 1}
    assert numbers.by_reason() == {"permanent": 1}


async def test_a_message_that_became_no_job_is_dead_too(
    counting: Counting, caplog: pytest.LogCaptureFixture
) -> None:
    """Counted under the queue it came by and its reason, logged by its code: never by what it says."""
    counting.teller.refused(9, WRONG, JobId("rag-notes-1-00000001"))
    counting.teller.refused(1, WRONG, None)
    counting.teller.refused(None, WRONG, None)

    numbers = await counting.numbers()

    assert numbers.by_queue("jobs_dead_letter_total") == {"high": 1, "low": 1, "other": 1}
    assert numbers.by_reason() == {"permanent": 3}
    named, nameless, unknown = caplog.records
    assert vars(unknown)["queue"] == "other"
    assert named.getMessage() == nameless.getMessage() == f"a message is a dead letter: {WRONG.code}"
    assert (vars(named)["job_id"], vars(named)["queue"]) == ("rag-notes-1-00000001", "high")
    assert ("job_id" in vars(nameless), vars(nameless)["queue"]) == (False, "low")


async def test_parking_and_releasing_fail_nothing(store: SqliteStore, counting: Counting) -> None:
    """They spend no retry and are neither a failure nor a retry."""
    await submit(store.queue, a_job(), a_job())
    await counting.end(await claim_one(store.queue), Park(DOWN, 60.0))
    await counting.end(await claim_one(store.queue), RELEASE)

    numbers = await counting.numbers()

    assert numbers.by_reason() == {}
    assert numbers.by_queue("jobs_retried_total") == {}
    assert numbers.by_queue("job_processing_duration_seconds_count") == {"normal": 1}


async def test_a_job_parked_too_long_fails_for_its_dependency(
    store: SqliteStore, counting: Counting, clock: FakeClock
) -> None:
    """Only the queue knows for how long it has been parked."""
    await submit(store.queue, a_job())
    for _ in range(2):
        await counting.end(await claim_one(store.queue), Park(DOWN))
        clock.advance(Rules().park_seconds_max + 1)
        await store.queue.promote()

    numbers = await counting.numbers()

    assert numbers.by_queue("jobs_dead_letter_total") == {"normal": 1}
    assert numbers.by_reason() == {"unavailable": 1}


async def test_a_cancelled_attempt_is_counted_as_such(store: SqliteStore, counting: Counting) -> None:
    """The worker gives it back; that it has failed with that is known to the queue alone."""
    (job,) = await submit(store.queue, a_job())
    lease = await claim_one(store.queue)
    await store.desk.cancel([job])
    await counting.end(lease, RELEASE)

    numbers = await counting.numbers()

    assert numbers.by_queue("jobs_dead_letter_total") == {"normal": 1}
    assert numbers.by_reason() == {"cancelled": 1}


async def test_rescued_jobs_are_moved_and_retried(
    store: SqliteStore, counting: Counting, clock: FakeClock
) -> None:
    """A run-out lease is a timeout; the job is tried again."""
    await submit(store.queue, a_job())
    await store.queue.beat((await claim_one(store.queue)).worker, concurrency=1)
    clock.advance(LEASE + DEAD_AFTER + 1)
    counting.teller.rescued(await store.queue.rescue())

    numbers = await counting.numbers()

    assert numbers.value("reaper_jobs_moved_total") == 1
    assert numbers.by_queue("jobs_retried_total") == {"normal": 1}
    assert sum(numbers.by_reason().values()) == 1


@pytest.mark.parametrize("outcome", [DONE, Failed(WRONG), Retry(TIRED)])
async def test_an_end_whose_answer_was_lost_is_counted_once(
    store: SqliteStore, counting: Counting, outcome: Outcome
) -> None:
    """The first settle was accepted and its answer lost; the second one is refused."""
    await submit(store.queue, a_job())
    lease = await claim_one(store.queue)
    await store.queue.settle([(lease, outcome)])
    kept = await store.queue.settle([(lease, outcome)])
    counting.teller.settled([(lease, outcome)], kept, unclear=True)

    numbers = await counting.numbers()

    assert kept == [False]
    counted = ("jobs_completed_total", "jobs_dead_letter_total", "jobs_retried_total")
    assert sum(sum(numbers.by_queue(name).values()) for name in counted) == 1


async def test_an_end_that_was_another_attempts_is_not_counted(
    store: SqliteStore, counting: Counting, clock: FakeClock
) -> None:
    """The store was away until the lease had run out; the job was done by the next attempt."""
    await submit(store.queue, a_job())
    lease = await claim_one(store.queue)
    clock.advance(LEASE + DEAD_AFTER + 1)
    await store.queue.rescue()
    kept = await store.queue.settle([(lease, DONE)])
    await store.queue.settle([(await claim_one(store.queue, W2), DONE)])
    counting.teller.settled([(lease, DONE)], kept, unclear=True)

    assert (await counting.numbers()).by_queue("jobs_completed_total") == {}


async def test_a_store_that_is_away_puts_the_question_off(store: SqliteStore, clock: FakeClock) -> None:
    """T1: nothing is raised, and what was undecided is decided when it is back."""
    is_away = True

    async def find(job_id: JobId) -> Job | None:
        if is_away:
            raise Unavailable("away")
        return await store.desk.find(job_id)

    page = Page(Labels(), clock)
    board, _ = page.open_board()
    teller = Teller(find, clock, board)
    (job,) = await submit(store.queue, a_job())
    lease = await claim_one(store.queue)
    teller.settled([(lease, Retry(TIRED))], await store.queue.settle([(lease, Retry(TIRED))]))

    await teller.finish()
    before = numbers_of(page.text()[0].decode())
    is_away = False
    await teller.finish()
    after = numbers_of(page.text()[0].decode())

    assert (before.by_reason(), after.by_reason()) == ({}, {"transient": 1})
    assert (await store.desk.find(job)) is not None


async def test_without_a_board_nothing_is_counted_and_logs_still_know_the_attempt(store: SqliteStore) -> None:
    """T2: between its beginning and its end an attempt is the current one."""
    teller, lease = Teller(store.desk.find, store.clock), a_lease()

    teller.began(lease)
    inside = current_facts()
    teller.ended(lease, DONE, 0.1)
    teller.settled([(lease, Retry(TIRED))], [True])
    teller.rescued([lease.job_id])
    teller.left_alone(1.0)

    assert inside["job_id"] == lease.job_id
    assert ATTEMPT.get() is None


def test_silence_takes_everything() -> None:
    """Where nobody listens the work room may tell all the same."""
    lease = a_lease()
    SILENT.began(lease)
    SILENT.ended(lease, DONE, 0.1)
    SILENT.settled([(lease, DONE)], [True])
    SILENT.rescued([lease.job_id])
    SILENT.refused(5, WRONG, None)
    SILENT.left_alone(0.0)


def test_a_board_takes_over_from_another() -> None:
    """T4: numbers only grow."""
    mine, theirs = new_board(Labels()), new_board(Labels())
    mine.numbers[3], theirs.numbers[3] = 2.0, 5.0

    mine.add(theirs)

    assert mine.numbers[3] == 7.0
