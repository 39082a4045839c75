"""A web server on loopback that says exactly what a test tells it to, byte by byte if need be."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

Say = Callable[[asyncio.StreamWriter], Awaitable[None]]


def reply(body: bytes = b"", *, status: str = "200 OK", **headers: str) -> bytes:
    """A whole response; header names are written with underscores."""
    fields = {"content_length": str(len(body)), "connection": "close", **headers}
    lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items() if value != ""]
    return f"HTTP/1.1 {status}\r\n{''.join(lines)}\r\n".encode() + body


class WebServer:
    """Answers by path and remembers what it was asked."""

    def __init__(self) -> None:
        self.port = 0
        self.answers: dict[str, bytes | Say] = {}
        self.asked: list[str] = []
        """The head of each request."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.asked.append(head)
            path = head.split()[1]
            answer = self.answers.get(path) or self.answers.get(path.partition("?")[0])
            answer = answer or reply(status="404 Not Found")
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(writer)


@asynccontextmanager
async def web_server(tls: ssl.SSLContext | None = None) -> AsyncIterator[WebServer]:
    """One on a free port, gone at the end with every conversation."""
    web = WebServer()
    conversations: set[asyncio.Task[None]] = set()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        conversations.add(task)
        try:
            await web.serve(reader, writer)
        finally:
            conversations.discard(task)
            writer.close()
            with suppress(ConnectionError, ssl.SSLError):
                await writer.wait_closed()

    server = await asyncio.start_server(converse, "127.0.0.1", 0, ssl=tls)
    web.port = server.sockets[0].getsockname()[1]
    try:
        yield web
    finally:
        server.close()
        for task in list(conversations):
            task.cancel()
        await asyncio.gather(*conversations, return_exceptions=True)
