"""The Redis client on a bad network and a server that comes and goes: one deadline, nothing done twice."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from penstock.engines.redis import dialling
from penstock.engines.redis.client import Client, connect
from penstock.engines.redis.dialling import Limits
from penstock.engines.redis.scripts import Script
from penstock.engines.system.clock import SystemClock
from penstock.model.errors import Fault, Unavailable
from penstock.settings import RedisServer, Secret
from tests.support.proxy import Loss, Proxy, a_proxy
from tests.support.servers.bare import Bare
from tests.support.servers.redis import Redis, a_redis
from tests.support.stalls import Machine

SHORT = 0.7
OVERRUN = 0.3
"""So that 0.7 s stay below 1 s, on a machine that has time."""
DIALS_MAX = 100
"""Together in 0.7 s; whoever does not pause makes thousands."""
ONCE = Script.of(
    "once",
    """
    if redis.call('SADD', KEYS[1], ARGV[1]) == 1 then redis.call('LPUSH', KEYS[2], ARGV[1]) end
    return redis.call('LLEN', KEYS[2])
    """,
)


@asynccontextmanager
async def through_a_proxy(
    redis: RedisServer, limits: Limits | None = None
) -> AsyncIterator[tuple[Client, Proxy]]:
    async with (
        a_proxy(redis.host, redis.port) as proxy,
        connect(replace(redis, port=proxy.port), SystemClock(), limits=limits) as client,
    ):
        yield client, proxy


async def overrun(machine: Machine, *calls: Awaitable[object]) -> float:
    """How much longer than a sleep of the same length the calls take to find out that nobody is there."""
    began = time.monotonic()
    loop = asyncio.get_running_loop()

    async def failing(call: Awaitable[object]) -> float:
        with pytest.raises(Unavailable) as found:
            await call
        assert found.value.code == "ERR_STORE_UNAVAILABLE"
        return loop.time()

    async def sleeping() -> float:
        await asyncio.sleep(SHORT)
        return loop.time()

    slept, *failed = await asyncio.gather(sleeping(), *(failing(call) for call in calls))
    return max(failed) - slept - machine.lost(began)


def length(redis: RedisServer, key: str) -> int:
    with Bare(redis) as bare:
        return int(bare.call("LLEN", key))


# Deadlines ------------------------------------------------------------------------------------------


async def test_a_silent_hole_takes_no_longer_than_the_deadline(redis: RedisServer, machine: Machine) -> None:
    """Connecting, sending and waiting share one deadline, however often it is tried."""
    async with through_a_proxy(redis) as (client, proxy):
        proxy.freeze()

        asked = await overrun(machine, client.call("PING", deadline=SHORT, again=True))
        dialled = await overrun(machine, client.call("PING", deadline=SHORT, again=True))

        assert asked < OVERRUN
        assert dialled < OVERRUN


async def test_many_callers_in_a_hole_all_leave_in_time_and_come_back(
    redis: RedisServer, machine: Machine
) -> None:
    """Nobody queues up behind a dead connection, and it is replaced once there is an answer again."""
    async with through_a_proxy(redis) as (client, proxy):
        proxy.freeze()
        assert await overrun(machine, *(client.call("PING", deadline=SHORT) for _ in range(200))) < OVERRUN

        proxy.thaw()

        assert await client.call("PING") == b"PONG"


async def test_a_short_deadline_takes_nobody_elses_reply_away(redis: RedisServer) -> None:
    """A connection under suspicion still delivers to those who have more time."""
    async with through_a_proxy(redis) as (client, proxy):
        proxy.delay_seconds = 0.15
        patient = asyncio.create_task(client.call("ECHO", "patient", deadline=5))
        await asyncio.sleep(0)
        with pytest.raises(Unavailable):
            await client.call("ECHO", "hasty", deadline=0.05)

        assert await patient == b"patient"


async def test_a_slow_line_is_not_a_dead_one(redis: RedisServer) -> None:
    """200 ms of distance: every call is served, over the one connection there is."""
    async with through_a_proxy(redis) as (client, proxy):
        proxy.delay_seconds = 0.1

        assert await asyncio.gather(*(client.call("INCR", "n") for _ in range(50))) == list(range(1, 51))
        assert client.standing.connections == 1


async def test_time_that_is_over_sends_nothing(redis: RedisServer) -> None:
    """A caller without time left is told so before the server hears of it."""
    async with through_a_proxy(redis) as (client, proxy):
        with pytest.raises(Unavailable):
            await client.call("LPUSH", "list", "x", deadline=0)

        assert proxy.commands[b"LPUSH"] == 0


# Lost replies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [Loss.REPLY, Loss.SILENCE])
async def test_a_lost_reply_never_makes_two_pushes(redis: RedisServer, loss: Loss) -> None:
    """The server did it; the caller is told that nobody knows, and nothing is sent again."""
    async with through_a_proxy(redis) as (client, proxy):
        proxy.lose(b"LPUSH", loss=loss)

        with pytest.raises(Unavailable, match="whether it was done is not known"):
            await client.call("LPUSH", "list", "x", deadline=SHORT)

        assert await client.call("LLEN", "list") == 1
        assert proxy.commands[b"LPUSH"] == 1


async def test_a_lost_command_is_not_sent_again_either(redis: RedisServer) -> None:
    """Seen from here it is the same as a lost reply."""
    async with through_a_proxy(redis) as (client, proxy):
        proxy.lose(b"LPUSH", loss=Loss.REQUEST)

        with pytest.raises(Unavailable):
            await client.call("LPUSH", "list", "x")

        assert await client.call("LLEN", "list") == 0


@pytest.mark.parametrize("loss", [Loss.REQUEST, Loss.REPLY])
async def test_what_may_be_done_again_is_sent_again(redis: RedisServer, loss: Loss) -> None:
    """A script that knows its caller's id makes one job of two calls."""
    async with through_a_proxy(redis) as (client, proxy):
        await client.run(ONCE, keys=["known", "list"], args=["first"])
        proxy.lose(b"EVALSHA", loss=loss)

        assert await client.run(ONCE, keys=["known", "list"], args=["x"], again=True) == 2
        assert length(redis, "list") == 2
        assert client.standing.connections == 2


