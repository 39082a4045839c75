"""The Redis client on a real server: what goes out together, what comes back, what is refused."""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.engines.redis.client import Client, connect
from penstock.engines.redis.dialling import Limits
from penstock.engines.redis.scripts import Script
from penstock.engines.system.clock import SystemClock
from penstock.model.errors import Broken, Refused, Unavailable
from penstock.settings import RedisServer, Secret
from penstock.settings.addresses import redis_server
from tests.support.certificates import serving, trusting
from tests.support.clock import FakeClock
from tests.support.proxy import a_proxy
from tests.support.servers.bare import Bare
from tests.support.servers.redis import a_redis

ADD = Script.of("add", "return redis.call('INCRBY', KEYS[1], ARGV[1])")


@pytest.fixture
async def client(redis: RedisServer) -> AsyncIterator[Client]:
    async with connect(redis, SystemClock()) as client:
        yield client


async def test_replies_are_bytes_numbers_lists_and_nothing(client: Client) -> None:
    """The caller gets what the server says and decodes it himself."""
    assert await client.call("HSET", "job", "status", "queued", "name", b"\xff\x00\r\n") == 2
    assert await client.call("HGETALL", "job") == [b"status", b"queued", b"name", b"\xff\x00\r\n"]
    assert await client.call("GET", "nothing") is None


async def test_many_callers_get_their_own_replies(client: Client) -> None:
    """A thousand at once on one connection, in whatever order they are woken."""
    words = [f"word {number}" for number in range(1_000)]

    replies = await asyncio.gather(*(client.call("ECHO", word) for word in words))

    assert replies == [word.encode() for word in words]
    assert client.standing.connections == 1


async def test_commands_of_one_turn_leave_in_one_write(redis: RedisServer) -> None:
    """A hundred callers cost the server one read, not a hundred."""
    async with connect(redis, SystemClock()) as client:
        with Bare(redis) as bare:
            reads = reads_of(bare)
            await asyncio.gather(*(client.call("ECHO", number) for number in range(100)))

            assert reads_of(bare) - reads < 20


async def test_more_callers_than_the_limit_wait_their_turn(redis: RedisServer) -> None:
    """The bound on commands under way holds nobody up for ever, and loses nobody."""
    async with connect(redis, SystemClock(), limits=Limits(in_flight_max=3)) as client:
        replies = await asyncio.gather(*(client.call("INCR", "n") for _ in range(200)))

    assert sorted(replies) == list(range(1, 201))


async def test_our_connections_have_a_name_and_the_right_database(redis: RedisServer) -> None:
    """Whoever looks at the server sees who we are."""
    async with connect(replace(redis, db=3), SystemClock()) as client:
        mine = (await client.call("CLIENT", "INFO")).decode()

    assert " name=penstock " in mine
    assert " db=3 " in mine


async def test_a_script_is_sent_once_and_again_after_the_server_forgot_it(client: Client) -> None:
    """NOSCRIPT is answered with the text; nobody notices."""
    assert await client.run(ADD, keys=["n"], args=[2]) == 2
    await client.call("SCRIPT", "FLUSH")
    assert await asyncio.gather(*(client.run(ADD, keys=["n"], args=[1]) for _ in range(5))) == [3, 4, 5, 6, 7]


async def test_a_script_that_fails_is_named(client: Client) -> None:
    """What is wrong with our own Lua is loud, and tells which script it was."""
    with pytest.raises(Broken, match="sum: ERR") as found:
        await client.run(Script.of("sum", "return nil + 1"))

    assert found.value.code == "ERR_BROKEN"


async def test_arguments_are_in_no_message(client: Client) -> None:
    """The server repeats what it was given; we do not."""
    with pytest.raises(Broken) as found:
        await client.call("NOSUCHTHING", "hunter2")

    assert "NOSUCHTHING" in found.value.message
    assert "hunter2" not in f"{found.value.message} {found.value.__cause__}"


