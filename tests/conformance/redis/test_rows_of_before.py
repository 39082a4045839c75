"""What an earlier version left in Redis is read by this one: its rows had a copy of what the entry says."""

from collections.abc import Sequence

import msgspec
import pytest

from penstock.engines.redis.names import packed
from penstock.engines.redis.store import RedisPorts
from penstock.model.jobs import Accepted, NewJob, WorkerId
from penstock.model.outcomes import DONE, Outcome, Retry
from penstock.model.states import State
from penstock.ports.desk import Wanted
from tests.support.clock import FakeClock
from tests.support.jobs import a_job, a_tenant_delete, an_error
from tests.support.servers.bare import Bare

W1 = WorkerId("w1")
LIST, HELD = "rag:ingest:queue:normal", "jobqueue:worker:w1:processing"
FACTS = 11
"""A row has so many, and a table of what few have behind them."""


def as_before(bare: Bare, jobs: Sequence[NewJob]) -> None:
    """Their rows as the version before wrote them: fifteen facts, with item type, key, tenant and subject."""
    for job in jobs:
        key, kept = f"rag:ingest:task:{job.id}", f"rag:ingest:entry:{job.id}"
        entry, row = msgspec.msgpack.decode(bare.call("GET", kept)), bare.call("GET", key)
        if row is None:
            *entry, _, _, created_us, waits_in = entry
            bare.call("SET", kept, packed(entry))
            created_at = repr(int(created_us) / 1e6)
            row = packed(("ready", "", created_at, created_us, "0", waits_in, "", "", "", "", ""))
        row = msgspec.msgpack.decode(row)
        place, seq, created_at, created_us, generation, ticket, *since = row[:FACTS]
        seq = seq or bare.call("ZSCORE", "rag:ingest:jobs", job.id).decode()
        static = (entry[1], entry[6], entry[3], entry[7])
        former = (place, *static, created_at, created_us, seq, generation, ticket, *since, *row[FACTS:])
        bare.call("SET", key, packed(former))


@pytest.mark.parametrize("many", [1, 2, 9])
@pytest.mark.parametrize("end", [DONE, Retry(an_error())])
async def test_a_job_that_waited_before_runs(
    ports: RedisPorts, bare: Bare, clock: FakeClock, many: int, end: Outcome
) -> None:
    """It is claimed in its turn beside new ones, ends or is retried, and leaves nothing behind."""
    before, since = [a_job() for _ in range(many)], a_job()
    await ports.queue.submit(before)
    as_before(bare, before)
    messages = bare.call("LRANGE", LIST, 0, -1)
    await ports.queue.submit([since])

    leases = await ports.queue.claim(W1, 10)
    assert [lease.job_id for lease in leases] == [job.id for job in (*before, since)]
    assert await ports.queue.settle([(lease, end) for lease in leases[:-1]]) == [True] * many
    clock.advance(60.0)
    await ports.queue.promote()

    assert bare.call("LRANGE", LIST, 0, -1) == ([] if end is DONE else messages)
    assert bare.call("LLEN", HELD) == 1
    again = await ports.queue.claim(W1, 10)
    assert len(again) == (0 if end is DONE else many)
    assert all(await ports.queue.settle([(lease, DONE) for lease in (*again, leases[-1])]))
    assert bare.call("EXISTS", "rag:ingest:subjects:acme", "rag:ingest:beyond:acme", HELD) == 0


@pytest.mark.parametrize("end", [DONE, Retry(an_error())])
async def test_a_job_that_ran_before_ends(ports: RedisPorts, bare: Bare, end: Outcome) -> None:
    """The holder of a lease from before renews it and ends it, and nobody else does."""
    jobs = [a_job() for _ in range(5)]
    await ports.queue.submit(jobs)
    leases = await ports.queue.claim(W1, 5)
    as_before(bare, jobs)

    assert all(renewal.held for renewal in await ports.queue.extend(leases))
    as_before(bare, jobs[:3])  # the others are as this version writes them
    assert await ports.queue.settle([(lease, end) for lease in leases]) == [True] * 5

    wanted = State.DONE if end is DONE else State.DELAYED
    assert {job.state for job in await ports.desk.jobs(Wanted())} == {wanted}
    assert bare.call("EXISTS", HELD) == 0
    assert bare.call("HGET", f"rag:ingest:job:{jobs[0].id}", "status") == (
        b"done" if end is DONE else b"queued"
    )


async def test_a_job_that_ended_before_is_known_and_pruned(
    ports: RedisPorts, bare: Bare, clock: FakeClock
) -> None:
    """The same id again is that job; its time comes like that of any other."""
    jobs = [a_job() for _ in range(5)]
    await ports.queue.submit(jobs)
    await ports.queue.settle([(lease, DONE) for lease in await ports.queue.claim(W1, 5)])
    as_before(bare, jobs)

    assert {receipt.how for receipt in await ports.queue.submit(jobs)} == {Accepted.EXISTING}
    clock.advance(60.0)
    assert await ports.queue.prune(done_before=clock.now(), failed_before=clock.now()) == 5
    assert bare.call("KEYS", "rag:ingest:task:*") == []


async def test_a_tenant_whose_jobs_waited_before_is_deleted(ports: RedisPorts, bare: Bare) -> None:
    """Its deletion ends them, and runs."""
    jobs = [a_job() for _ in range(3)]
    await ports.queue.submit(jobs)
    as_before(bare, jobs)

    await ports.queue.submit([a_tenant_delete()])
    await ports.queue.promote()

    (lease,) = await ports.queue.claim(W1, 5)
    assert lease.item_type == "delete_tenant"
    assert await ports.queue.settle([(lease, DONE)]) == [True]
    assert bare.call("EXISTS", "rag:ingest:subjects:acme", "rag:ingest:beyond:acme", "rag:ingest:closed") == 0


@pytest.mark.parametrize("waiting", [0, 3])
async def test_what_was_counted_before_counts(ports: RedisPorts, bare: Bare, waiting: int) -> None:
    """An earlier version counted ready jobs by themselves, and those that had ended not at all."""
    jobs = [a_job() for _ in range(3)]
    await ports.queue.submit(jobs)
    if not waiting:
        await ports.queue.settle([(lease, DONE) for lease in await ports.queue.claim(W1, 5)])
    bare.call("HSET", "rag:ingest:counts", "ready", waiting)
    bare.call("HDEL", "rag:ingest:counts", "unready")
    ports.access.is_upgraded = False

    await ports.queue.submit([a_job()])

    assert (await ports.desk.counts()).ready == waiting + 1
    assert bare.call("HEXISTS", "rag:ingest:counts", "ready") == 0