async def test_sending_again_ends(redis: RedisServer) -> None:
    """A command at which every connection breaks is given up after a few."""
    async with through_a_proxy(redis, Limits(resends_max=2)) as (client, proxy):
        for _ in range(3):
            proxy.lose(b"INCR")

        with pytest.raises(Unavailable, match="whether it was done is not known"):
            await client.call("INCR", "n", again=True)

        assert proxy.commands[b"INCR"] == 3


async def test_no_call_is_lost_or_doubled_under_random_resets(redis: RedisServer) -> None:
    """5 % of the commands break the connection: with `again` every one takes effect once."""
    ids = [f"job-{number}" for number in range(300)]
    async with through_a_proxy(redis, Limits(resends_max=50, operation_seconds=30)) as (client, proxy):
        proxy.reset_share = 0.05

        async def submit(numbers: range) -> None:
            for number in numbers:
                await client.run(ONCE, keys=["known", "list"], args=[ids[number]], again=True)

        await asyncio.gather(*(submit(range(start, 300, 10)) for start in range(10)))

        assert client.standing.connections > 1
    with Bare(redis) as bare:
        assert sorted(bare.call("LRANGE", "list", 0, -1)) == sorted(name.encode() for name in ids)


# Servers that come and go ---------------------------------------------------------------------------


async def test_a_killed_server_is_found_again_and_has_lost_nothing(tmp_path: Path) -> None:
    """kill -9 and a restart from its log: waiting calls ride over it, scripts are loaded again.

    With `everysec` a server answers before it has written while its disk is still busy with the last second.
    """
    with a_redis(tmp_path, appendfsync="always") as redis:
        async with connect(redis.server, SystemClock()) as client:
            for number in range(20):
                await client.run(ONCE, keys=["known", "list"], args=[number])
            redis.kill()
            riding = asyncio.create_task(
                client.run(ONCE, keys=["known", "list"], args=["x"], again=True, deadline=10)
            )
            await asyncio.to_thread(redis.start)

            assert await riding == 21
            assert client.standing.connections == 2


