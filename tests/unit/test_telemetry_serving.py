"""The operator's port: three pages on loopback, and no reader can hold it up."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from penstock.engines.telemetry import serving
from penstock.engines.telemetry.serving import Answer, as_json, served
from penstock.model.errors import Refused


async def hello(accept: str) -> Answer:
    return as_json({"hello": accept})


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async with served(0, {"/hello": hello}) as port:
        yield port


async def said(port: int, request: bytes) -> bytes:
    """Everything that is answered to these bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        async with asyncio.timeout(30):
            return await reader.read()
    finally:
        writer.close()


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        ("GET /hello HTTP/1.1", "200 OK"),
        ("GET /hello?x=1 HTTP/1.1", "200 OK"),
        ("GET / HTTP/1.1", "404 Not Found"),
        ("GET", "404 Not Found"),
        ("POST /hello HTTP/1.1", "405 Method Not Allowed"),
        ("\xff\x00 what", "405 Method Not Allowed"),
    ],
)
async def test_a_request_is_answered_by_its_first_line(port: int, request_line: str, status: str) -> None:
    """Whatever it is, there is one answer and an end."""
    answer = await said(port, f"{request_line}\r\nAccept: text/plain\r\n\r\n".encode("latin-1"))

    assert answer.startswith(f"HTTP/1.1 {status}\r\n".encode())
    assert b"Connection: close\r\n" in answer
    if status == "200 OK":
        assert answer.endswith(b'\r\n\r\n{"hello": "text/plain"}\n')


async def test_a_head_request_has_no_body(port: int) -> None:
    """But the length of one."""
    answer = await said(port, b"HEAD /hello HTTP/1.1\r\n\r\n")

    assert b"Content-Length: 14\r\n" in answer
    assert answer.endswith(b"\r\n\r\n")


async def test_a_head_too_large_is_refused(port: int) -> None:
    """Memory is bounded."""
    answer = await said(port, b"GET /hello HTTP/1.1\r\nx: " + b"y" * serving.HEAD_BYTES_MAX + b"\r\n\r\n")

    assert answer == b"" or answer.startswith(b"HTTP/1.1 431 ")


async def test_a_silent_reader_is_let_go(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody may keep a connection for nothing."""
    monkeypatch.setattr(serving, "REQUEST_SECONDS", 0.05)

    assert await said(port, b"GET /hello HTTP/1.1\r\n") == b""


async def test_only_so_many_are_heard_at_once(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one too many is turned away, and the next is welcome when there is room."""
    monkeypatch.setattr(serving, "TOGETHER_MAX", 1)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /hello HTTP/1.1\r\n")
    await writer.drain()
    await asyncio.sleep(0)

    turned_away = await said(port, b"")
    writer.write(b"\r\n")
    answered = await reader.read()
    writer.close()

    assert (turned_away, answered[:15]) == (b"", b"HTTP/1.1 200 OK")


async def test_a_port_that_is_taken_is_told_by_its_setting(port: int) -> None:
    """At start, with the key to change."""
    with pytest.raises(Refused, match=r"observability\.metrics_port: 127\.0\.0\.1:\d+ cannot be served"):
        async with served(port, {}):
            pass
