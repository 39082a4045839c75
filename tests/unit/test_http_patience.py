"""How long a connection may take to say what it wants, on a server with a bare application behind it."""

import asyncio
import contextlib
import json
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from fastapi import APIRouter
from starlette.types import Message, Receive, Scope, Send

from penstock.doors.http import serving
from penstock.doors.http.app import _routed
from penstock.doors.http.beside import pause_after
from penstock.doors.http.guards import Guard, Patience
from penstock.doors.http.listening import bound
from penstock.doors.http.problems import problem
from penstock.settings import Live, load
from tests.support.live import PATIENCE

HEAD = b"GET / HTTP/1.1\r\nHost: here\r\n"
UPGRADE = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
PING = b"\x89\xfd" + bytes(4) + bytes(125)
LAST_PING, LAST_PONG = b"\x89\x84" + bytes(4) + b"last", b"\x8a\x04last"
EVERYWHERE = "0.0.0.0"  # noqa: S104  # nobody is answered there
MANY = 300_000
"""Pings of 131 bytes: more than a connection can hold on its way."""
KEY = b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"


async def test_a_handshake_that_is_refused_leaves_no_query() -> None:
    """The server may write it down with the answer, and a token may be in it."""
    scope = {
        "type": "websocket",
        "path": "/ws",
        "query_string": b"token=canary",
        "headers": [(b"x", b"y" * 40_000)],
        "extensions": {"websocket.http.response": {}},
    }
    shown: list[bytes] = []

    async def send(message: Message) -> None:
        shown.append(scope["query_string"])  # type: ignore[arg-type]

    async def never() -> Message:
        raise AssertionError("nothing is asked")

    guard = Guard(app, check=lambda _: None, body_max=1, streamed=(), patience=Patience())
    await guard(scope, never, send)

    assert shown
    assert set(shown) == {b""}


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "HEAD_SECONDS", 0.2)


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers everything, and echoes what a WebSocket says."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        return await send({"type": "http.response.body", "body": b"ok"})
    await receive()
    await send({"type": "websocket.accept"})
    while (said := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": said["text"]})
    return None


class Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield


@asynccontextmanager
async def connected(
    live: Live | None = None, app: object = app
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection to the server, as the program configures it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = Server(serving.config_of(app, live))
        running = asyncio.create_task(server.serve(sockets=[listening]))
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        try:
            async with asyncio.timeout(PATIENCE):
                yield reader, writer
        finally:
            writer.close()
            server.should_exit = True
            await running


@pytest.mark.parametrize("said", [b"", HEAD])
async def test_who_does_not_say_what_he_wants_is_closed(said: bytes) -> None:
    """Nothing, or half a head."""
    async with connected() as (reader, writer):
        writer.write(said)
        assert await reader.read() == b""


async def test_a_further_request_must_be_said_as_quickly() -> None:
    """A connection that was answered once may not hang on half a head either."""
    async with connected() as (reader, writer):
        writer.write(HEAD + b"\r\n")
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        writer.write(HEAD)
        assert await reader.read() == b""


async def test_a_connection_may_rest_between_requests() -> None:
    """Then nothing has begun that could take too long."""
    async with connected() as (reader, writer):
        for _ in range(3):
            writer.write(HEAD + b"\r\n")
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
            await asyncio.sleep(0.3)


async def test_a_websocket_lasts() -> None:
    """Its head was said; it may be silent as long as it likes."""
    async with connected() as (reader, writer):
        writer.write(HEAD + UPGRADE + KEY + b"\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101")
        await asyncio.sleep(0.5)
        writer.write(b"\x81\x82\0\0\0\0hi")
        assert await reader.readexactly(4) == b"\x81\x02hi"


@pytest.mark.parametrize(
    ("head", "status", "code"),
    [
        (HEAD + UPGRADE.replace(b"13", b"8") + KEY, 400, "ERR_REQUEST_INVALID"),
        (HEAD + UPGRADE, 400, "ERR_REQUEST_INVALID"),
        (HEAD + UPGRADE + KEY.replace(b"==", b"!!"), 400, "ERR_REQUEST_INVALID"),
        (HEAD + UPGRADE + KEY + b"Content-Length: 2\r\n", 400, "ERR_REQUEST_INVALID"),
        (HEAD + UPGRADE + KEY + b"Transfer-Encoding: chunked\r\n", 400, "ERR_REQUEST_INVALID"),
        (HEAD.replace(b"GET", b"POST") + UPGRADE + KEY, 405, "ERR_METHOD_UNKNOWN"),
    ],
    ids=["another version", "no key", "no such key", "a body", "chunks", "another method"],
)
async def test_a_handshake_that_cannot_be_read_is_refused(head: bytes, status: int, code: str) -> None:
    """With a problem document, and the connection closed."""
    async with connected() as (reader, writer):
        writer.write(head + b"\r\n")
        told, _, body = (await reader.read()).partition(b"\r\n\r\n")

    assert told.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"content-type: application/problem+json" in told.lower()
    said = json.loads(body)
    assert (said["status"], said["code"], bool(said["detail"])) == (status, code, True)


async def test_a_handshake_may_be_as_long_as_any_request() -> None:
    """A long token fits into its address and into its header."""
    long = b"y" * 20_000
    async with connected() as (reader, writer):
        writer.write(
            HEAD.replace(b"GET /", b"GET /?token=" + long) + UPGRADE + KEY + b"X: " + long + b"\r\n\r\n"
        )
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101")


async def shaken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The connection is a WebSocket from here on."""
    writer.write(HEAD + UPGRADE + KEY + b"\r\n")
    await reader.readuntil(b"\r\n\r\n")


async def pinging(writer: asyncio.StreamWriter, *, patience: float | None = None) -> int:
    """Send pings and read nothing, until nobody takes them for so long; how many were taken."""
    taken = 0
    with contextlib.suppress(TimeoutError):
        while taken < MANY:
            writer.write(PING * 1000)
            async with asyncio.timeout(patience):
                await writer.drain()
            taken += 1000
    return taken


async def test_who_pings_and_does_not_read_is_not_read() -> None:
    """Pongs would fill the memory; once they are taken all goes on, and none is lost."""
    async with connected() as (reader, writer):
        await shaken(reader, writer)
        taken = await pinging(writer, patience=1.5)
        assert taken < MANY
        writer.write(LAST_PING)
        said, pongs = b"", 0
        while not said.endswith(LAST_PONG):
            assert not reader.at_eof()
            said = said[-len(LAST_PONG) :] + await reader.read(65_536)
            pongs += len(said) - len(LAST_PONG)
        assert pongs >= taken * (len(PING) - 4) - len(LAST_PONG)


async def test_who_goes_on_not_reading_is_cut() -> None:
    """As soon as a ping that is not answered would be."""
    async with connected(Live(ping_timeout=1.0)) as (reader, writer):
        await shaken(reader, writer)
        with pytest.raises(ConnectionError):
            await pinging(writer)


async def test_a_request_the_server_no_longer_waits_for_may_be_made_again() -> None:
    """It is told so in a problem document, with Retry-After; what was begun stays broken off."""
    entered, sent = asyncio.Event(), list[Message]()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/begun":
            await send({"type": "http.response.start", "status": 200, "headers": []})
        entered.set()
        await asyncio.Event().wait()

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    guard = Guard(endless, check=lambda _: None, body_max=1, streamed=(), patience=Patience())
    for path, is_told in (("/", True), ("/begun", False)):
        scope = {"type": "http", "method": "GET", "path": path, "headers": []}
        request = asyncio.create_task(guard(scope, receive, send))
        await entered.wait()
        entered.clear()
        request.cancel()
        await asyncio.wait({request})
        assert request.cancelled() is not is_told
    start, body, begun = sent
    assert (start["status"], begun["status"]) == (503, 200)
    assert b"retry-after" in dict(start["headers"])
    assert b"ERR_RESTARTING" in body["body"]


async def test_a_refused_handshake_is_no_error_of_ours(caplog: pytest.LogCaptureFixture) -> None:
    """It is answered as any request, and nobody is alarmed."""

    async def refusing(scope: Scope, receive: Receive, send: Send) -> None:
        await problem(403, "ERR_ORIGIN_FORBIDDEN", "no")(scope, receive, send)

    async with connected(app=refusing) as (reader, writer):
        writer.write(HEAD + UPGRADE + KEY + b"\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 403")
    assert [each for each in caplog.records if each.levelno > logging.INFO] == []


async def test_an_error_nobody_foresaw_is_written_down_once(caplog: pytest.LogCaptureFixture) -> None:
    """By us, with its problem document; the server behind us has nothing to add."""
    api = APIRouter()

    @api.get("/broken")
    async def broken() -> None:
        raise ValueError("unforeseen")

    async with connected(app=_routed(api)) as (reader, writer):
        writer.write(b"GET /broken HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
        assert b"ERR_UNEXPECTED" in await reader.read()
    assert [each.name for each in caplog.records if each.levelno > logging.INFO] == ["penstock.http"]


def test_a_serving_process_that_lived_is_replaced_at_once() -> None:
    """Only those that end soon after their start are waited for longer and longer."""
    pauses, pause = [], 0.0
    for lived in (0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 86_400.0, 0.1):
        pause = pause_after(lived, pause)
        pauses.append(pause)
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 0.5, 1.0]


def test_whoever_opens_a_program_without_sign_in_is_warned(caplog: pytest.LogCaptureFixture) -> None:
    """On loopback there is nothing to say."""
    for host in ("127.0.0.1", EVERYWHERE):
        with bound(load(None, {}, {"http.host": host, "http.port": "0"})):
            pass
    (warned,) = caplog.records
    assert (warned.levelname, EVERYWHERE in warned.getMessage()) == ("WARNING", True)


async def test_a_server_that_is_full_says_so_as_it_says_everything() -> None:
    """A problem document, and when to come again; its connection ends."""
    live = Live(connections_max=1 - serving.CONNECTIONS_SPARE)  # the first connection is one too many
    async with connected(live) as (reader, writer):
        writer.write(HEAD + b"\r\n")
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 503")
    assert b"content-type: application/problem+json" in head.lower()
    assert b"retry-after: 5" in head.lower()
    assert b"ERR_SERVER_BUSY" in body
