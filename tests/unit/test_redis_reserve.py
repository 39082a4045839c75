"""Connections in reserve, and how many there may be, on a real server that counts them itself."""

import asyncio
import time
from collections.abc import Callable

import pytest

from penstock.engines.redis.client import connect
from penstock.engines.redis.dialling import NAME, Limits
from penstock.engines.system.clock import SystemClock
from penstock.settings import RedisServer
from tests.support.servers.bare import Bare


def connected(bare: Bare) -> list[int]:
    """The ids of our connections, in the order they were made."""
    lines = bare.call("CLIENT", "LIST").decode().splitlines()
    told = [dict(word.partition("=")[::2] for word in line.split()) for line in lines]
    return sorted(int(each["id"]) for each in told if each["name"] == NAME)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110  # the server is asked, it does not tell
            await asyncio.sleep(0.01)


@pytest.fixture
async def redis(redis: RedisServer) -> RedisServer:
    """One that has noticed the leaving of whoever was there before."""
    with Bare(redis) as bare:
        await until(lambda: connected(bare) == [])
    return redis


async def test_a_broken_line_is_replaced_from_the_reserve(redis: RedisServer) -> None:
    """The next command goes by a connection that was there before, and the reserve is filled again."""
    async with connect(redis, SystemClock(), limits=Limits(idle_min=2)) as client:
        with Bare(redis) as bare:
            await until(lambda: len(connected(bare)) == 3)
            shared, *kept = connected(bare)
            bare.call("CLIENT", "KILL", "ID", shared)
            await until(lambda: not client.standing.reached)

            answering = await client.call("CLIENT", "ID")
            await until(lambda: len(connected(bare)) == 3)

            assert answering in kept
            assert shared not in connected(bare)

    with Bare(redis) as bare:
        await until(lambda: connected(bare) == [])


async def test_without_a_reserve_there_is_one_line(redis: RedisServer) -> None:
    """As by default."""
    async with connect(redis, SystemClock()):
        with Bare(redis) as bare:
            await asyncio.sleep(0.05)
            assert len(connected(bare)) == 1


async def test_there_are_no_more_connections_than_allowed(redis: RedisServer) -> None:
    """Calls that block wait for one another where all but one connection are taken, reserve and all."""
    limits = Limits(connections_max=3, idle_min=10)
    async with connect(redis, SystemClock(), limits=limits) as client:
        with Bare(redis) as bare:
            began = time.monotonic()
            waits = [client.block("BLPOP", "nothing", "0.2", deadline=5.0) for _ in range(3)]
            seen = asyncio.gather(*waits)
            await asyncio.sleep(0.1)
            most = len(connected(bare))
            assert await seen == [None, None, None]

    assert time.monotonic() - began >= 0.55
    assert most <= 3
