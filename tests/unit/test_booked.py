"""Jobs booked in the database and handed out by another engine: what either side loses, the other mends.

Both sides are real stores here; the engine is a second database, because the book must not care what it is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.model.errors import LeaseLost, Refused, Unavailable
from penstock.model.jobs import BatchId, JobId, Lease, NewJob, Progress, Receipt, WorkerId
from penstock.model.outcomes import DONE, Failed, Outcome, Retry
from penstock.model.rules import Rules
from penstock.model.states import State
from penstock.work.booked import BookedQueue
from penstock.work.booked_desk import BookedDesk
from penstock.work.relay import Comparer
from tests.support.clock import FakeClock
from tests.support.jobs import a_delete, a_document_delete, a_job, a_note, a_rename, an_error

W1, W2 = WorkerId("w1"), WorkerId("w2")
FAILED, AGAIN = Failed(an_error()), Retry(an_error())


class Away:
    """The desk of an engine that is not there."""

    def __getattr__(self, name: str) -> object:
        raise Unavailable("the queue is away", code="ERR_STORE_UNAVAILABLE")


class Line:
    """The way to the engine, which may be cut."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self.cut = False
        self.lost: set[str] = set()
        """Verbs that do not reach it."""

    async def submit(self, jobs: Sequence[NewJob], *, batch: BatchId | None = None) -> list[Receipt]:
        if self.cut:
            await self._fail()
        return await self._store.queue.submit(jobs, batch=batch)

    def __getattr__(self, name: str) -> object:
        return self._fail if name in self.lost else getattr(self._store.queue, name)

    async def _fail(self, *_: object, **__: object) -> None:
        raise Unavailable("the queue is away", code="ERR_STORE_UNAVAILABLE")


@dataclass(slots=True)
class Pair:
    """A book and an engine."""

    folder: Path
    clock: FakeClock
    book: SqliteStore
    engine: SqliteStore
    line: Line

    @property
    def queue(self) -> BookedQueue:
        async def nobody(jobs: Mapping[JobId, JobId]) -> None:
            """Wants to know what was done."""

        return BookedQueue(self.book.ledger, self.line, self.engine.desk, nobody)  # type: ignore[arg-type]

    async def compare(self) -> int:
        return await Comparer(self.book.ledger, self.engine.queue, self.engine.desk).compare()

    async def lose_the_engine(self) -> None:
        """It comes back without a memory."""
        await self.engine.close()
        self.engine = await open_sqlite(self.folder / "another", rules=Rules(), clock=self.clock)
        self.line = Line(self.engine)

    async def state(self, job: JobId) -> State:
        found = await self.book.desk.find(job)
        assert found is not None
        return found.state


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[Pair]:
    clock = FakeClock()
    book = await open_sqlite(tmp_path / "book", rules=Rules(), clock=clock, booked=True)
    engine = await open_sqlite(tmp_path / "engine", rules=Rules(), clock=clock)
    made = Pair(tmp_path, clock, book, engine, Line(engine))
    yield made
    await made.engine.close()
    await made.book.close()


async def claim_one(queue: BookedQueue, worker: WorkerId = W1) -> Lease:
    (lease,) = await queue.claim(worker, 10)
    return lease


async def test_a_job_is_accepted_while_the_engine_is_away(pair: Pair) -> None:
    """It is booked, and the engine hears of it once it is back."""
    queue, job = pair.queue, a_job()
    pair.line.cut = True

    await queue.submit([job])
    assert await queue.claim(W1, 10) == []
    pair.line.cut = False
    assert await queue.relay.send() == 1
    assert (await claim_one(queue)).job_id == job.id


