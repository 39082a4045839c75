"""The status key under foreign hands: the page calls its value JSON, so somebody may write it as a text."""

import json

import pytest

from penstock.engines.redis.describing import describe
from penstock.engines.redis.store import RedisPorts
from penstock.model.jobs import WorkerId
from penstock.model.outcomes import DONE, Failed, Outcome, Retry
from penstock.model.records import Yield
from penstock.model.statuses import STATUS_FIELDS
from tests.conformance.redis.foreign import QUEUE, id_of, letters, message, shown
from tests.support.clock import FakeClock
from tests.support.jobs import a_job, an_error
from tests.support.servers.bare import Bare

W1 = WorkerId("w1")


def set_text(bare: Bare, job_id: str) -> None:
    """What the page's heading lets a program do."""
    bare.call("SET", f"rag:ingest:job:{job_id}", json.dumps({"job_id": job_id, "status": "submitted"}))


async def test_a_message_whose_status_is_a_text_is_adopted(ports: RedisPorts, bare: Bare) -> None:
    """The message becomes a job as any other, and its status the documented hash."""
    set_text(bare, id_of())
    bare.call("LPUSH", QUEUE, message())

    (lease,) = await ports.queue.claim(W1, 1)

    assert lease.job_id == id_of()
    assert shown(bare, id_of())["filename"] == "policy-1.pdf"
    assert shown(bare, id_of())["status"] == "processing"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"source_path": 7}, ("policies_rag", "policy-1.pdf", "2025-01-10T20:15:30.123Z")),
        ({"rag_id": "no such!"}, ("no such!", "policy-1.pdf", "2025-01-10T20:15:30.123Z")),
        ({"filename": 7, "version": 2}, ("policies_rag", "", "2025-01-10T20:15:30.123Z")),
        ({"rag_id": "x" * 5000, "submitted_at": "now"}, ("", "policy-1.pdf", "2025-06-15T15:06:40.000Z")),
    ],
    ids=["path", "collection", "version", "nothing to show"],
)
async def test_a_refused_message_shows_what_it_told(
    ports: RedisPorts, bare: Bare, fields: dict[str, object], told: tuple[str, ...]
) -> None:
    """Collection, file name and time are as submitted wherever they can be read: people look for these."""
    bare.call("LPUSH", QUEUE, message(1, **fields))

    assert await ports.queue.claim(W1, 1) == []

    known = shown(bare, id_of())
    assert sorted(known) == sorted(STATUS_FIELDS)
    assert (known["rag_id"], known["filename"], known["submitted_at"]) == told
    assert (known["status"], known["job_id"]) == ("failed", id_of())


async def test_a_refused_message_whose_status_is_a_text_is_a_letter(ports: RedisPorts, bare: Bare) -> None:
    """It lies in the dead letter with its bytes, and its hash says why."""
    set_text(bare, id_of())
    bare.call("LPUSH", QUEUE, message(source_path=7))

    assert await ports.queue.claim(W1, 1) == []

    assert [letter["message"].encode() for letter in letters(bare)] == [message(source_path=7)]
    assert shown(bare, id_of())["status"] == "failed"
    assert bare.call("EXISTS", f"rag:ingest:strangers:{W1}", f"jobqueue:worker:{W1}:processing") == 0


async def test_a_job_that_joins_is_told_although_a_text_was_there(ports: RedisPorts, bare: Bare) -> None:
    """Neither the joined job's own status nor the joining one's holds anybody up."""
    first, second = a_job("/x.txt"), a_job("/x.txt")
    await ports.queue.submit([first])
    for job in (first, second):
        set_text(bare, job.id)

    await ports.queue.submit([second])
    await ports.queue.claim(W1, 1)

    for job in (first, second):
        assert (shown(bare, job.id)["job_id"], shown(bare, job.id)["status"]) == (job.id, "processing")


@pytest.mark.parametrize("outcome", [DONE, Failed(an_error()), Retry(an_error())])
@pytest.mark.parametrize("count", [1, 5])
async def test_a_text_written_over_a_running_jobs_status_costs_nothing(
    ports: RedisPorts, bare: Bare, clock: FakeClock, outcome: Outcome, count: int
) -> None:
    """Claiming and every end of an attempt go on, and the key is a hash again."""
    jobs = [a_job() for _ in range(count)]
    await ports.queue.submit(jobs)
    set_text(bare, jobs[0].id)
    leases = await ports.queue.claim(W1, count)
    assert len(leases) == count
    assert shown(bare, jobs[0].id)["status"] == "processing"
    set_text(bare, jobs[-1].id)

    assert await ports.queue.settle([(lease, outcome) for lease in leases]) == [True] * count

    ended = {shown(bare, job.id)["status"] for job in jobs}
    assert len(ended) == 1
    assert ended <= {"done", "failed", "queued"}
    assert shown(bare, jobs[-1].id)["job_id"] == jobs[-1].id


async def test_a_joined_message_shows_what_its_job_made(ports: RedisPorts, bare: Bare) -> None:
    """Chunks, embeddings and tokens stand in every hash that stands for the job."""
    first, second = a_job("/x.txt"), a_job("/x.txt")
    await ports.queue.submit([first])
    await ports.queue.submit([second])
    (lease,) = await ports.queue.claim(W1, 1)
    await ports.queue.settle([(lease, DONE)])

    assert await describe(ports.access, first.id, Yield(chunks=21, embeddings=20, tokens=5432))

    for job in (first, second):
        told = shown(bare, job.id)
        assert (told["chunks_created"], told["embeddings_generated"]) == ("21", "20")
        assert told["tokens_used"] == "5432"
        assert told["job_id"] == job.id


async def test_what_is_no_hash_is_shown_as_none(ports: RedisPorts, bare: Bare) -> None:
    """Who looks a job up is not told that the store is broken."""
    set_text(bare, id_of())

    assert await ports.survey(priorities={}, rate_key="rate").shown(id_of()) == {}