async def test_a_server_that_is_gone_is_told_within_the_deadline(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused connections are tried again until then, without spinning."""
    dials = Mock(side_effect=dialling.dial)
    monkeypatch.setattr("penstock.engines.redis.client.dial", dials)
    with a_redis(tmp_path) as redis:
        async with connect(redis.server, SystemClock()) as client:
            redis.kill()
            dials.reset_mock()

            calls = (client.call("PING", deadline=SHORT) for _ in range(100))
            assert await overrun(machine, *calls) < OVERRUN
            assert 1 < dials.call_count < DIALS_MAX
            assert not client.standing.reached


async def test_a_loading_server_is_waited_for(tmp_path: Path) -> None:
    """LOADING means not yet: nothing was done, and the same call is served once it is."""
    with a_redis(tmp_path, **{"enable-debug-command": "yes"}) as redis:
        async with connect(redis.server, SystemClock()) as client:
            await asyncio.gather(*(client.call("SET", f"key {number}", number) for number in range(500)))
            # Each key takes its time now, so loading can be seen, until it was.
            await client.call(
                "CONFIG", "SET", "key-load-delay", 20_000, "loading-process-events-interval-bytes", 1024
            )
            with redis.bare() as bare, redis.bare() as other:
                reload = asyncio.create_task(asyncio.to_thread(bare.call, "DEBUG", "RELOAD"))
                refused = await first_refusal(redis)
                asking = asyncio.create_task(client.call("GET", "key 499", deadline=10))
                await asyncio.wait({asking}, timeout=0.1)
                await asyncio.to_thread(other.call, "CONFIG", "SET", "key-load-delay", 0)
                value = await asking
                await reload

    assert refused.startswith("LOADING")
    assert value == b"499"


async def test_a_replica_refuses_writes_until_it_is_promoted(tmp_path: Path, machine: Machine) -> None:
    """READONLY after a failover: told as such within the deadline, and over when the server is master."""
    with a_redis(tmp_path) as redis:
        async with connect(redis.server, SystemClock()) as client:
            with redis.bare() as bare:
                bare.call("REPLICAOF", "127.0.0.1", 1)
                assert await told_in_time(client, machine) == "ERR_STORE_READ_ONLY"

                waiting = asyncio.create_task(client.call("SET", "x", 1, deadline=30))
                await asyncio.sleep(0)
                bare.call("REPLICAOF", "NO", "ONE")

            assert await waiting == b"OK"


async def told_in_time(client: Client, machine: Machine) -> str:
    """What a writer is told; where the machine stood still at his deadline the server had no say in it."""
    while True:
        began = time.monotonic()
        with pytest.raises(Unavailable) as found:
            await client.call("SET", "x", 1, deadline=1.0)
        if found.value.code != "ERR_STORE_UNAVAILABLE" or machine.lost(began) < 0.5:
            return found.value.code


async def test_another_server_at_the_same_address_is_found(tmp_path: Path) -> None:
    """After a failover behind one address the connection to the old master is given up by itself."""
    with a_redis(tmp_path / "old") as old, a_redis(tmp_path / "new") as new:
        async with through_a_proxy(old.server) as (client, proxy):
            await client.call("SET", "x", 1)
            with old.bare() as bare:
                bare.call("REPLICAOF", "127.0.0.1", 1)
            proxy.lead_to(new.server.host, new.server.port)

            assert await client.call("SET", "x", 2, deadline=30) == b"OK"
        with new.bare() as bare:
            assert bare.call("GET", "x") == b"2"


async def test_a_script_that_does_not_end_is_told_as_busy(tmp_path: Path) -> None:
    """BUSY has a code of its own, and passes when somebody kills the script."""
    with a_redis(tmp_path, **{"lua-time-limit": 50}) as redis:
        async with connect(redis.server, SystemClock()) as client:
            endless = Script.of("endless", "while true do end")
            running = asyncio.create_task(client.run(endless, deadline=20))
            with redis.bare() as bare:
                await first_refusal(redis)
                with pytest.raises(Unavailable) as found:
                    await asyncio.wait_for(other_call(redis), 20)
                assert found.value.code == "ERR_STORE_BUSY"
                bare.call("SCRIPT", "KILL")
            with pytest.raises(Fault):
                await running

            assert await client.call("PING") == b"PONG"


async def test_a_password_changed_meanwhile_parks_and_does_not_fail(tmp_path: Path, machine: Machine) -> None:
    """Later than the start it is the outside that must recover: Unavailable, not Refused, and at once."""
    with a_redis(tmp_path, requirepass="one") as redis:
        async with connect(redis.server, SystemClock()) as client:
            with redis.bare() as bare:
                bare.call("CONFIG", "SET", "requirepass", "two")
            redis.server = replace(redis.server, password=Secret("two"))
            with redis.bare() as bare:
                bare.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
                began = time.monotonic()
                with pytest.raises(Unavailable) as found:
                    await client.call("PING", deadline=60, again=True)
                assert time.monotonic() - began < 3 + machine.lost(began)
                assert found.value.code == "ERR_STORE_SIGN_IN"
                bare.call("CONFIG", "SET", "requirepass", "one")

            assert await client.call("PING") == b"PONG"


async def test_a_full_house_is_told_and_waited_for(tmp_path: Path) -> None:
    """A server with no room for another connection is not one that refuses us for good."""
    with a_redis(tmp_path, maxclients=3) as redis:
        async with connect(redis.server, SystemClock()) as client:
            # An answer to one means that the server has taken it in.
            guests = [redis.bare(), redis.bare()]
            assert [guest.call("PING") for guest in guests] == [b"PONG", b"PONG"]
            with pytest.raises(Unavailable):
                async with connect(redis.server, SystemClock()):
                    pass
            for guest in guests:
                guest.close()

            assert await client.block("BLPOP", "list", "0.01", deadline=5) is None


async def test_callers_who_wait_while_the_client_is_closed_are_told(tmp_path: Path) -> None:
    """They get a fault like any other, and are not cancelled themselves."""
    with a_redis(tmp_path) as redis:
        async with connect(redis.server, SystemClock()) as client:
            redis.kill()
            waiting = asyncio.create_task(client.call("PING", deadline=30))
            await asyncio.sleep(0.05)

    with pytest.raises(Unavailable):
        await waiting


async def first_refusal(redis: Redis) -> str:
    """Until the server refuses a plain read, and with what."""
    async with asyncio.timeout(30):
        while True:
            with redis.bare() as bare:
                try:
                    bare.call("GET", "x")
                except Exception as refusal:
                    return str(refusal)
            await asyncio.sleep(0.002)


async def other_call(redis: Redis) -> None:
    """A call by another program."""
    async with connect(redis.server, SystemClock()) as other:
        await other.call("GET", "x", deadline=1.0)