async def test_a_job_of_a_transaction_reaches_the_engine(pair: Pair) -> None:
    """Committed: told once. Rolled back: never."""
    queue, job, other = pair.queue, a_job(), a_job()

    def refused(tx: object) -> None:
        tx.submit([other])  # type: ignore[attr-defined]
        raise ValueError("no")

    await pair.book.write(lambda tx: tx.submit([job]))
    with pytest.raises(ValueError, match="no"):
        await pair.book.write(refused)

    assert await queue.relay.send() == 1
    assert await queue.relay.send() == 0
    assert (await claim_one(queue)).job_id == job.id


async def test_a_message_told_twice_makes_one_job(pair: Pair) -> None:
    """A relay that died before it struck the message out sends it again."""
    queue, job = pair.queue, a_job()
    await pair.book.ledger.submit([job])
    messages = await pair.book.ledger.messages()
    await pair.engine.queue.submit([message.job for message in messages])

    await queue.relay.send()
    await queue.settle([(await claim_one(queue), DONE)])

    assert await queue.claim(W1, 10) == []
    assert await pair.state(job.id) is State.DONE


async def test_an_engine_that_forgot_everything_is_told_again(pair: Pair) -> None:
    """Waiting and running jobs alike; those that have ended stay ended."""
    done, running, waiting = a_job(), a_job(), a_job()
    await pair.queue.submit([done])
    await pair.queue.settle([(lease := await claim_one(pair.queue), DONE)])
    queue = pair.queue
    await queue.submit([done, running])
    lost = await claim_one(queue)
    await queue.submit([waiting])

    await pair.lose_the_engine()
    assert await pair.compare() == 2
    assert await pair.compare() == 0
    queue = pair.queue
    leases = await queue.claim(W2, 10)
    await queue.settle([(each, DONE) for each in leases])

    assert {each.job_id for each in leases} == {running.id, waiting.id}
    assert lost.job_id == running.id
    assert lease.job_id == done.id
    assert [await pair.state(each.id) for each in (done, running, waiting)] == [State.DONE] * 3


async def test_who_lost_its_job_writes_nothing(pair: Pair) -> None:
    """The book's token is the fence, whatever the engine counts."""
    queue, job = pair.queue, a_job()
    await queue.submit([job])
    stale = await claim_one(queue)
    await pair.lose_the_engine()
    await pair.compare()
    current = await claim_one(pair.queue, W2)

    with pytest.raises(LeaseLost):
        await pair.book.write(lambda tx: tx.guard(stale))
    await pair.book.write(lambda tx: tx.guard(current))
    assert await pair.book.ledger.settle([(stale, DONE)]) == [False]
    assert await pair.state(job.id) is State.LEASED


async def test_what_is_over_in_the_book_is_dropped_by_the_engine(pair: Pair) -> None:
    """The engine did not hear of the end: the worker died between the two."""
    queue, job, other = pair.queue, a_job(), a_job()
    await queue.submit([job, other])
    lease = next(each for each in await queue.claim(W1, 10) if each.job_id == job.id)
    await pair.book.ledger.settle([(lease, DONE)])
    await pair.engine.queue.leave(W1)
    await pair.book.ledger.leave(W1)

    assert (await claim_one(pair.queue, W2)).job_id == other.id
    there = await pair.engine.desk.find(job.id)
    assert there is not None
    assert there.state is State.DONE


async def test_a_job_another_program_gave_to_the_engine_is_entered(pair: Pair) -> None:
    """It is ours once the book has it; what joined a job that waits is that job."""
    queue, foreign, ours = pair.queue, a_job(), a_job("/a.txt")
    await queue.submit([ours])
    await pair.engine.queue.submit([foreign])

    leases = await queue.claim(W1, 10)
    assert {lease.job_id for lease in leases} == {foreign.id, ours.id}
    assert set(await queue.settle([(lease, DONE) for lease in leases])) == {True}
    assert await pair.state(foreign.id) is State.DONE


