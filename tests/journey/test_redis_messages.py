"""What a foreign message asks for is acted on, in the hash, in the book and in the end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.model.catalogue import LOCAL_TENANT
from penstock.model.errors import ErrorReport
from penstock.model.jobs import Lease, NewJob, WorkerId
from penstock.model.options import options_of
from penstock.model.outcomes import Failed, Retry
from penstock.model.payloads import File
from penstock.model.provenance import provenance_of
from penstock.model.standing import PauseScope
from penstock.settings import RedisServer
from penstock.wiring.store import Store
from tests.support.redis_program import DEAD, QUEUE, RAG, RedisProgram

W1 = WorkerId("w1")
TORN = ErrorReport(code="ERR_PDF_INVALID", message="torn")
AGAIN = Retry(ErrorReport(code="ERR_TIMEOUT", message="it took too long"))


@pytest.fixture
def yard(tmp_path: Path, redis: RedisServer) -> Iterator[RedisProgram]:
    made = RedisProgram(tmp_path, redis, worker={"retry_delays": ["0s"]})
    yield made
    made.bare.close()


@pytest.mark.parametrize(
    ("spent", "allowed", "attempts"), [(0, 3, 4), (2, 3, 2), (3, 3, 1), (0, 0, 1), (1, 5, 5)]
)
def test_retries_that_were_spent_are_not_had_again(
    yard: RedisProgram, spent: int, allowed: int, attempts: int
) -> None:
    """A message with retry_count n has n spent of its max_retries; the rest it gets, and no more."""
    job = str(yard.message(1)["job_id"])
    yard.push(yard.message(1, retry_count=spent, max_retries=allowed))

    counted, tried = [], 0
    while yard.worked(AGAIN) == [job]:
        tried += 1
        counted.append(int(yard.shown(job)["retry_count"]))
        assert tried <= attempts

    assert tried == attempts
    assert counted == [*range(spent + 1, allowed + 1), allowed]
    assert yard.shown(job)["status"] == "failed"
    assert yard.rows("status, retry_count, max_retries") == [("failed", allowed, allowed)]
    assert yard.bare.call("LLEN", DEAD) == 1


def own(yard: RedisProgram, path: Path) -> NewJob:
    """A job of ours about a file."""
    return NewJob(tenant=LOCAL_TENANT, collection=RAG, payload=File(file_path=str(path)))


def test_what_a_message_asks_for_counts_also_of_a_job_that_was_waiting(yard: RedisProgram) -> None:
    """It joins our job, which runs as the message wants: its name, its options, its retries, its urgency."""
    job = own(yard, yard.papers / "policy-1.txt")
    asked = yard.message(
        1, filename="Named.txt", options={"reindex": True, "skip_validation": True}, max_retries=7
    )

    async def work(store: Store) -> list[Lease]:
        await store.queue.submit([job])
        yard.push(asked, f"{QUEUE}:high")
        return await store.queue.claim(W1, 1)

    (lease,) = yard.in_store(work)

    told = provenance_of(lease.metadata_json)
    assert (lease.job_id, lease.priority) == (job.id, 9)
    assert (told.filename, told.reindex) == ("Named.txt", True)
    assert options_of(lease.metadata_json).skip_validation
    assert yard.rows("queue_id, max_retries") == [(job.id, 7)]
    assert yard.shown(str(asked["job_id"]))["status"] == "processing"


def test_a_message_that_was_held_back_is_done_when_what_joined_it_is(yard: RedisProgram) -> None:
    """Redis has our job join it, the book has it join ours: both hashes tell of the one that runs."""
    job, asked = own(yard, yard.papers / "policy-1.txt"), yard.message(1)
    seen = []

    def look() -> None:
        seen.append([yard.shown(each)["status"] for each in (str(asked["job_id"]), job.id)])

    async def work(store: Store) -> None:
        await store.desk.pause(PauseScope.COLLECTION, RAG)
        yard.push(asked)
        assert await store.queue.claim(W1, 5) == []
        await store.queue.submit([job])
        look()
        await store.desk.resume(PauseScope.COLLECTION, RAG)
        (lease,) = await store.queue.claim(W1, 5)
        look()
        await store.queue.settle([(lease, Failed(TORN))])
        look()

    yard.in_store(work)

    assert seen == [["queued"] * 2, ["processing"] * 2, ["failed"] * 2]
    assert yard.rows("status, error_code") == [("failed", "ERR_PDF_INVALID")]
