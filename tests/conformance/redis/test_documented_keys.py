"""The documented keys of our own jobs, seen through a bare client."""

import json
from collections.abc import Iterator

import pytest

from penstock.engines.redis.store import RedisPorts
from penstock.model.errors import ErrorReport
from penstock.model.jobs import Progress, WorkerId
from penstock.model.outcomes import DONE, Failed, Outcome, Park, Retry
from penstock.model.payloads import File
from penstock.model.statuses import STATUS_FIELDS
from tests.conformance.redis.foreign import QUEUE, shown
from tests.support.clock import FakeClock
from tests.support.jobs import a_job, a_job_about, a_note, an_error
from tests.support.servers.bare import Bare

W1 = WorkerId("w1")
WEEK = 604_800


async def test_a_waiting_job_is_a_documented_message(ports: RedisPorts, bare: Bare) -> None:
    """LRANGE shows the fields of the page, and our own behind them."""
    job = a_job("/documents/policy.pdf")
    await ports.queue.submit([job])

    (element,) = bare.call("LRANGE", f"{QUEUE}:normal", 0, -1)

    told = json.loads(element)
    documented = ("job_id", "rag_id", "source_path", "source_type", "filename", "retry_count", "max_retries")
    assert [told[name] for name in documented] == [
        job.id,
        "notes",
        "/documents/policy.pdf",
        "pdf",
        "policy.pdf",
        0,
        3,
    ]
    assert told["submitted_at"].endswith("Z")
    assert told["options"] == {"reindex": False, "skip_validation": False, "preserve_metadata": True}


@pytest.mark.parametrize(
    ("priority", "tenant", "name"),
    [
        (9, "acme", "high"),
        (5, "acme", "normal"),
        (1, "acme", "low"),
        (7, "acme", "priority-7"),
        (5, "globex", "priority-5:globex"),
    ],
)
async def test_each_priority_and_tenant_has_its_list(
    ports: RedisPorts, bare: Bare, priority: int, tenant: str, name: str
) -> None:
    """Named lists hold the priorities of their names; the others' names no collection can have."""
    await ports.queue.submit([a_job(priority=priority, tenant=tenant)])

    assert bare.call("LLEN", f"{QUEUE}:{name}") == 1


async def test_the_oldest_is_at_the_end(ports: RedisPorts, bare: Bare) -> None:
    """LINDEX -1 is the oldest, LLEN counts, and a claim takes from there."""
    jobs = [a_job() for _ in range(5)]
    await ports.queue.submit(jobs)
    await ports.queue.claim(W1, 2)

    assert bare.call("LLEN", f"{QUEUE}:normal") == 3
    assert json.loads(bare.call("LINDEX", f"{QUEUE}:normal", -1))["job_id"] == jobs[2].id


@pytest.mark.parametrize(
    ("outcome", "status"),
    [(DONE, "done"), (Failed(an_error("ERR_BROKEN", "torn page")), "failed"), (Park(an_error()), "queued")],
    ids=["done", "failed", "parked"],
)
async def test_the_status_hash_follows_the_job(
    ports: RedisPorts, bare: Bare, clock: FakeClock, outcome: Outcome, status: str
) -> None:
    """HGETALL shows exactly the documented fields, and the documented states as the job moves."""
    job = a_job("/documents/policy.pdf")
    await ports.queue.submit([job])
    waiting = shown(bare, job.id)
    assert sorted(waiting) == sorted(STATUS_FIELDS)
    assert (waiting["status"], waiting["rag_id"], waiting["filename"]) == ("queued", "notes", "policy.pdf")
    assert (waiting["started_at"], waiting["error"], waiting["retry_count"]) == ("", "", "0")

    clock.advance(5)
    (lease,) = await ports.queue.claim(W1, 1)
    running = shown(bare, job.id)
    assert (running["status"], running["started_at"]) == ("processing", "2025-06-15T15:06:45.000Z")

    clock.advance(25)
    await ports.queue.settle([(lease, outcome)])
    ended = shown(bare, job.id)
    assert sorted(ended) == sorted(STATUS_FIELDS)
    assert ended["status"] == status
    if status == "done":
        assert (ended["completed_at"], ended["duration_seconds"]) == ("2025-06-15T15:07:10.000Z", "25")
    if status == "failed":
        assert (ended["error"], bool(ended["error_type"])) == ("torn page", True)


