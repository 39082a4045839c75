"""A queue on a real server, and a bare connection of a program we did not write."""

from collections.abc import AsyncIterator, Iterator

import pytest

from penstock.engines.redis.names import Names
from penstock.engines.redis.store import RedisPorts, open_redis
from penstock.model.rules import Rules
from penstock.settings import RedisServer
from tests.conformance.redis.foreign import TENANT, translated
from tests.support.clock import FakeClock
from tests.support.servers.bare import Bare


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def rules() -> Rules:
    """The defaults, with the tenth-claim rule off, as the page's order knows none."""
    return Rules(longest_waiting_every=0)


@pytest.fixture
def names() -> Names:
    """The documented names, and a list for a declared collection."""
    return Names(home=TENANT, collections={"policies_rag": TENANT})


@pytest.fixture
async def ports(
    redis: RedisServer, names: Names, rules: Rules, clock: FakeClock
) -> AsyncIterator[RedisPorts]:
    async with open_redis(redis, names=names, rules=rules, clock=clock, translate=translated) as opened:
        await opened.access.upgrade()  # as the first verb of any process would
        yield opened


@pytest.fixture
def bare(redis: RedisServer) -> Iterator[Bare]:
    """The foreign program."""
    with Bare(redis) as connection:
        yield connection
