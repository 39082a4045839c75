"""Keys of the pages that hold what no page says: nothing stops, nothing is left half done."""

import contextlib

import pytest

from penstock.engines.redis.store import RedisPorts
from penstock.model.errors import Broken, ErrorClass, ErrorReport
from penstock.model.jobs import WorkerId
from penstock.model.outcomes import DONE, Failed, Outcome, Retry
from tests.conformance.redis.foreign import DEAD_LETTER, QUEUE, id_of, letters, message, shown
from tests.support.clock import FakeClock
from tests.support.jobs import a_job, a_tenant_delete
from tests.support.servers.bare import Bare

W1 = WorkerId("w1")
PERMANENT = Failed(ErrorReport(code="ERR_FILE_MISSING", message="gone", kind=ErrorClass.PERMANENT))
TRANSIENT = Retry(ErrorReport(code="ERR_BROKEN", message="once more", kind=ErrorClass.TRANSIENT))
COMPLETED = "rag:ingest:completed"


async def run(ports: RedisPorts, many: int, outcome: Outcome = DONE) -> list[str]:
    """Claim and end so many; which."""
    leases = await ports.queue.claim(W1, many)
    assert await ports.queue.settle([(lease, outcome) for lease in leases]) == [True] * len(leases)
    return [lease.job_id for lease in leases]


async def nothing_is_owed(ports: RedisPorts, bare: Bare) -> None:
    """No job counts as running or unfinished: a deletion of its tenant need not wait."""
    assert bare.call("HGETALL", "rag:ingest:tenants") == []
    assert bare.call("KEYS", "rag:ingest:beyond:*") == []
    assert bare.call("ZCARD", "rag:ingest:running") == 0
    await ports.queue.submit([a_tenant_delete()])
    assert len(await run(ports, 10)) == 1


@pytest.mark.parametrize("many", [1, 3, 9])
async def test_a_completed_list_that_is_none(ports: RedisPorts, bare: Bare, many: int) -> None:
    """Jobs end as ever."""
    bare.call("SET", COMPLETED, "17")
    jobs = [a_job() for _ in range(many)]
    await ports.queue.submit(jobs)

    assert await run(ports, many) == [job.id for job in jobs]

    assert bare.call("LLEN", COMPLETED) == many
    await nothing_is_owed(ports, bare)


async def test_a_completed_list_that_is_none_after_a_retry(
    ports: RedisPorts, bare: Bare, clock: FakeClock
) -> None:
    """The same for one whose end is not the usual."""
    bare.call("SET", COMPLETED, "17")
    await ports.queue.submit([a_job()])
    await run(ports, 1, TRANSIENT)
    clock.advance(60)
    await ports.queue.promote()

    assert len(await run(ports, 1)) == 1

    await nothing_is_owed(ports, bare)


async def test_a_dead_letter_list_that_is_none(ports: RedisPorts, bare: Bare) -> None:
    """A job that fails has its letter, and what was there lies beside."""
    bare.call("HSET", DEAD_LETTER, "theirs", "kept")
    await ports.queue.submit([a_job()])

    await run(ports, 1, PERMANENT)

    assert [letter["code"] for letter in letters(bare)] == ["ERR_FILE_MISSING"]
    assert bare.call("HGET", f"{DEAD_LETTER}:not-a-list", "theirs") == b"kept"
    await nothing_is_owed(ports, bare)


async def test_a_refused_message_takes_no_other_with_it(ports: RedisPorts, bare: Bare) -> None:
    """Of messages that are adopted together the good one runs."""
    bare.call("HSET", DEAD_LETTER, "theirs", "kept")
    bare.call("LPUSH", QUEUE, message(1), b"no message", message(2))

    assert await run(ports, 3) == [id_of(1), id_of(2)]

    assert [letter["message"] for letter in letters(bare)] == ["no message"]
    await nothing_is_owed(ports, bare)


async def test_a_list_that_is_none_when_a_job_returns(
    ports: RedisPorts, bare: Bare, clock: FakeClock
) -> None:
    """It waits in the list all the same."""
    await ports.queue.submit([a_job()])
    (lease,) = await ports.queue.claim(W1, 1)
    bare.call("SET", f"{QUEUE}:normal", "theirs")
    assert await ports.queue.settle([(lease, TRANSIENT)]) == [True]
    clock.advance(60)
    await ports.queue.promote()

    assert await run(ports, 1) == [lease.job_id]

    await nothing_is_owed(ports, bare)


@pytest.mark.parametrize("name", [QUEUE, f"{QUEUE}:high", f"{QUEUE}:policies_rag"])
async def test_an_inbox_that_is_no_list(ports: RedisPorts, bare: Bare, name: str) -> None:
    """Other lists are claimed from, and it can be counted what waits."""
    bare.call("SET", name, "theirs")
    bare.call("LPUSH", f"{QUEUE}:low", message(2))
    await ports.queue.submit([job := a_job()])

    assert (await ports.desk.counts()).ready == 2
    assert sorted(await run(ports, 5)) == sorted([job.id, id_of(2)])
    await nothing_is_owed(ports, bare)
    assert bare.call("GET", f"{name}:not-a-list") == b"theirs"


@pytest.mark.parametrize("many", [1, 2, 9])
@pytest.mark.parametrize("name", ["blank", "blank:notes", "form"])
async def test_a_form_that_is_none(ports: RedisPorts, bare: Bare, name: str, many: int) -> None:
    """A submit shows the documented fields, whatever lay where it copies them from."""
    bare.call("SET", f"rag:ingest:{name}", "theirs")
    jobs = [a_job() for _ in range(many)]

    await ports.queue.submit(jobs)

    assert [shown(bare, job.id)["status"] for job in jobs] == ["queued"] * many
    assert await run(ports, many) == [job.id for job in jobs]
    await nothing_is_owed(ports, bare)


async def test_the_form_names_no_job(ports: RedisPorts, bare: Bare) -> None:
    """What other jobs' hashes are copied from keeps nothing of the first one."""
    await ports.queue.submit([a_job()])
    await ports.queue.submit([a_job(), a_job()])

    flat = bare.call("HMGET", "rag:ingest:blank", "job_id", "rag_id", "filename", "submitted_at")
    assert flat == [b""] * 4


@pytest.mark.parametrize("name", ["jobs", "waiting", "counts", "elements", "subjects:acme"])
async def test_an_index_of_ours_that_is_none_costs_no_message(
    ports: RedisPorts, bare: Bare, name: str
) -> None:
    """Whoever wrote over it removes it again: what was pushed meanwhile runs, once."""
    bare.call("LPUSH", f"rag:ingest:{name}", "theirs")
    bare.call("LPUSH", QUEUE, message(1), message(2))
    with contextlib.suppress(Broken):
        await ports.queue.claim(W1, 5)

    bare.call("DEL", f"rag:ingest:{name}")

    assert sorted([job for _ in range(3) for job in await run(ports, 5)]) == [id_of(1), id_of(2)]
    assert bare.call("EXISTS", QUEUE, "jobqueue:worker:w1:processing", "rag:ingest:strangers:w1") == 0
    assert [shown(bare, id_of(number))["status"] for number in (1, 2)] == ["done", "done"]
