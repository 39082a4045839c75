"""Workers on several machines with one Redis: a kernel knows its own processes, and nobody else's."""

from collections.abc import AsyncIterator

import pytest

from penstock.engines.redis import queue
from penstock.engines.redis.names import Names
from penstock.engines.redis.store import RedisPorts, open_redis
from penstock.model.jobs import WorkerId
from penstock.model.outcomes import DONE
from penstock.model.rules import Rules
from penstock.settings import RedisServer
from tests.conformance.redis.foreign import translated
from tests.support.clock import FakeClock
from tests.support.jobs import a_job

HERE, THERE = WorkerId("here"), WorkerId("there")


@pytest.fixture
async def there(
    redis: RedisServer, names: Names, rules: Rules, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[RedisPorts]:
    """Opened on another machine, by what its kernel says."""
    monkeypatch.setattr(queue, "identity", lambda: "another-boot:1:1:1")
    async with open_redis(redis, names=names, rules=rules, clock=clock, translate=translated) as opened:
        yield opened


async def test_a_worker_on_another_machine_keeps_its_job_while_it_beats(
    redis: RedisServer, names: Names, rules: Rules, clock: FakeClock, there: RedisPorts
) -> None:
    """Nobody here can tell whether its process is there; its silence tells."""
    async with open_redis(redis, names=names, rules=rules, clock=clock, translate=translated) as here:
        await here.queue.submit([a_job()])
        await there.queue.beat(THERE, concurrency=1)
        await here.queue.beat(HERE, concurrency=1)
        (lease,) = await there.queue.claim(THERE, 1)

        for certain in (True, False, True):
            clock.advance(rules.dead_after_seconds / 3)
            await there.queue.beat(THERE, concurrency=1)
            assert await here.queue.rescue(certain=certain) == []
        assert await there.queue.settle([(lease, DONE)]) == [True]

        await here.queue.submit([a_job()])
        (lease,) = await there.queue.claim(THERE, 1)
        clock.advance(rules.dead_after_seconds + 1)
        await here.queue.beat(HERE, concurrency=1)
        assert await here.queue.rescue() == [lease.job_id]