async def test_a_submit_that_joined_another_is_not_entered_again(pair: Pair) -> None:
    """The engine had handed the first one out already and made a job of the second."""
    queue, path = pair.queue, "/a.txt"
    first, second = a_job(path), a_job(path)
    await queue.submit([first])
    handed_out = await pair.engine.queue.claim(W1, 1)
    await queue.submit([second])
    ((theirs, lease),) = (await pair.book.ledger.begin(W1, handed_out)).held
    await pair.book.ledger.settle([(lease, DONE)])
    await pair.engine.queue.settle([(theirs, DONE)])

    assert await queue.claim(W1, 10) == []
    assert (await pair.book.desk.counts()).done == 1


async def test_a_later_intent_is_not_taken_for_one_that_is_over(pair: Pair) -> None:
    """The engine joined it to a job that had ended in the book; it is told again, under another id."""
    queue, path = pair.queue, "/a.txt"
    first, second = a_job(path), a_job(path)
    await queue.submit([first])
    await pair.book.desk.cancel([first.id])

    await queue.submit([second])
    lease = await claim_one(queue)

    assert lease.job_id == second.id
    assert await queue.settle([(lease, DONE)]) == [True]
    assert await pair.state(second.id) is State.DONE
    assert await queue.claim(W1, 10) == []


async def test_an_intent_that_came_late_is_the_one_that_runs(pair: Pair) -> None:
    """The engine had handed the job out, the book had not heard of it: the payload is the book's."""
    queue, path = pair.queue, "/a.txt"
    first = a_job(path, size=1)
    await queue.submit([first])
    handed_out = await pair.engine.queue.claim(W1, 1)
    await pair.book.ledger.submit([a_job(path, size=2)])

    begun = await pair.book.ledger.begin(W1, handed_out)

    ((_, lease),) = begun.held
    assert lease.payload.size_bytes == 2  # type: ignore[union-attr]


async def test_a_job_is_early_until_the_one_before_it_has_ended_in_the_book(pair: Pair) -> None:
    """It waits a moment and comes again; nothing is spent."""
    queue, path = pair.queue, "/a.txt"
    await queue.submit([a_job(path)])
    running = await claim_one(queue)
    await queue.submit([after := a_delete(path)])
    await pair.engine.queue.settle([(queue._theirs[running.job_id, running.token], DONE)])

    assert await queue.claim(W1, 10) == []
    await pair.book.ledger.settle([(running, DONE)])
    pair.clock.advance(2)
    await queue.promote()

    assert (await claim_one(queue)).job_id == after.id


async def test_the_book_follows_a_death_the_engine_saw(pair: Pair) -> None:
    """A retry is spent on both sides, and a third death is the end on both."""
    queue, job = pair.queue, a_job()
    await queue.submit([job])
    for _ in range(3):
        await queue.beat(W1, concurrency=1)
        await claim_one(queue)
        pair.clock.advance(10)
        assert await queue.rescue() == [job.id]
        pair.clock.advance(60)
        await queue.promote()

    found = await pair.book.desk.find(job.id)
    assert found is not None
    assert (found.state, found.crashes) == (State.FAILED, 3)
    assert found.error is not None
    assert found.error.code == "ERR_POISON"


async def test_the_book_knows_what_no_handler_had_begun(pair: Pair) -> None:
    """What the engine asks when a worker died: attempts that are open, and on the roll if there is one."""
    queue, jobs = pair.queue, [a_job(), a_job()]
    ids = [job.id for job in jobs]
    await queue.submit(jobs)
    roll = queue.roll(W1)
    leases = await queue.claim(W1, 2)
    roll.begins(leases[0])

    assert await pair.book.ledger.begun(ids) == {ids[0]}
    await queue.leave(W1)
    await queue.claim(W2, 2)
    assert await pair.book.ledger.begun(ids) == set(ids), "this one keeps no roll"


