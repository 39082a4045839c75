"""Bells rung over Redis: heard within a moment, kept for who comes late, hung up again after a break."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.engines.redis import listening
from penstock.engines.redis.client import Client, connect
from penstock.engines.redis.listening import Wake
from penstock.engines.system.clock import SystemClock
from penstock.settings import RedisServer
from tests.support.proxy import a_proxy
from tests.support.servers.redis import a_redis
from tests.support.stalls import Machine

PATIENCE = 30.0


@pytest.fixture
async def client(redis: RedisServer) -> AsyncIterator[Client]:
    async with connect(redis, SystemClock()) as client:
        yield client


async def listening_to(client: Client, channel: str) -> Wake:
    """A bell that is hung up: the ring that tells so is heard."""
    wake = client.subscribe(channel)
    assert await wake.wait(PATIENCE)
    assert wake.listening
    return wake


async def test_a_publication_wakes_everybody_who_waits(client: Client) -> None:
    """Every sleeper of the process, and those of another channel sleep on."""
    wake, other = await listening_to(client, "news"), await listening_to(client, "weather")
    sleepers = [asyncio.create_task(wake.wait(PATIENCE)) for _ in range(3)]
    await asyncio.sleep(0)

    assert await client.call("PUBLISH", "news", "x") == 1

    assert await asyncio.gather(*sleepers) == [True, True, True]
    assert not await other.wait(0.01)


async def test_a_ring_nobody_heard_is_kept_for_the_next(client: Client) -> None:
    """Between a look at the queue and the wait nothing is missed; two rings are one."""
    wake = await listening_to(client, "news")
    await client.call("PUBLISH", "news", "x")
    await client.call("PUBLISH", "news", "y")
    await client.call("PING")  # both were sent before this is answered
    await asyncio.sleep(0.05)

    assert await wake.wait(PATIENCE)
    assert not await wake.wait(0.01)


async def test_waking_takes_about_a_millisecond(client: Client, machine: Machine) -> None:
    """The best of a few: what a busy machine adds is not ours."""
    wake = await listening_to(client, "news")
    took = []
    for _ in range(20):
        sleeper = asyncio.create_task(wake.wait(PATIENCE))
        await asyncio.sleep(0.002)
        began = time.monotonic()
        await asyncio.gather(client.call("PUBLISH", "news", "x"), sleeper)
        ended = time.monotonic()
        took.append(ended - began - machine.lost(began, ended))

    assert min(took) < 0.005


async def test_a_bell_is_hung_up_again_after_the_server_was_killed(tmp_path: Path) -> None:
    """What was published meanwhile is unknown, so the bell rings once by itself."""
    with a_redis(tmp_path) as redis:
        async with connect(redis.server, SystemClock()) as client:
            wake = await listening_to(client, "news")
            redis.kill()
            await asyncio.to_thread(redis.start)

            assert await wake.wait(PATIENCE)
            assert wake.listening
            assert await client.call("PUBLISH", "news", "x") == 1


async def test_a_silent_line_is_noticed_and_left(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A frozen connection is asked now and then, and replaced when it does not answer."""
    monkeypatch.setattr(listening, "SILENCE_SECONDS", 0.05)
    async with (
        a_proxy(redis.host, redis.port) as proxy,
        connect(replace(redis, port=proxy.port), SystemClock()) as client,
    ):
        wake = await listening_to(client, "news")
        assert not await wake.wait(0.3)  # pings are answered: nothing rings

        proxy.freeze()
        with monkeypatch.context() as hasty:  # only while nobody answers: a busy machine is slower
            hasty.setattr(listening, "ANSWER_SECONDS", 0.05)
            await until_deaf(wake)
        proxy.thaw()

        assert await wake.wait(PATIENCE)
        assert wake.listening


async def until_deaf(wake: Wake) -> None:
    async with asyncio.timeout(PATIENCE):
        while wake.listening:  # noqa: ASYNC110  # it tells nobody
            await asyncio.sleep(0.005)
