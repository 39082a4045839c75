"""What stands before every route: bodies are bounded in size and time, and every answer says how to treat it.

These are plain functions of the ASGI protocol: a middleware of the framework would read a streamed upload
whole, or wrap every message of a stream in tasks of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from fastapi import HTTPException
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.doors.http.problems import problem

JSON_BODY_SECONDS = 30.0
PIECE_SECONDS = 30.0
"""How long the next piece of a body may take to come."""
HEADERS_MAX = 100
HEAD_BYTES_MAX = 32 * 1024
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Bounds bodies and adds headers; `streamed` paths end so and take files of any size a route allows."""

    def __init__(self, app: ASGIApp, *, body_max: int, streamed: Iterable[str]) -> None:
        self._app = app
        self._body_max = body_max
        self._streamed = tuple(streamed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        is_streamed = scope["method"] == "POST" and scope["path"].endswith(self._streamed)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        if _is_swollen(scope["headers"]):
            return await problem(431, "ERR_HEAD_TOO_LARGE", "the headers are too many or too long")(
                scope, receive, answer
            )
        await self._app(scope, _Bounded(receive, None if is_streamed else self._body_max), answer)


def _is_swollen(headers: list[tuple[bytes, bytes]]) -> bool:
    return (
        len(headers) > HEADERS_MAX or sum(len(name) + len(value) for name, value in headers) > HEAD_BYTES_MAX
    )


class _Bounded:
    """Receives a body within its bounds."""

    def __init__(self, receive: Receive, most: int | None) -> None:
        self._receive = receive
        self._most = most
        self._seen = 0
        self._whole = False
        self._deadline = asyncio.get_running_loop().time() + JSON_BODY_SECONDS

    async def __call__(self) -> Message:
        if self._whole:  # what comes now is only that the other end is gone
            return await self._receive()
        now = asyncio.get_running_loop().time()
        left = PIECE_SECONDS if self._most is None else max(0.0, self._deadline - now)
        try:
            async with asyncio.timeout(left):
                message = await self._receive()
        except TimeoutError:
            raise _closing(408, "the body took too long to come") from None
        self._seen += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._most is not None and self._seen > self._most:
            raise _closing(413, f"the body has more than {self._most:,} bytes")
        return message


def _closing(status: int, detail: str) -> HTTPException:
    """The one kind of exception the framework lets through while it reads a body."""
    return HTTPException(status, detail, headers={"Connection": "close"})