async def test_a_death_that_was_not_followed_is_found_by_comparing(pair: Pair) -> None:
    """The rescuer died between the engine and the book."""
    queue, job = pair.queue, a_job(max_retries=0)
    await queue.submit([job])
    await queue.beat(W1, concurrency=1)
    await claim_one(queue)
    pair.clock.advance(10)
    await pair.engine.queue.rescue()
    there = await pair.engine.desk.find(job.id)
    assert there is not None

    await pair.compare()

    assert there.state is State.FAILED
    assert await pair.state(job.id) is State.FAILED


async def test_a_row_nobody_can_read_ends_and_holds_nobody_up(pair: Pair) -> None:
    """Written by hand into the book: it fails with its code, and the others are told."""
    bad, good = a_job(), a_job()
    await pair.book.ledger.submit([bad, good])
    await pair.book.ledger.sent(await pair.book.ledger.messages())
    with closing(sqlite3.connect(pair.book.path, isolation_level=None)) as db:
        db.execute(
            "UPDATE unified_queue SET payload_json = ? WHERE queue_id = ?", ('{"file_path": 7}', bad.id)
        )

    assert await pair.compare() == 1

    found = await pair.book.desk.find(bad.id)
    assert found is not None
    assert found.error is not None
    assert (found.state, found.error.code) == (State.FAILED, "ERR_PAYLOAD_INVALID")
    assert (await claim_one(pair.queue)).job_id == good.id


@pytest.mark.parametrize(
    ("outcome", "state"), [(DONE, State.DONE), (FAILED, State.FAILED), (AGAIN, State.DELAYED)]
)
async def test_an_end_told_late_is_the_same_end(pair: Pair, outcome: Outcome, state: State) -> None:
    """The engine was away as a job ended: settling again tells it what was booked, with its delay."""
    queue, job = pair.queue, a_job()
    await queue.submit([job])
    lease = await claim_one(queue)

    pair.line.lost = {"settle"}
    with pytest.raises(Unavailable):
        await queue.settle([(lease, outcome)])
    pair.line.lost = set()
    assert await queue.settle([(lease, outcome)]) == [True]

    there = await pair.engine.desk.find(job.id)
    assert there is not None
    assert (there.state, await pair.state(job.id)) == (state, state)


async def test_what_failed_in_the_book_fails_in_the_engine(pair: Pair) -> None:
    """The worker died between the two: whoever meets the job next tells how it ended."""
    queue, job = pair.queue, a_job()
    await queue.submit([job])
    await pair.book.ledger.settle([(await claim_one(queue), FAILED)])
    await pair.engine.queue.leave(W1)

    assert await pair.queue.claim(W2, 10) == []

    there = await pair.engine.desk.find(job.id)
    assert there is not None
    assert there.error is not None
    assert (there.state, there.error.code) == (State.FAILED, FAILED.error.code)


async def test_what_was_begun_runs_though_the_engine_does_not_hear_what_is_over(pair: Pair) -> None:
    """It is told with the next claim."""
    queue, over, job = pair.queue, a_job(), a_job()
    await queue.submit([over, job])
    await pair.book.desk.cancel([over.id])

    pair.line.lost = {"settle"}
    assert (await claim_one(queue)).job_id == job.id
    pair.line.lost = set()
    assert await queue.claim(W1, 10) == []

    there = await pair.engine.desk.find(over.id)
    assert there is not None
    assert there.state is State.FAILED


async def test_a_rescue_leaves_the_next_attempt_alone(pair: Pair) -> None:
    """Another worker had begun the job before the book heard of the death."""
    queue, job = pair.queue, a_job()
    await queue.submit([job])
    await queue.beat(W1, concurrency=1)
    await claim_one(queue)
    pair.clock.advance(10)
    await pair.engine.queue.rescue()
    decided = await pair.engine.desk.find(job.id)
    pair.clock.advance(1)
    current = await claim_one(queue, W2)

    assert decided is not None
    await pair.book.ledger.follow([decided])

    await pair.book.write(lambda tx: tx.guard(current))
    assert (current.attempt, current.crashes) == (2, 1)


