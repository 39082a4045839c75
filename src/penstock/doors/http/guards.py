"""What stands before every route, also before those that are not there.

A visit by a foreign name or page is refused; bodies are bounded in size and time; every answer says how to
treat it.

These are plain functions of the ASGI protocol: a middleware of the framework would read a streamed upload
whole, or wrap every message of a stream in tasks of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from fastapi import HTTPException
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.doors.http.problems import problem, problem_of
from penstock.doors.http.visits import hide_query
from penstock.model.errors import Refused, Unavailable

JSON_BODY_SECONDS = 30.0
HEADERS_MAX = 100
HEAD_BYTES_MAX = 32 * 1024
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How slowly files may come."""

    seconds: float = 30.0
    """How long they are waited for in all while too little comes."""
    bytes_per_second: int = 1024
    """What gives a second of it back."""


class Guard:
    """Judges visits, bounds bodies, adds headers.

    Paths that end in one of `streamed` take files of any size their route allows.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        check: Callable[[HTTPConnection], None],
        body_max: int,
        streamed: Iterable[str],
        patience: Patience,
    ) -> None:
        """`check` refuses a visit nobody may make, whatever it asks for."""
        self._app = app
        self._check = check
        self._body_max = body_max
        self._streamed = tuple(streamed)
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "websocket":
            return await self._shake_hands(scope, receive, send)
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        is_streamed = scope["method"] == "POST" and scope["path"].endswith(self._streamed)
        is_begun = False

        async def answer(message: Message) -> None:
            nonlocal is_begun
            is_begun = is_begun or message["type"] == "http.response.start"
            await _guarded(send, message)

        if (refusal := self._refusal(scope)) is not None:
            return await refusal(scope, receive, answer)
        bounded = (
            _Patient(receive, self._patience)
            if is_streamed
            else _Bounded(receive, self._body_max, dict(scope["headers"]))
        )
        try:
            await self._app(scope, bounded, answer)
        except asyncio.CancelledError:
            if is_begun:
                raise
            # The server ends and waits no longer; whoever asked may ask again.
            await problem_of(Unavailable("the server is about to restart", code="ERR_RESTARTING"))(
                scope, receive, answer
            )

    async def _shake_hands(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = partial(_guarded, send)
        if (refusal := self._refusal(scope)) is None:
            return await self._app(scope, receive, answer)
        hide_query(scope)
        return await refusal(scope, receive, answer)

    def _refusal(self, scope: Scope) -> Response | None:
        """Why nobody may ask so, whatever it is that is asked."""
        if _is_swollen(scope["headers"]):
            return problem(431, "ERR_HEAD_TOO_LARGE", "the headers are too many or too long")
        if _is_two_bodies(scope["headers"]):
            return problem(
                400,
                "ERR_REQUEST_INVALID",
                "a body has a Content-Length or a Transfer-Encoding, not both",
                headers={"Connection": "close"},
            )
        try:
            self._check(HTTPConnection(scope))
        except Refused as refused:
            return problem_of(refused)
        return None


async def _guarded(send: Send, message: Message) -> None:
    """Send it with the headers that every answer has, a refused handshake too."""
    if message["type"] in ("http.response.start", "websocket.http.response.start"):
        guard(MutableHeaders(scope=message))
    await send(message)


def guard(headers: MutableHeaders) -> None:
    """What keeps an answer from being framed, sniffed, told on or kept."""
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    headers.setdefault("Cache-Control", "no-store")


def _is_two_bodies(headers: list[tuple[bytes, bytes]]) -> bool:
    """Whether somebody between us and the client may have read another body than we do (RFC 9112, 6.1)."""
    names = {name for name, _ in headers}
    return b"content-length" in names and b"transfer-encoding" in names


def _is_swollen(headers: list[tuple[bytes, bytes]]) -> bool:
    return (
        len(headers) > HEADERS_MAX or sum(len(name) + len(value) for name, value in headers) > HEAD_BYTES_MAX
    )


def _declared(headers: Mapping[bytes, bytes]) -> int:
    """How long a body says it is; 0 if it says nothing that could be known."""
    told = headers.get(b"content-length", b"")
    return int(told) if told.isdigit() else 0


class _Bounded:
    """Receives a body of so many bytes, all of it within a time."""

    def __init__(self, receive: Receive, most: int, headers: Mapping[bytes, bytes]) -> None:
        """One whose head says that it is longer is not waited for."""
        self._receive = receive
        self._most = most
        self._declared = _declared(headers)
        self._expects = b"expect" in headers
        """Nothing of it comes before it is asked for, and perhaps nothing at all."""
        self._seen = 0
        self._whole = False
        self._deadline = asyncio.get_running_loop().time() + JSON_BODY_SECONDS

    async def __call__(self) -> Message:
        if self._whole:  # what comes now is only that the other end is gone
            return await self._receive()
        if self._declared > self._most:
            # What comes all the same is thrown away for a while: who is cut as he sends never reads why.
            raise self._too_long() if self._expects else HTTPException(413, self._told())
        left = max(0.0, self._deadline - asyncio.get_running_loop().time())
        message = await _within(left, self._receive)
        self._seen += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._seen > self._most:
            raise self._too_long()
        return message

    def _too_long(self) -> HTTPException:
        return _closing(413, self._told())

    def _told(self) -> str:
        return f"the body has more than {self._most:,} bytes"


class _Patient:
    """Receives a body of any length as long as enough of it comes.

    Only what the sender is waited for counts, not what our disk takes. A pause costs patience, bytes give it
    back: so a line may be slow or stand still for a while, and a byte now and then does not keep it open.
    """

    def __init__(self, receive: Receive, patience: Patience) -> None:
        self._receive = receive
        self._patience = patience
        self._left = patience.seconds
        self._whole = False

    async def __call__(self) -> Message:
        if self._whole:
            return await self._receive()
        now: Callable[[], float] = asyncio.get_running_loop().time
        began = now()
        message = await _within(max(0.0, self._left), self._receive)
        given = len(message.get("body", b"")) / self._patience.bytes_per_second
        self._left = min(self._patience.seconds, self._left - (now() - began) + given)
        self._whole = not message.get("more_body", False)
        return message


async def _within(seconds: float, receive: Receive) -> Message:
    try:
        async with asyncio.timeout(seconds):
            return await receive()
    except TimeoutError:
        raise _closing(408, "the body took too long to come") from None


def _closing(status: int, detail: str) -> HTTPException:
    """The one kind of exception the framework lets through while it reads a body."""
    return HTTPException(status, detail, headers={"Connection": "close"})
