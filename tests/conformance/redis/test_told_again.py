"""A job told again under another id: the hash of the id its submitter knows tells what becomes of it."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from penstock.engines.redis.comparing import Comparing
from penstock.engines.redis.store import RedisPorts
from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.model.jobs import JobId, NewJob, WorkerId
from penstock.model.outcomes import DONE, Failed
from penstock.model.rules import Rules
from penstock.work.booked import BookedQueue
from penstock.work.relay import Comparer
from tests.conformance.redis.foreign import DEAD_LETTER, QUEUE, message
from tests.support.clock import FakeClock
from tests.support.jobs import a_document_delete, a_job, a_rename, an_error
from tests.support.servers.bare import Bare

W1 = WorkerId("w1")


@pytest.fixture
async def book(tmp_path: Path, rules: Rules, clock: FakeClock) -> AsyncIterator[SqliteStore]:
    store = await open_sqlite(tmp_path / "book.db", rules=rules, clock=clock, booked=True)
    yield store
    await store.close()


@pytest.fixture
def queue(book: SqliteStore, ports: RedisPorts) -> BookedQueue:
    async def nobody(jobs: Mapping[JobId, JobId]) -> None:
        """Wants to know what was done."""

    return BookedQueue(book.ledger, ports.queue, ports.desk, nobody)


@pytest.fixture
def comparer(book: SqliteStore, ports: RedisPorts) -> Comparer:
    return Comparer(book.ledger, ports.queue, ports.desk, Comparing(ports.access).unheld)


def shown(bare: Bare, job: NewJob) -> dict[str, str]:
    words = [word.decode() for word in bare.call("HGETALL", f"rag:ingest:job:{job.id}")]
    return dict(zip(words[::2], words[1::2], strict=True))


def status(bare: Bare, job: NewJob) -> str:
    return shown(bare, job)["status"]


def expires(bare: Bare, job: NewJob) -> bool:
    key = f"rag:ingest:job:{job.id}"
    assert (bare.call("TTL", key) > 0) == (bare.call("EXISTS", f"{key}:ttl") == 1)
    return bool(bare.call("TTL", key) > 0)


async def run_one(queue: BookedQueue, bare: Bare, job: NewJob) -> None:
    """Claim and end it; on the way its hash tells so."""
    (lease,) = await queue.claim(W1, 10)
    assert lease.job_id == job.id
    assert (status(bare, job), expires(bare, job)) == ("processing", False)
    assert await queue.settle([(lease, DONE)]) == [True]
    assert (status(bare, job), expires(bare, job)) == ("done", True)


async def test_a_job_of_crossed_lines_is_never_shown_as_failed(
    queue: BookedQueue, comparer: Comparer, bare: Bare, clock: FakeClock
) -> None:
    """The server lost the first one: the second stands before it there, is put back, and runs after it."""
    first, second = a_job("/x"), a_rename("/x", "/y")
    await queue.submit([first])
    bare.call("FLUSHDB")
    await queue.submit([second])
    await comparer.agree()

    assert await queue.claim(W1, 10) == []
    assert [status(bare, job) for job in (first, second)] == ["queued", "queued"]
    assert not expires(bare, second)

    await run_one(queue, bare, first)
    assert status(bare, second) == "queued"
    await run_one(queue, bare, second)
    assert shown(bare, second)["job_id"] == second.id


async def test_a_job_the_server_took_for_ended_lives_again_in_its_hash(
    queue: BookedQueue, comparer: Comparer, ports: RedisPorts, bare: Bare
) -> None:
    """The book was restored from an earlier day: what it has waiting waits, until it is done indeed."""
    job = a_job("/x")
    await queue.submit([job])
    (lease,) = await ports.queue.claim(W1, 1)
    await ports.queue.settle([(lease, Failed(an_error()))])
    submitted = shown(bare, job)["submitted_at"]

    await comparer.agree()

    told = shown(bare, job)
    assert (told["status"], told["error"], told["completed_at"]) == ("queued", "", "")
    assert (told["submitted_at"], expires(bare, job)) == (submitted, False)
    await run_one(queue, bare, job)


async def test_comparing_while_it_runs_makes_no_third_job(
    queue: BookedQueue, comparer: Comparer, ports: RedisPorts, bare: Bare
) -> None:
    """It is in hand under its second id."""
    job = a_job("/x")
    await queue.submit([job])
    (lease,) = await ports.queue.claim(W1, 1)
    await ports.queue.settle([(lease, DONE)])
    await comparer.agree()
    (lease,) = await queue.claim(W1, 1)

    assert await comparer.compare() == 0
    assert status(bare, job) == "processing"
    assert await queue.settle([(lease, DONE)]) == [True]
    assert await queue.claim(W1, 1) == []
    assert await comparer.compare() == 0
    assert status(bare, job) == "done"


async def test_a_job_told_again_twice_has_one_word(
    queue: BookedQueue, comparer: Comparer, ports: RedisPorts, bare: Bare
) -> None:
    """Each time the server ended it by itself; the last one counts."""
    job = a_job("/x")
    await queue.submit([job])
    for _ in range(2):
        (lease,) = await ports.queue.claim(W1, 1)
        await ports.queue.settle([(lease, DONE)])
        assert status(bare, job) == "done"
        await comparer.agree()
        assert (status(bare, job), expires(bare, job)) == ("queued", False)

    await run_one(queue, bare, job)


async def test_what_a_late_delete_ended_waits_again_at_once(
    queue: BookedQueue, comparer: Comparer, bare: Bare
) -> None:
    """One look of the comparer at both sides is enough."""
    delete, ingest = a_document_delete("/x"), a_job("/x")
    await queue.submit([delete])
    bare.call("FLUSHDB")
    await queue.submit([ingest])

    await comparer.agree()

    assert (status(bare, ingest), expires(bare, ingest)) == ("queued", False)
    await run_one(queue, bare, delete)
    await run_one(queue, bare, ingest)


async def test_pruning_leaves_nothing_of_a_job_told_again(
    queue: BookedQueue, comparer: Comparer, ports: RedisPorts, bare: Bare, clock: FakeClock
) -> None:
    """Neither of its rows; the documented hash expires by itself."""
    job = a_job("/x")
    await queue.submit([job])
    (lease,) = await ports.queue.claim(W1, 1)
    await ports.queue.settle([(lease, DONE)])
    await comparer.agree()
    await run_one(queue, bare, job)

    clock.advance(10)
    assert await ports.queue.prune(done_before=clock.now(), failed_before=clock.now()) == 2

    left = [key.decode() for kind in ("task", "entry", "aliases") for key in bare.call("KEYS", f"*:{kind}:*")]
    assert left == []
    assert status(bare, job) == "done"


async def test_nobody_else_may_speak_for_a_job(ports: RedisPorts, bare: Bare) -> None:
    """An id of that form in a message is refused, and the other job's hash is left alone."""
    job = a_job("/x")
    await ports.queue.submit([job])
    bare.call("LPUSH", QUEUE, message(1, job_id=f"{job.id}:again:000000000001"))

    leases = await ports.queue.claim(W1, 10)

    assert [lease.job_id for lease in leases] == [job.id]
    assert b"ERR_JOB_ID_INVALID" in bare.call("LINDEX", DEAD_LETTER, 0)
    assert status(bare, job) == "processing"


