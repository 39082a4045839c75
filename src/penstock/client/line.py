"""Requests to one server: what they show, how long they wait, when they are sent again.

A request that may be repeated (it only reads, or carries an idempotency key) is sent again when the line
broke or the server asked for a moment; any other only where it surely was not done: nobody was reached, or
the token was refused. Both a few times, then the caller is told.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
import msgspec

from penstock.client.credentials import Credentials
from penstock.client.errors import (
    NO_ANSWER,
    REFUSAL_STATUS_MIN,
    PenstockError,
    problem_of,
    unreachable,
)
from penstock.client.files import Form
from penstock.client.patience import pause_before
from penstock.client.subscription import Subscription

T = TypeVar("T")
REPEATS = 4
RETRY_AFTER_SECONDS_MAX = 60.0
"""A server that asks for more time than this is not waited for."""
CONNECT_SECONDS = 10.0
PIECE_SECONDS = 60.0
"""How long a piece of an upload may take, and the answer to the whole of it."""
KEPT = httpx.Limits(max_connections=20, max_keepalive_connections=20, keepalive_expiry=2.0)
"""Let go before a server does, which would look like a line that broke."""
UNAUTHORIZED = 401
STREAM = "text/event-stream"
BUSY = frozenset({429, 502, 503, 504})
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
BY_PIECES = httpx.Timeout(PIECE_SECONDS, connect=CONNECT_SECONDS)
AS_A_WHOLE = httpx.Timeout(None, connect=CONNECT_SECONDS)
"""For an attempt that is bounded from beginning to end: an answer may be silent for long before it comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked for; `seconds` bounds one attempt, the answer included, and None only its pieces."""

    method: str
    path: str
    query: Mapping[str, str | int] = field(default_factory=dict)
    body: object = None
    form: Form | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    repeats: bool = False
    seconds: float | None = 30.0


def look(path: str, query: Mapping[str, str | int] | None = None) -> Request:
    """A request that only reads."""
    return Request(method="GET", path=path, query=query or {}, repeats=True)


def once(path: str, body: object = None, key: str | None = None) -> Request:
    """A request that makes something, under that key or one of its own: sent again, it does nothing twice."""
    headers = {"Idempotency-Key": key or uuid.uuid4().hex}
    return Request(method="POST", path=path, body=body, headers=headers, repeats=True)


class Line:
    """One server, reached over a few kept connections."""

    def __init__(self, url: str, credentials: Credentials) -> None:
        self.url = server_url(url)
        self.credentials = credentials
        self._http = httpx.AsyncClient(base_url=f"{self.url}/api", timeout=BY_PIECES, limits=KEPT)
        self._subscriptions: set[Subscription] = set()

    async def close(self) -> None:
        """End every subscription and let the connections go."""
        await asyncio.gather(*(each.aclose() for each in list(self._subscriptions)))
        await self._http.aclose()

    def subscribe(self, since: int | str | None, *, passing: bool, patience: float | None) -> Subscription:
        """Events, over connections of their own; ended with the line at the latest."""
        made = Subscription(
            f"ws{self.url.removeprefix('http')}/ws",
            self.credentials,
            since=since,
            passing=passing,
            patience=patience,
            on_close=self._subscriptions.discard,
        )
        self._subscriptions.add(made)
        return made

    async def ask(self, request: Request, shape: type[T]) -> T:
        """The answer, read as this shape; PenstockError where there is none."""
        reply = await self._granted(request)
        try:
            return msgspec.json.decode(reply.content, type=shape)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise PenstockError("the answer cannot be read", code=NO_ANSWER) from error

    async def tell(self, request: Request) -> None:
        """The same where the answer says nothing."""
        await self._granted(request)

    async def listen(self, request: Request) -> AsyncGenerator[bytes, None]:
        """Server-Sent Events as they come; the answer in one piece where a server sends that instead."""
        reply = await self._granted(request, whole=False)
        try:
            if not reply.headers.get("content-type", "").startswith(STREAM):
                yield await reply.aread()
                return
            left = b""
            async for piece in reply.aiter_bytes():
                *lines, left = (left + piece).split(b"\n")
                for line in lines:
                    if line.startswith(b"data: "):
                        yield line.removeprefix(b"data: ")
        except httpx.TransportError as error:
            raise unreachable(_why(error)) from error
        finally:
            await reply.aclose()

    async def _granted(self, request: Request, *, whole: bool = True) -> httpx.Response:
        renewed = False
        for attempt in count():
            shown = self.credentials.token
            fault, again = None, False
            try:
                reply = await self._attempt(request, whole=whole)
            except NOT_SENT as error:
                fault, again = unreachable(_why(error)), True
            except httpx.TransportError as error:
                fault, again = unreachable(_why(error)), request.repeats
            except TimeoutError:
                if request.seconds is None:
                    raise  # not ours: what was to be sent could not be read in time
                # Whoever set the time does not mean several times that.
                fault = unreachable(f"no answer in {request.seconds:g} s")
            else:
                if reply.status_code < REFUSAL_STATUS_MIN:
                    return reply
                fault = problem_of(reply.status_code, reply.content, reply.headers.get("retry-after"))
                again = request.repeats and fault.status in BUSY
            spent = request.form is not None and request.form.is_spent
            if fault.status == UNAUTHORIZED and not (renewed or spent):
                renewed = await self.credentials.renew(shown)
                if renewed:
                    continue
            pause = pause_before(attempt) if fault.retry_after is None else fault.retry_after
            if spent or not again or attempt >= REPEATS or pause > RETRY_AFTER_SECONDS_MAX:
                raise fault
            await asyncio.sleep(pause)
        raise AssertionError("counting ends")

    async def _attempt(self, request: Request, *, whole: bool) -> httpx.Response:
        """The answer, with all of its body or as yet without it; a refusal is always whole."""
        headers = {**self.credentials.headers(), **request.headers}
        more: dict[str, Any] = {}
        if request.form is not None:
            headers["Content-Type"] = request.form.content_type
            more["content"] = request.form.pieces()
        elif request.body is not None:
            headers["Content-Type"] = "application/json"
            more["content"] = msgspec.json.encode(request.body)
        asked = self._http.build_request(
            request.method,
            request.path,
            params=dict(request.query),
            headers=headers,
            timeout=_bounds(request, whole=whole),
            **more,
        )
        async with asyncio.timeout(request.seconds):
            reply = await self._http.send(asked, stream=not whole)
            if reply.status_code >= REFUSAL_STATUS_MIN:
                await reply.aread()
            return reply


def server_url(text: str) -> str:
    """The address of a server without what we add to it; ValueError where it is none."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"{text!r} is no http or https address of a server")
    return text.rstrip("/").removesuffix("/api").rstrip("/")


def _bounds(request: Request, *, whole: bool) -> httpx.Timeout:
    """How long the line may be silent; a stream is until there is a first word to tell."""
    if request.seconds is None:
        return BY_PIECES
    return AS_A_WHOLE if whole else httpx.Timeout(request.seconds, connect=CONNECT_SECONDS)


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__