async def test_only_an_ended_job_expires(ports: RedisPorts, bare: Bare) -> None:
    """Seven days after the end, hash and end time go together; before, nothing expires."""
    job = a_job()
    await ports.queue.submit([job])
    (lease,) = await ports.queue.claim(W1, 1)
    key = f"rag:ingest:job:{job.id}"
    assert (bare.call("TTL", key), bare.call("EXISTS", f"{key}:ttl")) == (-1, 0)

    await ports.queue.settle([(lease, DONE)])

    assert WEEK - 5 <= bare.call("TTL", key) <= WEEK
    assert WEEK - 5 <= bare.call("TTL", f"{key}:ttl") <= WEEK
    assert bare.call("GET", f"{key}:ttl") == b"2025-06-15T15:06:40.000Z"


@pytest.mark.parametrize("is_young", [True, False], ids=["as it is", "without MSETEX"])
async def test_jobs_that_end_together_expire_together(
    ports: RedisPorts, bare: Bare, with_or_without_msetex: None
) -> None:
    """Many ends are written by one command, or by one each where the server does not know or allow that."""
    jobs = [a_job() for _ in range(5)]
    await ports.queue.submit(jobs)
    leases = await ports.queue.claim(W1, 5)

    assert all(await ports.queue.settle([(lease, DONE) for lease in leases]))

    for job in jobs:
        key = f"rag:ingest:job:{job.id}"
        assert shown(bare, job.id)["status"] == "done"
        apart = "return redis.call('PTTL', KEYS[1]) - redis.call('PTTL', KEYS[2])"
        assert abs(bare.call("EVAL", apart, 2, key, f"{key}:ttl")) <= 1
        assert WEEK - 5 <= bare.call("TTL", key) <= WEEK
        assert bare.call("GET", f"{key}:ttl") == b"2025-06-15T15:06:40.000Z"


@pytest.mark.parametrize("is_young", [False], ids=["without MSETEX"])
async def test_what_a_server_refuses_is_not_asked_of_it_again(
    ports: RedisPorts, bare: Bare, with_or_without_msetex: None
) -> None:
    """Once a connection; another one may lead to another server."""
    known = bare.call("COMMAND", "INFO", "msetex") != [None]
    bare.call("ACL", "LOG", "RESET")

    for times in (1, 2):
        for _ in range(3):
            await ports.queue.submit([a_job() for _ in range(5)])
            leases = await ports.queue.claim(W1, 5)
            assert all(await ports.queue.settle([(lease, DONE) for lease in leases]))
        refused = bare.call("ACL", "LOG")
        assert [dict(zip(each[::2], each[1::2], strict=True))[b"count"] for each in refused] == [
            times
        ] * known
        bare.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


@pytest.fixture
def with_or_without_msetex(bare: Bare, is_young: bool) -> Iterator[None]:
    """The server, and one that is older."""
    known = bare.call("COMMAND", "INFO", "msetex") != [None]
    if known and not is_young:
        bare.call("ACL", "SETUSER", "default", "-msetex")
    yield
    if known and not is_young:
        bare.call("ACL", "SETUSER", "default", "+msetex")


async def test_an_id_used_again_after_a_prune_does_not_expire(
    ports: RedisPorts, bare: Bare, clock: FakeClock
) -> None:
    """A new life of an id is not ended by the last one's expiry."""
    job = a_job()
    await ports.queue.submit([job])
    (lease,) = await ports.queue.claim(W1, 1)
    await ports.queue.settle([(lease, DONE)])
    clock.advance(60)
    assert await ports.queue.prune(done_before=clock.now(), failed_before=clock.now()) == 1

    await ports.queue.submit([job])

    key = f"rag:ingest:job:{job.id}"
    assert (bare.call("TTL", key), bare.call("EXISTS", f"{key}:ttl")) == (-1, 0)
    assert shown(bare, job.id)["status"] == "queued"


async def test_a_workers_keys_have_the_configured_names(ports: RedisPorts, bare: Bare) -> None:
    """The heartbeat expires by itself, the processing list shows what runs; both go with the worker."""
    await ports.queue.submit([a_job(), a_job()])
    await ports.queue.beat(W1, concurrency=2)
    await ports.queue.claim(W1, 1)

    assert 0 < bare.call("TTL", "worker:hb:w1") <= 9
    assert bare.call("LLEN", "jobqueue:worker:w1:processing") == 1

    await ports.queue.leave(W1)
    assert bare.call("EXISTS", "worker:hb:w1", "jobqueue:worker:w1:processing") == 0
    assert bare.call("LLEN", f"{QUEUE}:normal") == 2