async def test_a_key_of_another_kind_is_told(client: Client) -> None:
    """Somebody else's value under our key is damage, not weather."""
    await client.call("SET", "job", "text")

    with pytest.raises(Broken) as found:
        await client.call("HGETALL", "job")

    assert found.value.code == "ERR_STORE_CORRUPT"


async def test_a_reply_larger_than_the_bound_ends_the_connection(redis: RedisServer) -> None:
    """Memory is bounded whatever the server sends, and the next call is served."""
    async with connect(redis, SystemClock(), limits=Limits(reply_bytes_max=1 << 20)) as client:
        await client.call("SETRANGE", "large", 8 << 20, "!")

        with pytest.raises(Unavailable, match="larger than 1048576 bytes"):
            await client.call("GET", "large")

        assert await client.call("STRLEN", "large") == (8 << 20) + 1


async def test_a_call_that_is_cancelled_leaves_the_others_their_replies(client: Client) -> None:
    """A caller who leaves keeps his place in the line of replies."""
    calls = [asyncio.create_task(client.call("ECHO", number)) for number in range(10)]
    await asyncio.sleep(0)
    for call in calls[::2]:
        call.cancel()

    replies = await asyncio.gather(*calls, return_exceptions=True)

    assert replies[1::2] == [b"1", b"3", b"5", b"7", b"9"]
    assert all(isinstance(reply, asyncio.CancelledError) for reply in replies[::2])


async def test_a_blocking_call_holds_nobody_up(client: Client) -> None:
    """It waits on a connection of its own, which the next one uses again."""
    waiting = asyncio.create_task(client.block("BLPOP", "list", 5, deadline=6))
    await blocked(client, 1)

    await client.call("RPUSH", "list", "x")

    assert await waiting == [b"list", b"x"]
    assert await client.block("BLPOP", "list", "0.01", deadline=1) is None
    assert (await client.call("CLIENT", "LIST")).count(b"name=penstock") == 2


async def test_leaving_a_blocking_call_takes_nothing_along(client: Client) -> None:
    """An element pushed after the caller left stays in its list."""
    waiting = asyncio.create_task(client.block("BLPOP", "list", 5, deadline=6))
    await blocked(client, 1)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await blocked(client, 0)

    await client.call("RPUSH", "list", "x")

    assert await client.call("LLEN", "list") == 1


async def test_a_wrong_password_is_refused_at_the_start(tmp_path: Path) -> None:
    """Nothing is tried again, and neither password nor user is told."""
    with a_redis(tmp_path, requirepass="open sesame") as redis:
        wrong = RedisServer(host="127.0.0.1", port=redis.server.port, password=Secret("hush-hush"))
        none = RedisServer(host="127.0.0.1", port=redis.server.port)
        for server in (wrong, none):
            with pytest.raises(Refused) as found:
                async with connect(server, SystemClock()):
                    pass
            assert found.value.code == "ERR_STORE_SIGN_IN"
            assert "hush" not in found.value.message

        async with connect(redis.server, SystemClock()) as client:
            assert await client.call("PING") == b"PONG"


async def test_a_user_of_the_servers_list_signs_in_by_name(tmp_path: Path) -> None:
    """A user who may not even name his connection is welcome; what he may not do is told."""
    with a_redis(tmp_path) as redis:
        with redis.bare() as bare:
            bare.call("ACL", "SETUSER", "ann", "on", ">secret", "~*", "+get", "+select")
        server = redis_server(f"redis://ann:secret@127.0.0.1:{redis.server.port}/1")
        async with connect(server, SystemClock()) as client:
            assert await client.call("GET", "x") is None
            with pytest.raises(Unavailable) as found:
                await client.call("SET", "x", 1)

    assert found.value.code == "ERR_STORE_SIGN_IN"


async def test_a_database_that_is_not_there_is_refused(redis: RedisServer) -> None:
    """A number beyond the server's is the configuration's fault."""
    with pytest.raises(Refused, match="no database 9999"):
        async with connect(replace(redis, db=9999), SystemClock()):
            pass


