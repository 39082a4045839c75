"""The operator's port: metrics and health over plain HTTP, on this machine alone.

Three pages that are read and never written need no framework: a request is one line and some headers, the
answer closes the connection. It lives on the supervisor's own loop, so a supervisor that no longer turns does
not call itself alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import NamedTuple

from penstock.model.errors import Refused

HOST = "127.0.0.1"
HEAD_BYTES_MAX = 16_384
REQUEST_SECONDS = 5.0
TOGETHER_MAX = 32


class Answer(NamedTuple):
    """What a page says."""

    body: bytes
    content_type: str
    status: HTTPStatus = HTTPStatus.OK


Serve = Callable[[str], Awaitable[Answer]]
"""Given what the reader accepts."""


def as_json(facts: dict[str, object], status: HTTPStatus = HTTPStatus.OK) -> Answer:
    """Facts as one line of JSON."""
    return Answer(json.dumps(facts).encode() + b"\n", "application/json", status)


@asynccontextmanager
async def served(port: int, pages: dict[str, Serve]) -> AsyncIterator[int]:
    """Serve the pages until the end; the port they are at."""
    open_now: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(open_now) >= TOGETHER_MAX:
            writer.close()
            return
        open_now.add(task)
        try:
            with contextlib.suppress(TimeoutError, ConnectionError, asyncio.IncompleteReadError):
                async with asyncio.timeout(REQUEST_SECONDS):
                    await _converse(reader, writer, pages)
        finally:
            open_now.discard(task)
            writer.close()

    try:
        server = await asyncio.start_server(connected, HOST, port, limit=HEAD_BYTES_MAX)
    except OSError as error:
        told = f"observability.metrics_port: {HOST}:{port} cannot be served ({error.strerror or error})"
        raise Refused(told, code="ERR_CONFIGURATION") from error
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in open_now:
            task.cancel()
        await asyncio.gather(*open_now, return_exceptions=True)


async def _converse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pages: dict[str, Serve]
) -> None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        return await _say(writer, _refusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE))
    line, *fields = head.decode("latin-1").split("\r\n")
    method, _, rest = line.partition(" ")
    page = pages.get(rest.partition(" ")[0].partition("?")[0])
    if method not in ("GET", "HEAD"):
        answer = _refusal(HTTPStatus.METHOD_NOT_ALLOWED)
    elif page is None:
        answer = _refusal(HTTPStatus.NOT_FOUND)
    else:
        answer = await page(_accepted(fields))
    await _say(writer, answer, body=method != "HEAD")


def _accepted(fields: list[str]) -> str:
    for field in fields:
        name, _, value = field.partition(":")
        if name.strip().lower() == "accept":
            return value.strip()
    return ""


def _refusal(status: HTTPStatus) -> Answer:
    return Answer(f"{status.phrase}\n".encode(), "text/plain; charset=utf-8", status)


async def _say(writer: asyncio.StreamWriter, answer: Answer, *, body: bool = True) -> None:
    head = (
        f"HTTP/1.1 {answer.status.value} {answer.status.phrase}\r\n"
        f"Content-Type: {answer.content_type}\r\n"
        f"Content-Length: {len(answer.body)}\r\n"
        "Cache-Control: no-store\r\n"
        "Connection: close\r\n\r\n"
    )
    writer.write(head.encode() + (answer.body if body else b""))
    await writer.drain()
