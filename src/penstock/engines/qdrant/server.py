"""One Qdrant server: a call with a deadline, tried again within it where the server did not answer.

Every call Penstock makes may be repeated: points are put by number, removed by number, and asked for.
Redirects are not followed and the environment's proxies are not read: the key goes where the configuration
says and nowhere else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

import msgspec

from penstock.engines.qdrant.faults import DOWN, down, elsewhere, fault_of_status, knows_not, nonsense
from penstock.model.errors import Unavailable
from penstock.ports.guard import Guard

if TYPE_CHECKING:
    import httpx

TRIES = 3
REST_SECONDS = 0.1
CONNECTIONS = 8
HELLO = "/"
"""Answered with a title and a version, and without a result."""


class Server:
    """Calls one server; safe for several calls at once."""

    def __init__(
        self, url: str, *, timeout: float = 10.0, key: str | None = None, guard: Guard | None = None
    ) -> None:
        parts = urlsplit(url)
        self._user = (
            (unquote(parts.username or ""), unquote(parts.password or "")) if "@" in parts.netloc else None
        )
        self._root = urlunsplit(
            (parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", "")
        )
        self._timeout = timeout
        self._key = key
        self._guard = guard
        self._client: httpx.AsyncClient | None = None

    async def call(self, method: str, path: str, body: Mapping[str, object] | None = None) -> object:
        """The result of one call, within the deadline; None where the server says there is no such thing."""
        content = None if body is None else msgspec.json.encode(body)
        with nullcontext() if self._guard is None else self._guard.call():
            try:
                async with asyncio.timeout(self._timeout):
                    return await self._tried(method, path, content)
            except TimeoutError as error:
                raise down(f"no answer within {self._timeout:g} s") from error

    async def version(self) -> str:
        """What it calls itself, such as 1.16.3."""
        told = await self.call("GET", HELLO)
        found = told.get("version") if isinstance(told, dict) else None
        if not isinstance(found, str):
            raise nonsense("a greeting without a version")
        return found

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _tried(self, method: str, path: str, content: bytes | None) -> object:
        for left in reversed(range(TRIES)):
            try:
                return await self._once(method, path, content)
            except Unavailable as fault:
                # A server that says when to come again is not asked before, one that refuses not again.
                if not left or fault.retry_after is not None or fault.code != DOWN:
                    raise
            await asyncio.sleep(REST_SECONDS * 4 ** (TRIES - 1 - left))
        raise AssertionError("unreachable")

    async def _once(self, method: str, path: str, content: bytes | None) -> object:
        import httpx

        try:
            response = await self._http().request(method, f"{self._root}{path}", content=content)
        except httpx.TransportError as error:
            raise down(type(error).__name__) from error
        except httpx.HTTPError as error:
            raise nonsense(f"no HTTP answer ({type(error).__name__})") from error
        if response.status_code == 404:
            if not knows_not(response.content):
                raise elsewhere()
            return None
        if response.status_code >= 300:
            raise fault_of_status(response.status_code, response.content, response.headers.get("retry-after"))
        try:
            told = msgspec.json.decode(response.content, type=dict[str, object])
            return told if path == HELLO else told["result"]
        except (msgspec.MsgspecError, KeyError) as error:
            raise nonsense("an answer without a result") from error

    def _http(self) -> httpx.AsyncClient:
        import httpx

        if self._client is None:
            headers = {"content-type": "application/json"}
            if self._key is not None:
                headers["api-key"] = self._key
            self._client = httpx.AsyncClient(
                headers=headers,
                auth=self._user,
                timeout=self._timeout,
                limits=httpx.Limits(max_connections=CONNECTIONS),
                follow_redirects=False,
                trust_env=False,
            )
        return self._client
