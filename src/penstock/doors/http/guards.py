"""What stands before every route: bodies are bounded in size and time, and every answer says how to treat it.

These are plain functions of the ASGI protocol: a middleware of the framework would read a streamed upload
whole, or wrap every message of a stream in tasks of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.doors.http.problems import problem

JSON_BODY_SECONDS = 30.0
PIECE_SECONDS = 30.0
"""How long the next piece of a body may take to come."""
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class _TooMuch(Exception):
    """The body is larger than it may be."""


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
        started = False

        async def answer(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        bounded = _Bounded(receive, None if is_streamed else self._body_max)
        try:
            await self._app(scope, bounded, answer)
        except (_TooMuch, TimeoutError) as error:
            if started or not bounded.failed:
                raise
            reply = (
                problem(413, "ERR_BODY_TOO_LARGE", f"the body has more than {self._body_max:,} bytes")
                if isinstance(error, _TooMuch)
                else problem(408, "ERR_BODY_SLOW", "the body took too long to come")
            )
            reply.headers["Connection"] = "close"
            await reply(scope, receive, answer)


class _Bounded:
    """Receives a body within its bounds."""

    def __init__(self, receive: Receive, most: int | None) -> None:
        self._receive = receive
        self._most = most
        self._seen = 0
        self._whole = False
        self._deadline = asyncio.get_running_loop().time() + JSON_BODY_SECONDS
        self.failed = False

    async def __call__(self) -> Message:
        if self._whole:  # what comes now is only that the other end is gone
            return await self._receive()
        now = asyncio.get_running_loop().time()
        left = PIECE_SECONDS if self._most is None else max(0.0, self._deadline - now)
        try:
            async with asyncio.timeout(left):
                message = await self._receive()
        except TimeoutError:
            self.failed = True
            raise
        self._seen += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._most is not None and self._seen > self._most:
            self.failed = True
            raise _TooMuch
        return message