async def test_an_attempt_the_book_gave_away_is_not_kept_in_the_engine(pair: Pair) -> None:
    """Its handler wrote the end itself, and was taken for lost before the worker could tell."""
    queue, job = pair.queue, a_job()
    await queue.submit([job])
    lease = await claim_one(queue)
    await pair.book.write(lambda tx: tx.settle([(lease, DONE)]))

    (renewal,) = await queue.extend([lease])
    assert not renewal.held
    assert await queue.claim(W1, 10) == []

    there = await pair.engine.desk.find(job.id)
    assert there is not None
    assert there.state is State.DONE


async def test_progress_is_kept_while_the_engine_is_away(pair: Pair) -> None:
    """Nobody sees it there; the work goes on."""
    queue, job = pair.queue, a_job()
    await queue.submit([job])
    lease = await claim_one(queue)

    pair.line.lost = {"progress"}
    assert await queue.progress(lease, Progress(done=1, total=2))

    found = await pair.book.desk.find(job.id)
    assert found is not None
    assert found.progress == Progress(done=1, total=2)


async def drained(pair: Pair, rounds: int = 6) -> list[JobId]:
    """Everything in the order in which it runs, with time passing and a comparison now and then."""
    queue, order = pair.queue, []
    for _ in range(rounds):
        await queue.promote()
        while leases := await queue.claim(W2, 10):
            await queue.settle([(lease, DONE) for lease in leases])
            order += [lease.job_id for lease in leases]
        await pair.compare()
        pair.clock.advance(2)
    return order


async def test_an_engine_that_forgot_everything_gets_the_lines_of_the_book(pair: Pair) -> None:
    """Two jobs on one path run in the order of their submits, whatever their ids."""
    first, second = a_job("/x", id=JobId("z")), a_rename("/x", "/y", id=JobId("a"))
    await pair.queue.submit([first])
    await pair.queue.submit([second])

    await pair.lose_the_engine()
    assert await pair.compare() == 2

    assert await drained(pair) == [first.id, second.id]


async def test_a_running_ingest_and_its_delete_come_back_in_order(pair: Pair) -> None:
    """The engine, told of both, ends the ingest for the delete; so does the book, and the delete runs."""
    ingest, delete = a_job("/x", id=JobId("z")), a_document_delete("/x", id=JobId("a"))
    queue = pair.queue
    await queue.submit([ingest])
    await claim_one(queue)
    await queue.submit([delete])

    await pair.lose_the_engine()
    await pair.compare()

    assert await drained(pair) == [delete.id]
    assert [await pair.state(each.id) for each in (ingest, delete)] == [State.FAILED, State.DONE]


async def test_a_later_job_told_first_does_not_lock_an_earlier_one(pair: Pair) -> None:
    """After the loss a new submit reaches the engine before the old one is told again."""
    first, second = a_job("/x"), a_rename("/x", "/y")
    await pair.queue.submit([first])
    await pair.lose_the_engine()
    await pair.queue.submit([second])
    await pair.compare()

    assert await drained(pair) == [first.id, second.id]
    assert await pair.compare() == 0


async def test_a_delete_told_late_does_not_end_a_later_ingest(pair: Pair) -> None:
    """The engine ends it for the delete; the book has it wait, and it is told again."""
    delete, ingest = a_document_delete("/x"), a_job("/x")
    await pair.queue.submit([delete])
    await pair.lose_the_engine()
    await pair.queue.submit([ingest])
    await pair.compare()

    assert await drained(pair) == [delete.id, ingest.id]
    assert await pair.compare() == 0


