"""The stream of events for clients that only read: numbers to come again with, pings, and its ends."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import psutil
import pytest

from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.events import DocumentStatusUpdated
from penstock.model.principals import Principal
from penstock.model.rules import Rules
from tests.support.live import PATIENCE, LiveServer, Message, a_token, a_user, closed, live_server

pytestmark = pytest.mark.xdist_group("live")
MOVED = DocumentStatusUpdated(workspace_id="w", document_id="d", status="parsed")
SHORT_LIFE = 8.0
"""Seconds of a token that is to end in a test, and not before it was shown."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("stream"), per_user=2) as server:
        yield server


@pytest.fixture
async def store(server: LiveServer) -> AsyncIterator[SqliteStore]:
    store = await open_sqlite(server.log.parent, rules=Rules(), clock=SystemClock(), synchronous="normal")
    yield store
    await store.close()


class Blocks:
    """What a browser would make of the lines."""

    def __init__(self, reply: httpx.Response) -> None:
        self._lines = reply.aiter_lines()
        self.last_id: str | None = None

    async def next(self) -> Message:
        """The next message; comments and other fields are passed over."""
        async with asyncio.timeout(PATIENCE):
            async for line in self._lines:
                name, _, value = line.partition(": ")
                if name == "id":
                    self.last_id = value
                elif name == "data":
                    message: Message = json.loads(value)
                    return message
        raise AssertionError("the stream has ended")

    async def ended(self) -> bool:
        async with asyncio.timeout(PATIENCE):
            return not [line async for line in self._lines if line]