async def test_nobody_there_is_told_at_once() -> None:
    """The first connection is tried once."""
    with pytest.raises(Unavailable, match="cannot be reached") as found:
        async with connect(redis_server("redis://127.0.0.1:1/0"), SystemClock()):
            pass

    assert found.value.code == "ERR_STORE_UNAVAILABLE"


async def test_tls_is_spoken_and_checked(redis: RedisServer, tmp_path: Path) -> None:
    """rediss:// encrypts; a certificate nobody trusts is refused."""
    trusted = trusting()
    trusted.check_hostname = False
    async with a_proxy(redis.host, redis.port, tls=serving(tmp_path)) as proxy:
        server = replace(redis, port=proxy.port, tls=True)
        async with connect(server, SystemClock(), tls=trusted) as client:
            assert await client.call("ECHO", "x") == b"x"
        with pytest.raises(Refused, match="certificate"):
            async with connect(server, SystemClock()):
                pass


async def test_a_closed_client_says_so_and_leaves_nothing(redis: RedisServer) -> None:
    """No connection, task or open future is left behind."""
    async with connect(redis, SystemClock()) as client:
        client.subscribe("bell")
        waiting = asyncio.create_task(client.block("BLPOP", "list", 5, deadline=6))
        await client.call("PING")
    with pytest.raises(Unavailable):
        await waiting
    with pytest.raises(Unavailable, match="closed"):
        await client.call("PING")

    gc.collect()
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_standing_tells_since_when(redis: RedisServer) -> None:
    """An operator sees whether the line is up, and for how long."""
    clock = FakeClock()
    async with connect(redis, clock) as client:
        standing = client.standing

    assert (standing.reached, standing.since, standing.connections) == (True, clock.now(), 1)


async def test_full_memory_is_told_and_passes(tmp_path: Path) -> None:
    """OOM with noeviction: writes are refused with a code of their own, reads go on, room helps."""
    with a_redis(tmp_path, maxmemory="2mb", **{"maxmemory-policy": "noeviction"}) as redis:
        async with connect(redis.server, SystemClock()) as client:
            sets = (client.call("SET", f"key {number}", b"x" * 100_000) for number in range(100))
            with pytest.raises(Unavailable) as found:
                await asyncio.gather(*sets)
            assert found.value.code == "ERR_STORE_FULL"
            await client.call("CONFIG", "SET", "maxmemory", "1mb")  # what was under way counted as well
            with pytest.raises(Unavailable) as script:
                await client.run(ADD, keys=["n"], args=[1])
            assert script.value.code == "ERR_STORE_FULL"

            assert await client.call("DBSIZE") > 0
            await client.call("CONFIG", "SET", "maxmemory", "64mb")

            assert await client.run(ADD, keys=["n"], args=[1]) == 1


async def blocked(client: Client, count: int) -> None:
    """Until so many connections wait on the server."""
    async with asyncio.timeout(30):
        while (await client.call("CLIENT", "LIST")).count(b" cmd=blpop ") != count:  # noqa: ASYNC110  # it tells nobody
            await asyncio.sleep(0.001)


def reads_of(bare: Bare) -> int:
    stats = bare.call("INFO", "stats").decode()
    return int(stats.partition("total_reads_processed:")[2].split()[0])


async def test_another_loop_of_the_process_has_a_connection_of_its_own(client: Client) -> None:
    """A keeper's thread asks while the first loop is busy, and closing the client ends it there too."""
    told: list[object] = []
    begun, closed = threading.Event(), threading.Event()

    async def keep() -> None:
        told.append(await client.run(ADD, keys=["beats"], args=[1]))
        told.append(await client.call("GET", "beats"))
        begun.set()
        await asyncio.to_thread(closed.wait, 30.0)
        try:
            await client.call("PING")
        except Unavailable as fault:
            told.append(fault.code)

    keeper = threading.Thread(target=lambda: asyncio.run(keep()))
    keeper.start()
    begun.wait(30.0)  # this loop stands still meanwhile
    await client.close()
    closed.set()
    await asyncio.to_thread(keeper.join, 30.0)

    assert told == [1, b"1", "ERR_STORE_UNAVAILABLE"]
