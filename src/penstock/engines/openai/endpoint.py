"""One endpoint: where it is, how it is signed in to, and one call with a deadline and a bound.

Redirects are not followed and the environment's proxies and passwords are not read: the key goes where the
configuration says and nowhere else.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

import msgspec

from penstock.engines.openai.refusals import Refusal, fault_of_status, retry_after
from penstock.model.errors import Broken, Unavailable
from penstock.ports.clock import Clock

if TYPE_CHECKING:
    import httpx

REFUSAL_BYTES_MAX = 65_536
"""Enough of an error's body to find its message in."""


class Role(StrEnum):
    """What an endpoint is for; its word in codes and messages."""

    EMBEDDER = "embedding"
    ANSWERER = "answering"

    @property
    def path(self) -> str:
        """Where the protocol has it, behind the root of the endpoint."""
        return "/embeddings" if self is Role.EMBEDDER else "/chat/completions"

    def code(self, what: str) -> str:
        """The stable code of something that goes wrong with it."""
        return f"ERR_{self.name}_{what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Where a call goes, without anything secret, and how it signs in."""

    url: str
    user: tuple[str, str] | None
    key: str | None


class Endpoint:
    """Calls one URL; safe for several calls at once."""

    def __init__(self, role: Role, url: str, *, clock: Clock, timeout: float, key: str | None = None) -> None:
        self.role = role
        self.timeout = timeout
        self._access = access_of(url, role.path, key)
        self._clock = clock
        self._client: httpx.AsyncClient | None = None

    @asynccontextmanager
    async def call(self, body: Mapping[str, object]) -> AsyncIterator[httpx.Response]:
        """The answer of a POST, its body still to be read; every other status is a fault.

        A request too large for the endpoint raises Refusal, which the caller may answer with a smaller one.
        """
        import httpx

        try:
            async with self._http().stream("POST", self._access.url, content=_encoded(body)) as response:
                if response.status_code >= 300:
                    raise await self._refusal(response)
                yield response
        except (httpx.TransportError, httpx.StreamError) as error:
            raise self._down(type(error).__name__) from error
        except httpx.HTTPError as error:
            raise self.nonsense(f"it sends what is no HTTP answer ({type(error).__name__})") from error

    async def read(self, body: Mapping[str, object], bytes_max: int) -> bytes:
        """The whole body of an answer, within the deadline."""
        try:
            async with asyncio.timeout(self.timeout), self.call(body) as response:
                return await self.drain(response, bytes_max)
        except TimeoutError as error:
            raise self.late() from error

    async def status(self) -> int:
        """The status of asking for its models the way all calls go: it needs the key and costs nothing."""
        import httpx

        try:
            async with asyncio.timeout(self.timeout):
                return (await self._http().get(models_of(self._access.url, self.role.path))).status_code
        except TimeoutError as error:
            raise self.late() from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._down(type(error).__name__) from error

    async def drain(self, response: httpx.Response, bytes_max: int) -> bytes:
        """What is left of a body; Broken once it is longer than the bound."""
        parts, size = [], 0
        async for part in response.aiter_bytes():
            size += len(part)
            if size > bytes_max:
                raise self.nonsense(f"it sends more than {bytes_max} bytes")
            parts.append(part)
        return b"".join(parts)

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def nonsense(self, what: str) -> Broken:
        """The fault of an answer that is none."""
        return Broken(f"the {self.role} endpoint answers nonsense: {what}", code=self.role.code("ANSWER"))

    def late(self) -> Unavailable:
        """The fault of a deadline that passed."""
        return self._down(f"no answer within {self.timeout:g} s")

    def broke_off(self) -> Unavailable:
        """The fault of an answer that stops in the middle."""
        return self._down("the answer broke off")

    def _down(self, why: str) -> Unavailable:
        return Unavailable(f"the {self.role} endpoint cannot be reached ({why})", code=self.role.code("DOWN"))

    async def _refusal(self, response: httpx.Response) -> Exception:
        body = b""
        async for part in response.aiter_bytes():
            body += part
            if len(body) > REFUSAL_BYTES_MAX:
                break
        refusal = Refusal.of(response.status_code, body, self._access.key)
        if refusal.too_large:
            return refusal
        wait = retry_after(response.headers.get("retry-after"), self._clock.now())
        return fault_of_status(self.role.value, self.role.name, refusal, wait)

    def _http(self) -> httpx.AsyncClient:
        import httpx

        if self._client is None:
            headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
            if self._access.key is not None:
                headers["authorization"] = f"Bearer {self._access.key}"
            self._client = httpx.AsyncClient(
                headers=headers,
                auth=self._access.user if self._access.key is None else None,
                timeout=self.timeout,
                follow_redirects=False,
                trust_env=False,
            )
        return self._client


def access_of(url: str, path: str, key: str | None) -> Access:
    """The address of `path` under a URL given as a host, as `…/v1`, or in full; a user in it signs in."""
    parts = urlsplit(url)
    root = parts.path.rstrip("/")
    whole = root if root.endswith(path) else f"{root or '/v1'}{path}"
    user = (unquote(parts.username or ""), unquote(parts.password or "")) if "@" in parts.netloc else None
    address = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], whole, parts.query, ""))
    return Access(url=address, user=user, key=key)


def models_of(url: str, path: str) -> str:
    """Where an endpoint lists its models, beside the `path` its URL leads to."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=f"{parts.path.removesuffix(path)}/models"))


def _encoded(body: Mapping[str, object]) -> bytes:
    return msgspec.json.encode(body)
