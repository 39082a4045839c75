"""Lingering for a reply: quicker where it comes at once, and nobody's loss where it does not."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from penstock.engines.redis.client import connect
from penstock.engines.redis.lingering import SKIPPED_MAX, Linger
from penstock.engines.redis.protocol import LINGERS, Lost, Wire, packed
from penstock.engines.redis.scripts import Asked, Script
from penstock.engines.system.clock import SystemClock
from penstock.settings import RedisServer

ADD = Script.of("add", "return redis.call('INCRBY', KEYS[1], ARGV[1])")
Pair = tuple[Linger, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """One end is lingered on, the other is the server's."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        yield Linger(ours.fileno()), theirs


def test_what_is_there_is_heard(pair: Pair) -> None:
    """A moment that was worth it is followed by another."""
    linger, server = pair

    for word in (b"+OK\r\n", b":1\r\n"):
        server.sendall(word)

        assert linger.is_worth_it()
        assert linger.hear() == word


def test_in_vain_it_is_done_ever_more_rarely(pair: Pair) -> None:
    """A server far away costs a moment for the first command, and soon for one of thousands."""
    linger, _ = pair

    lingered = [number for number in range(SKIPPED_MAX * 4) if linger.is_worth_it() and not linger.hear()]

    assert lingered[:5] == [0, 2, 5, 10, 19]
    assert lingered[-1] - lingered[-2] == SKIPPED_MAX + 1


def test_a_reply_in_time_makes_it_worth_it_again(pair: Pair) -> None:
    """The server was busy only for a while."""
    linger, server = pair
    for _ in range(40):
        if linger.is_worth_it():
            linger.hear()
    while not linger.is_worth_it():
        pass
    server.sendall(b"+OK\r\n")
    linger.hear()

    linger.hear()

    assert [linger.is_worth_it() for _ in range(2)] == [False, True]


def test_the_end_of_a_connection_is_left_to_the_loop(pair: Pair) -> None:
    """It is no reply, and neither is it waited for."""
    linger, server = pair
    server.close()

    assert linger.hear() == b""
    assert linger.send(b"PING\r\n") == 0


async def test_each_gets_its_own_reply(redis: RedisServer) -> None:
    """Who lingers and who does not share one connection, in whatever order they ask."""
    async with connect(redis, SystemClock()) as client:

        async def add(key: str) -> list[int]:
            return [await client.run_quick(Asked(ADD, [key], (), 1), [1]) for _ in range(50)]

        async def echo(word: str) -> list[bytes]:
            return [await client.call("ECHO", f"{word} {number}") for number in range(50)]

        alone = await add("alone")
        *added, echoed = await asyncio.gather(*(add(f"k{number}") for number in range(5)), echo("word"))

        assert client.standing.connections == 1
    assert alone == list(range(1, 51))
    assert added == [alone] * 5
    assert echoed == [f"word {number}".encode() for number in range(50)]


async def test_others_have_their_turns_meanwhile(redis: RedisServer) -> None:
    """A loop that asks and asks, and never waits for long, holds nobody up."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with connect(redis, SystemClock()) as client:
        counting = asyncio.create_task(count())
        for _ in range(LINGERS * 20):
            await client.run_quick(Asked(ADD, ["n"], (), 1), [1])
        counting.cancel()

    assert turns >= 20


async def test_a_command_the_socket_cannot_take_at_once_arrives_whole(redis: RedisServer) -> None:
    """What the kernel had no room for, the loop sends."""
    word = b"x" * (8 << 20)
    async with a_wire(redis.host, redis.port) as wire:
        replies = [await wire.ask(packed(("ECHO", word)), _soon(), linger=True) for _ in range(3)]
        small = await wire.ask(packed(("ECHO", "small")), _soon(), linger=True)

    assert replies == [word] * 3
    assert small == b"small"


async def test_a_server_that_hangs_up_is_told_as_ever() -> None:
    """The command may have been done: nobody knows."""
    with a_server(lambda plug: plug.recv(100)) as port:
        async with a_wire("127.0.0.1", port) as wire:
            with pytest.raises(Lost) as lost:
                await wire.ask(packed(("PING",)), _soon(), linger=True)

            assert lost.value.sent
            assert not wire.is_usable


async def test_a_server_that_talks_nonsense_is_left() -> None:
    """No reply is made of it."""

    def mumble(plug: socket.socket) -> None:
        plug.recv(100)
        plug.sendall(b"what?\r\n")

    with a_server(mumble) as port:
        async with a_wire("127.0.0.1", port) as wire:
            with pytest.raises(Lost, match="no reply"):
                await wire.ask(packed(("PING",)), _soon(), linger=True)


def _soon() -> float:
    return asyncio.get_running_loop().time() + 60.0


@asynccontextmanager
async def a_wire(host: str, port: int) -> AsyncIterator[Wire]:
    """A bare connection, closed at the end."""
    _, wire = await asyncio.get_running_loop().create_connection(
        lambda: Wire(in_flight_max=10, reply_bytes_max=64 << 20), host, port
    )
    try:
        yield wire
    finally:
        wire.abort()
        await wire.gone


@contextmanager
def a_server(serve: Callable[[socket.socket], object]) -> Iterator[int]:
    """Serves one connection in a thread of its own, then hangs up; its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def run() -> None:
            plug, _ = listening.accept()
            with plug:
                serve(plug)

        thread = threading.Thread(target=run)
        thread.start()
        yield listening.getsockname()[1]
        thread.join()