async def test_a_job_the_engine_refuses_holds_nobody_up(pair: Pair) -> None:
    """A payload written by hand is larger than it takes: it ends with the code, the others are told."""
    large, good = a_note("x"), a_job()
    await pair.book.ledger.submit([large, good])
    await pair.book.ledger.sent(await pair.book.ledger.messages())
    with closing(sqlite3.connect(pair.book.path, isolation_level=None)) as db:
        payload = '{"content": "' + "x" * (2 << 20) + '", "source_type": "cli"}'
        db.execute("UPDATE unified_queue SET payload_json = ? WHERE queue_id = ?", (payload, large.id))

    assert await pair.compare() == 1

    await refused_with(pair, large.id, "ERR_PAYLOAD_TOO_LARGE")
    assert (await claim_one(pair.queue)).job_id == good.id


async def test_a_message_the_engine_refuses_holds_nobody_up(pair: Pair) -> None:
    """Its id is another job's there: it ends with the code, and those sent with it arrive."""
    taken, good = a_job(), a_job()
    await pair.engine.queue.submit([replace(a_job(), id=taken.id)])

    await pair.queue.submit([taken, good])

    await refused_with(pair, taken.id, "ERR_JOB_ID_TAKEN")
    assert await pair.book.ledger.messages() == []
    found = await pair.engine.desk.find(good.id)
    assert found is not None


async def refused_with(pair: Pair, job: JobId, code: str) -> None:
    found = await pair.book.desk.find(job)
    assert found is not None
    assert found.error is not None
    assert (found.state, found.error.code) == (State.FAILED, code)


async def test_what_ended_while_it_was_compared_is_not_told_again(pair: Pair) -> None:
    """Its page was read before the end, the engine was asked after it."""
    queue, job = pair.queue, a_job()
    await queue.submit([job])
    lease = await claim_one(queue)

    async def slowly(asked: Sequence[JobId]) -> set[JobId]:
        await queue.settle([(lease, DONE)])
        return set(asked)

    comparer = Comparer(pair.book.ledger, pair.engine.queue, pair.engine.desk, slowly)
    assert await comparer.compare() == 0
    assert await pair.engine.queue.claim(W2, 10) == []


async def test_a_replay_is_accepted_while_the_engine_is_away(pair: Pair) -> None:
    """It is booked once and told later; whoever asked is not told that it failed."""
    queue, job = pair.queue, a_job()
    await queue.submit([job])
    await queue.settle([(await claim_one(queue), FAILED)])
    desk = BookedDesk(pair.book.desk, pair.engine.desk, queue.relay)

    pair.line.cut = True
    (receipt,) = await desk.replay([job.id])
    pair.line.cut = False

    assert await pair.state(receipt.job_id) is State.READY
    await queue.relay.send()
    assert (await claim_one(queue)).job_id == receipt.job_id


async def test_a_cancel_is_kept_while_the_engine_is_away(pair: Pair) -> None:
    """The book has it, and the engine drops the job when its turn comes."""
    queue, job = pair.queue, a_job()
    await queue.submit([job])
    desk = BookedDesk(pair.book.desk, Away(), queue.relay)  # type: ignore[arg-type]

    assert await desk.cancel([job.id]) == [True]

    assert await pair.state(job.id) is State.FAILED
    assert await queue.claim(W1, 10) == []
    found = await pair.engine.desk.find(job.id)
    assert found is not None
    assert found.state is State.FAILED


async def test_a_job_before_its_turn_that_is_refused_holds_nobody_up(pair: Pair) -> None:
    """The engine will not have it again: it ends with the reason, and the one before it runs."""
    first, second = a_job("/x"), a_rename("/x", "/y")
    await pair.queue.submit([first])
    await pair.lose_the_engine()
    await pair.queue.submit([second])
    await pair.compare()

    async def refuse(jobs: Sequence[NewJob], *, batch: BatchId | None = None) -> list[Receipt]:
        raise Refused("no room for it", code="ERR_PAYLOAD_TOO_LARGE")

    pair.line.submit = refuse  # type: ignore[method-assign]
    queue = pair.queue
    assert await queue.claim(W1, 10) == []

    assert (await claim_one(queue)).job_id == first.id