async def test_an_end_the_server_lost_holds_up_nobody(
    book: SqliteStore, queue: BookedQueue, ports: RedisPorts, bare: Bare
) -> None:
    """Its worker lives and runs it no more: what waits for the same object runs before its lease ends."""
    first, second, failed, runs = a_job("/x"), a_rename("/x", "/y"), a_job("/f"), a_job("/r")
    comparing = Comparing(ports.access)
    comparer = Comparer(book.ledger, ports.queue, ports.desk, comparing.unheld, comparing)
    await queue.submit([first, failed, runs])
    leases = {lease.job_id: lease for lease in await queue.claim(W1, 10)}
    await queue.submit([second])
    assert await book.ledger.settle([(leases[first.id], DONE)]) == [True]
    assert await book.ledger.settle([(leases[failed.id], Failed(an_error()))]) == [True]

    assert await queue.claim(W1, 10) == []
    await comparer.agree()

    assert [status(bare, job) for job in (first, failed, runs)] == ["done", "failed", "processing"]
    await run_one(queue, bare, second)
    assert await queue.settle([(leases[runs.id], DONE)]) == [True]
    assert status(bare, runs) == "done"
    assert bare.call("ZCARD", "rag:ingest:running") == 0


async def test_an_end_that_is_just_being_told_is_told_once(
    book: SqliteStore, queue: BookedQueue, ports: RedisPorts, bare: Bare, caplog: pytest.LogCaptureFixture
) -> None:
    """The book hears of an end before the server does, and whoever compares looks twice."""
    job = a_job("/x")
    comparing = Comparing(ports.access)
    await queue.submit([job])
    (lease,) = await queue.claim(W1, 10)
    (theirs,) = queue._theirs.values()
    await book.ledger.settle([(lease, DONE)])

    class Slow(Comparing):
        """The server hears of it after the first look."""

        async def running(self) -> list[JobId]:
            found = await super().running()
            await ports.queue.settle([(theirs, DONE)])
            return found

    await Comparer(book.ledger, ports.queue, ports.desk, comparing.unheld, Slow(ports.access)).agree()

    assert status(bare, job) == "done"
    assert caplog.messages == []