async def test_the_completed_list_is_trimmed(ports: RedisPorts, bare: Bare) -> None:
    """It holds the jobs done last, not all that ever were."""
    for _ in range(2):
        await ports.queue.submit([a_note() for _ in range(600)])
        leases = await ports.queue.claim(W1, 600)
        await ports.queue.settle([(lease, DONE) for lease in leases])

    assert bare.call("LLEN", "rag:ingest:completed") == 1_000


async def test_nothing_is_left_when_all_has_gone(ports: RedisPorts, bare: Bare, clock: FakeClock) -> None:
    """After the end, a prune and the workers' leaving only counters, turns and documented keys remain."""
    batch = await ports.batches.open_batch()
    jobs = [a_job_about(File(file_path=f"/x/{number % 3}"), tenant=f"t{number % 2}") for number in range(12)]
    await ports.queue.submit(jobs, batch=batch)
    await ports.batches.seal_batch(batch)
    while leases := await ports.queue.claim(W1, 2):
        await ports.queue.settle([(lease, DONE) for lease in leases])
    await ports.queue.leave(W1)
    clock.advance(60)
    await ports.queue.prune(done_before=clock.now(), failed_before=clock.now())

    left = sorted(key.decode() for key in bare.call("KEYS", "*"))
    documented = [key for key in left if key.startswith("rag:ingest:job:")]
    ours = sorted(set(left) - set(documented))
    assert ours == ["rag:ingest:completed", "rag:ingest:counts", "rag:ingest:turns"]


async def test_the_hash_counts_chunks_while_they_are_made(ports: RedisPorts, bare: Bare) -> None:
    """What is kept so far stands in the hash of a running job; a job that told it ends like any other."""
    job = a_job("/documents/policy.pdf")
    await ports.queue.submit([job])
    (lease,) = await ports.queue.claim(W1, 1)

    assert await ports.queue.progress(lease, Progress(done=9_000, total=90_000, chunks=256))

    running = shown(bare, job.id)
    assert (running["chunks_created"], running["embeddings_generated"]) == ("256", "256")
    assert await ports.queue.settle([(lease, DONE)]) == [True]
    assert shown(bare, job.id)["status"] == "done"


async def test_where_something_unforeseen_happened_is_kept(ports: RedisPorts) -> None:
    """The traceback of the documented record; an end with a reason of its own has none."""
    job = a_job(max_retries=1)
    await ports.queue.submit([job])
    (lease,) = await ports.queue.claim(W1, 1)
    await ports.queue.settle([(lease, Retry(ErrorReport(code="ERR_X", message="x", trace="in here")))])
    waiting = await ports.desk.find(job.id)
    await ports.desk.cancel([job.id])
    cancelled = await ports.desk.find(job.id)

    assert waiting is not None
    assert waiting.error is not None
    assert waiting.error.trace == "in here"
    assert cancelled is not None
    assert cancelled.error is not None
    assert cancelled.error.trace == ""


async def test_jobs_that_end_out_of_turn_leave_their_workers_list(ports: RedisPorts, bare: Bare) -> None:
    """What runs on stays in it, and the completed list has what ended."""
    jobs = [a_job() for _ in range(4)]
    await ports.queue.submit(jobs)
    first, second, third, fourth = await ports.queue.claim(W1, 4)

    assert await ports.queue.settle([(third, DONE), (second, DONE)]) == [True, True]
    assert ids_in(bare, "jobqueue:worker:w1:processing") == [fourth.job_id, first.job_id]
    assert sorted(ids_in(bare, "rag:ingest:completed")) == sorted([second.job_id, third.job_id])

    assert await ports.queue.settle([(first, DONE), (fourth, DONE)]) == [True, True]
    assert ids_in(bare, "jobqueue:worker:w1:processing") == []
    assert bare.call("ZCARD", "rag:ingest:running") == 0


async def test_bulks_that_cross_keep_the_order_they_came_in(
    ports: RedisPorts, bare: Bare, clock: FakeClock
) -> None:
    """Who looked at the clock first and came second, by less than half a second, is second."""
    late, early = [a_job() for _ in range(3)], [a_job() for _ in range(3)]
    clock.advance(0.4)
    await ports.queue.submit(early)
    clock.jump(-0.4)
    await ports.queue.submit([*late, late[0]])  # by the long way too: the last one meets the first

    assert [lease.job_id for lease in await ports.queue.claim(W1, 9)] == [job.id for job in (*early, *late)]


def ids_in(bare: Bare, key: str) -> list[str]:
    return [json.loads(element)["job_id"] for element in bare.call("LRANGE", key, 0, -1)]