@asynccontextmanager
async def following(server: LiveServer, token: str | None, **words: str) -> AsyncIterator[Blocks]:
    headers = {name.replace("_", "-"): value for name, value in words.items() if name == "last_event_id"}
    asked = {name: value for name, value in words.items() if name != "last_event_id"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    address = f"http://127.0.0.1:{server.port}/api/events"
    async with (
        httpx.AsyncClient(timeout=PATIENCE) as client,
        client.stream("GET", address, params=asked, headers=headers) as reply,
    ):
        assert reply.status_code == 200, await reply.aread()
        assert reply.headers["content-type"].startswith("text/event-stream")
        yield Blocks(reply)


async def test_the_stream_goes_on_from_the_number_a_browser_sends(
    server: LiveServer, store: SqliteStore
) -> None:
    """Each event carries its number as id; coming again with it tells what was missed."""
    user = a_user()
    async with following(server, a_token(user)) as blocks:
        assert await blocks.next() == {"type": "ready", "payload": {"seq": 0, "ts": None}}
        assert blocks.last_id == "0"
        await store.write(lambda tx: tx.append_event(user, MOVED))
        told = await blocks.next()
        assert (told["type"], told["seq"]) == ("document.status_updated", 1)
        mark = blocks.last_id
        assert mark == f"1@{told['ts']}"
    await store.write(lambda tx: tx.append_event(user, MOVED))
    ticket = await store.tickets.issue(Principal(user=user))
    async with following(server, None, last_event_id=mark, ticket=ticket) as blocks:
        assert [(await blocks.next())["seq"], (await blocks.next())["payload"]["seq"]] == [2, 2]


async def test_who_came_by_a_ticket_comes_again_by_himself(tmp_path: Path) -> None:
    """To the same address with the `id` he was told last, as browsers do; also when the server was killed."""
    user = a_user()
    with live_server(tmp_path) as server:
        store = await open_sqlite(tmp_path, rules=Rules(), clock=SystemClock(), synchronous="normal")
        ticket = await ticket_of(store, user, seconds=600)
        async with following(server, None, ticket=ticket) as blocks:
            assert (await blocks.next())["type"] == "ready"
            first = blocks.last_id
            assert first is not None
            mark, _, held = first.partition(";")
            assert mark == "0"
            await store.write(lambda tx: tx.append_event(user, MOVED))
            await blocks.next()
        for number in (2, 3):
            await store.write(lambda tx: tx.append_event(user, MOVED))
            async with following(server, None, ticket=ticket, last_event_id=blocks.last_id or "") as blocks:
                assert [(await blocks.next())["seq"], (await blocks.next())["type"]] == [number, "ready"]
                assert (blocks.last_id or "").endswith(f";{held}")
        server.kill()
    await store.write(lambda tx: tx.append_event(user, MOVED))
    with live_server(tmp_path) as server:
        async with following(server, None, ticket=ticket, last_event_id=blocks.last_id or "") as blocks:
            assert (await blocks.next())["seq"] == 4
        assert held not in server.log.read_text()
    await store.close()


async def test_a_pass_opens_nothing_but_its_stream(server: LiveServer, store: SqliteStore) -> None:
    """Not from an address, not `/ws`, not where its token is over, and never as a ticket."""
    user = a_user()
    async with following(server, None, ticket=await ticket_of(store, user, seconds=SHORT_LIFE)) as blocks:
        await blocks.next()
        mark = blocks.last_id or ""
    held = mark.partition(";")[2]
    address = f"http://127.0.0.1:{server.port}/api/events"
    async with httpx.AsyncClient(timeout=PATIENCE) as client:

        async def code(headers: dict[str, str] | None = None, **asked: str) -> tuple[int, str]:
            reply = await client.get(address, params=asked, headers=headers)
            return reply.status_code, reply.json()["code"]

        assert await code(since=mark) == (401, "ERR_TOKEN_MISSING")
        assert await code(ticket=held) == (401, "ERR_TICKET_INVALID")
        assert await code(token=held) == (401, "ERR_TOKEN_INVALID")
        assert await code({"Last-Event-ID": "0;pst_" + "A" * 43}) == (401, "ERR_TICKET_INVALID")
        assert await code({"Last-Event-ID": "0;nonsense"}) == (422, "ERR_SINCE_INVALID")
        assert await code({"Authorization": "Bearer x", "Last-Event-ID": mark}) == (401, "ERR_TOKEN_INVALID")
        async with server.connect(ticket=held) as socket:
            assert await closed(socket) == (4401, "ERR_TICKET_INVALID")
        # A ticket that is still good counts, whatever became of the pass beside it.
        fresh = await ticket_of(store, user, seconds=600)
        async with following(server, None, ticket=fresh, last_event_id="0;pst_" + "A" * 43) as blocks:
            assert (await blocks.next())["type"] == "ready"
        await asyncio.sleep(SHORT_LIFE)
        assert await code({"Last-Event-ID": mark}) == (401, "ERR_TICKET_INVALID")
    assert held not in server.log.read_text()


async def ticket_of(store: SqliteStore, user: str, *, seconds: float) -> str:
    return await store.tickets.issue(Principal(user=user, expires_at=SystemClock().now() + seconds))


async def test_the_stream_ends_with_its_token(server: LiveServer) -> None:
    """It says why, so that a client can tell it from a lost connection."""
    async with following(server, a_token(a_user(), seconds=SHORT_LIFE)) as blocks:
        await blocks.next()
        assert (await blocks.next())["payload"] == {"code": 4401, "reason": "ERR_TOKEN_EXPIRED"}
        assert await blocks.ended()


async def test_who_is_not_let_in_gets_a_problem_document(server: LiveServer) -> None:
    """Refused as any request is; the connection too many as well."""
    address = f"http://127.0.0.1:{server.port}/api/events"
    user = a_user()
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        codes = [
            (reply.status_code, reply.json()["code"])
            for reply in (
                await client.get(address),
                await client.get(address, params={"token": "nonsense"}),
                await client.get(address, params={"since": "x"}),
                await client.get(address, params={"since": ["1", "2"]}),
                await client.get(address, headers={"Origin": "https://evil.example"}),
            )
        ]
        async with following(server, a_token(user)), following(server, a_token(user)):
            full = await client.get(address, params={"token": a_token(user)})
    assert codes == [
        (401, "ERR_TOKEN_MISSING"),
        (401, "ERR_TOKEN_INVALID"),
        (422, "ERR_SINCE_INVALID"),
        (422, "ERR_SINCE_INVALID"),
        (403, "ERR_ORIGIN_FORBIDDEN"),
    ]
    assert (full.status_code, full.json()["code"]) == (429, "ERR_CONNECTIONS")


async def test_a_server_that_ends_ends_its_streams(tmp_path: Path) -> None:
    """At once and in good order, without waiting for those who read."""
    with live_server(tmp_path) as server:
        async with following(server, a_token(a_user())) as blocks:
            await blocks.next()
            ending = asyncio.create_task(asyncio.to_thread(server.stop))
            assert (await blocks.next())["payload"]["code"] == 1012
            assert await blocks.ended()
            assert await ending == 0
    assert "Traceback" not in server.log.read_text()


@pytest.mark.crash_full
async def test_a_stream_nobody_reads_is_cut_off(server: LiveServer, store: SqliteStore) -> None:
    """Its place is free soon, and the connection itself gone after a minute."""
    user = a_user()
    large = DocumentStatusUpdated(workspace_id="w", document_id="d", status="x" * 50_000)
    with socket.socket() as still:
        still.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        still.connect(("127.0.0.1", server.port))
        still.settimeout(PATIENCE)
        head = f"Host: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {a_token(user)}\r\n"
        still.sendall(f"GET /api/events HTTP/1.1\r\n{head}\r\n".encode())
        assert still.recv(1)
        for _ in range(200):
            await store.write(lambda tx: tx.append_event(user, large))
        await asyncio.sleep(75.0)
        read = await asyncio.to_thread(_until_cut, still)
    assert read < 200 * 50_000
    connections = psutil.Process(server.process.pid).net_connections()
    assert [each for each in connections if each.status == "ESTABLISHED"] == []


def _until_cut(still: socket.socket) -> int:
    read = 0
    with contextlib.suppress(ConnectionResetError):
        while data := still.recv(1 << 20):
            read += len(data)
    return read
