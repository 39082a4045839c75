"""A subscription against servers that close, fall silent and lie; each as a real WebSocket server does."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.server import ServerConnection, serve

from penstock.client import Event, Passing, Penstock, PenstockError, Resync
from penstock.client.events import read_frame

Talk = Callable[[ServerConnection, int], Awaitable[None]]


@asynccontextmanager
async def told_by(talk: Talk) -> AsyncIterator[Penstock]:
    """A client of a server that talks so; it counts its connections from 1."""
    times = 0

    async def converse(socket: ServerConnection) -> None:
        nonlocal times
        times += 1
        await talk(socket, times)

    async with asyncio.timeout(30), serve(converse, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with Penstock(f"http://127.0.0.1:{port}", token="secret") as p:
            yield p


def ready(seq: int) -> str:
    return json.dumps({"type": "ready", "payload": {"seq": seq, "ts": "t" if seq else None}})


def event(seq: int) -> str:
    return json.dumps({"type": "document.created", "payload": {}, "seq": seq, "ts": "t"})


async def test_each_event_once_whatever_is_told_twice() -> None:
    """It asks behind the last it has, and drops what it has been given; what passes only on request."""
    asked: list[str] = []

    async def talk(socket: ServerConnection, times: int) -> None:
        assert socket.request is not None
        asked.append(socket.request.path)
        passing = json.dumps({"type": "progress", "payload": {"done": 1}})
        for frame in (event(1), event(2), passing, ready(2)) if times == 1 else (event(2), event(3)):
            await socket.send(frame)
        await socket.close(1012, "ERR_RESTARTING")

    async with told_by(talk) as p, p.subscribe(since=0) as events:
        seen = [await anext(events) for _ in range(3)]
        assert [each.seq for each in seen if isinstance(each, Event)] == [1, 2, 3]
        assert (asked, events.seq) == (["/ws?since=0", "/ws?since=2@t"], 3)
        assert events.bookmark == "3@t"
    async with told_by(talk) as p, p.subscribe(since=0, passing=True) as events:
        assert [type(await anext(events)) for _ in range(3)] == [Event, Event, Passing]


async def test_a_bookmark_names_no_event_that_was_not_given() -> None:
    """One heard while it was waited for the beginning: who goes on from there is given it."""
    asked: list[str] = []

    async def talk(socket: ServerConnection, _: int) -> None:
        assert socket.request is not None
        asked.append(socket.request.path)
        for frame in (event(7), ready(7), event(8)):
            await socket.send(frame)
        await socket.wait_closed()

    async with told_by(talk) as p, p.subscribe() as events:
        assert (events.seq, events.bookmark) == (6, "6")
        async with p.subscribe(since=events.bookmark) as others:
            assert (await anext(others), others.bookmark) == (await anext(events), "7@t")
        assert (asked, events.bookmark) == (["/ws", "/ws?since=6"], "7@t")
        assert (await anext(events), events.bookmark) == (read_frame(event(8)), "8@t")


async def test_entering_is_the_beginning() -> None:
    """What happens between entering and the first look is given, also where the line was lost meanwhile."""
    asked: list[str] = []
    happened = asyncio.Event()

    async def talk(socket: ServerConnection, times: int) -> None:
        assert socket.request is not None
        asked.append(socket.request.path)
        if times == 1:
            await socket.send(ready(6))
            await happened.wait()
            await socket.close(1012, "ERR_RESTARTING")
        else:
            for frame in (event(7), ready(7), event(8)):
                await socket.send(frame)
            await socket.wait_closed()

    async with told_by(talk) as p, p.subscribe() as events:
        assert (asked, events.bookmark) == (["/ws"], "6@t")
        happened.set()
        assert [await anext(events), await anext(events)] == [read_frame(event(7)), read_frame(event(8))]
    assert asked == ["/ws", "/ws?since=6@t"]


async def test_who_is_refused_on_entering_leaves_nothing_open() -> None:
    """The refusal is told there, and the subscription has ended."""

    async def talk(socket: ServerConnection, _: int) -> None:
        await socket.close(4403, "ERR_OF_ITS_OWN")

    async with told_by(talk) as p:
        events = p.subscribe()
        with pytest.raises(PenstockError, match="ERR_OF_ITS_OWN"):
            await events.__aenter__()
        assert await anext(events, None) is None


async def test_a_resync_says_where_to_go_on() -> None:
    """Also where that is before what was known: the server's word counts."""

    async def talk(socket: ServerConnection, _: int) -> None:
        facts = {"reason": "future", "seq": 4, "documents": [], "documents_left_out": False, "answers": []}
        await socket.send(json.dumps({"type": "resync", "payload": facts}))
        await socket.send(event(5))
        await socket.wait_closed()

    async with told_by(talk) as p, p.subscribe(since=9) as events:
        assert isinstance(await anext(events), Resync)
        told = await anext(events)
        assert isinstance(told, Event)
        assert told.seq == 5


async def test_a_server_that_only_closes_is_given_up() -> None:
    """Being let in and told nothing is not being connected."""

    async def talk(socket: ServerConnection, _: int) -> None:
        await socket.close(1013, "ERR_KEYS_UNAVAILABLE")

    async with told_by(talk) as p:
        with pytest.raises(PenstockError, match="ERR_KEYS_UNAVAILABLE"):
            await anext(p.subscribe(patience=0.3))


@pytest.mark.parametrize(("code", "status"), [(4400, 400), (4401, 401), (4403, 403)])
async def test_a_refusal_is_not_tried_again(code: int, status: int) -> None:
    """With the server's code."""
    connections = 0

    async def talk(socket: ServerConnection, times: int) -> None:
        nonlocal connections
        connections = times
        await socket.close(code, "ERR_OF_ITS_OWN")

    async with told_by(talk) as p:
        with pytest.raises(PenstockError) as told:
            await anext(p.subscribe())
    assert (told.value.status, told.value.code, connections) == (status, "ERR_OF_ITS_OWN", 1)


async def test_closing_ends_whoever_reads() -> None:
    """An iteration ends; what waits for more than that is told."""

    async def talk(socket: ServerConnection, _: int) -> None:
        await socket.send(ready(0))
        await socket.wait_closed()

    async with told_by(talk) as p:
        events = p.subscribe()
        await events.ready()
        reading = asyncio.create_task(anext(events, None))
        await asyncio.sleep(0)
        await p.aclose()
        assert await reading is None
        closed = p.subscribe()
        await closed.aclose()
        with pytest.raises(PenstockError, match="was closed"):
            await closed.ready()
