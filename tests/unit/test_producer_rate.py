"""The shared rate: how fast all producers together may go."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator

import pytest

from penstock.engines.redis.client import connect
from penstock.engines.redis.rate import RedisRate
from penstock.engines.system.rate import LocalRate
from penstock.ports.rate import FAR_PLACES, FAR_SECONDS, Rate, places_at_once
from penstock.settings import RedisServer
from tests.support.clock import FakeClock
from tests.support.servers.bare import Bare
from tests.support.stalls import Machine

KEY = "rag:ingest:rate-limit"


@pytest.fixture(params=["redis", "local"])
async def rate(request: pytest.FixtureRequest, clock: FakeClock) -> AsyncIterator[Rate]:
    """A hundred a second."""
    if request.param == "local":
        yield LocalRate(clock, per_second=100)
        return
    async with connect(request.getfixturevalue("redis"), clock) as client:
        yield RedisRate(client, clock, key=KEY, per_second=100)


async def test_places_are_given_out_one_after_another(rate: Rate) -> None:
    """T1: the first may be used at once, each further one when those before it have passed."""
    first = await rate.take(3)
    waits = [await rate.take(3) for _ in range(4)]

    assert first == 0
    assert waits == pytest.approx([0.03, 0.06, 0.09, 0.12], abs=1e-3)


async def test_who_waits_keeps_the_rate(rate: Rate, clock: FakeClock) -> None:
    """T1, T2: a hundred seconds' worth of places takes a hundred seconds, and no second has a burst."""
    used: list[float] = []
    for _ in range(1000):
        clock.advance(await rate.take(3))
        used += [clock.steady()] * 3

    assert used[-1] - used[0] == pytest.approx(30, rel=0.05)
    assert most_in_a_second(used) <= 105


async def test_a_rest_is_not_saved_up(rate: Rate, clock: FakeClock) -> None:
    """T3: after an hour of nothing the next second is like any other."""
    await rate.take(1)
    clock.advance(3600)
    used: list[float] = []
    for _ in range(100):
        clock.advance(await rate.take(3))
        used += [clock.steady()] * 3

    assert most_in_a_second(used) <= 105


async def test_a_clock_that_was_set_back_holds_nobody_up(redis: RedisServer, clock: FakeClock) -> None:
    """T4: a place given out by a clock an hour ahead is not waited for; one within reach is."""
    async with connect(redis, clock) as client:
        rate = RedisRate(client, clock, key=KEY, per_second=100)
        clock.jump(3600)
        await rate.take(1)
        clock.jump(-3600)
        assert await rate.take(1) == 0

        clock.jump(FAR_SECONDS / 2)
        await rate.take(1)
        clock.jump(-FAR_SECONDS / 2)
        assert await rate.take(1) == pytest.approx(FAR_SECONDS / 2, abs=0.1)


async def test_a_low_rate_lets_many_wait(redis: RedisServer, clock: FakeClock) -> None:
    """T4: a long line of honest producers is not mistaken for a wrong clock."""
    async with connect(redis, clock) as client:
        rate = RedisRate(client, clock, key=KEY, per_second=1)
        waits = [await rate.take(1) for _ in range(FAR_PLACES - 1)]

    assert waits[-1] == pytest.approx(FAR_PLACES - 2, abs=0.1)


async def test_the_key_goes_when_nobody_produces(redis: RedisServer) -> None:
    """It expires, and a value somebody else left there is replaced."""
    async with connect(redis, FakeClock()) as client:
        await client.call("SET", KEY, "what?")
        assert await RedisRate(client, FakeClock(), key=KEY, per_second=100).take(1) == 0
        left = await client.call("PTTL", KEY)

    assert isinstance(left, int)
    assert 0 < left <= FAR_SECONDS * 1000 + 1000


async def test_a_value_that_is_no_number_stops_no_rate(redis: RedisServer) -> None:
    """T1 from the next place on: what every comparison lets through does not."""
    async with connect(redis, clock := FakeClock()) as client:
        await client.call("SET", KEY, "nan")
        rate = RedisRate(client, clock, key=KEY, per_second=100)

        assert [await rate.take(3) for _ in range(3)] == pytest.approx([0, 0.03, 0.06], abs=1e-3)


@pytest.mark.parametrize(("per_second", "count"), [(1, 1), (10, 1), (100, 3), (10_000, 300)])
def test_few_places_are_taken_at_once(per_second: int, count: int) -> None:
    """Those taken together are used together, which must not be a burst."""
    assert places_at_once(per_second) == count


async def test_two_processes_together_keep_the_rate_within_a_twentieth(
    redis: RedisServer, machine: Machine
) -> None:
    """T1, T2: real processes on a real server, each going as fast as it may, for two seconds."""
    per_second, seconds = 200, 2
    url = f"redis://{redis.host}:{redis.port}/{redis.db or 0}"
    command = [
        sys.executable,
        "-m",
        "tests.support.paced",
        url,
        KEY,
        str(per_second),
        str(per_second * seconds),
    ]
    processes = [
        await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE) for _ in range(2)
    ]
    async with asyncio.timeout(60):
        told = [json.loads((await process.communicate())[0]) for process in processes]

    both = sorted(told[0] + told[1])
    while_both = [at for at in both if max(told[0][0], told[1][0]) <= at <= min(told[0][-1], told[1][-1])]
    assert min(map(len, told)) > 0
    ahead = time.time() - time.monotonic()
    span, lost = while_both[-1] - while_both[0], machine.lost(while_both[0] - ahead, while_both[-1] - ahead)
    assert 0.95 * per_second * (span - lost) <= len(while_both) <= 1.05 * per_second * span
    assert most_in_a_second(both) <= per_second * 1.05
    with Bare(redis) as bare:
        assert int(bare.call("GET", f"{KEY}:used")) == len(both)


def most_in_a_second(times: list[float]) -> int:
    """The most that lie within one second, wherever it begins."""
    most = start = 0
    for end, at in enumerate(times):
        while times[start] <= at - 1:
            start += 1
        most = max(most, end - start + 1)
    return most
