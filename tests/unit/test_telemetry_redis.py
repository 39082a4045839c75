"""What waits on a real Redis, by queue: our own jobs and the messages of others."""

from pathlib import Path

from penstock.engines.redis.client import Client
from penstock.engines.redis.dialling import Limits
from penstock.engines.redis.store import ports_on
from penstock.engines.sqlite import open_sqlite
from penstock.model.rules import Rules
from tests.contract.redis_store import names_of, server
from tests.contract.steps import W1, submit
from tests.support.clock import FakeClock
from tests.support.jobs import OTHER_TENANT, a_delete, a_job
from tests.support.servers.bare import Bare


async def test_lists_are_measured_by_rank(tmp_path: Path) -> None:
    """All priorities' and tenants' lists, and what any program pushed, without what runs or is delayed."""
    clock, names = FakeClock(), names_of(tmp_path)
    book = await open_sqlite(tmp_path, rules=Rules(), clock=clock, synchronous="normal")
    client = Client(server(), clock, Limits(operation_seconds=20.0), None)
    await client.open()
    try:
        ports = ports_on(client, names=names, rules=Rules(), clock=clock)
        meter = ports.meter(book.meter)
        empty = await meter.lengths()
        await submit(
            ports.queue,
            a_job(priority=9),
            a_job(priority=7, tenant=OTHER_TENANT),
            a_delete(priority=1),
            *(a_job() for _ in range(3)),
            a_job(priority=0),
            a_job(run_at=clock.now() + 60),
        )
        await ports.queue.claim(W1, 1)
        with Bare(server()) as bare:
            bare.call("LPUSH", names.queue, "{}")
            bare.call("LPUSH", names.lists[1], "{}")

        assert empty == {}
        assert await meter.lengths() == {"high": 2, "normal": 4, "low": 2}
        assert await meter.produced() == {}
    finally:
        await client.close()
        await book.close()
