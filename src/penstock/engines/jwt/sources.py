"""Where a set of keys is read: a file, or an address the configuration names.

The address is the operator's own, so it may lie in a private network; but nobody may change it on the way:
it is asked over https, or over http on loopback, no redirect is followed, and no proxy of the environment.
"""

from __future__ import annotations

import asyncio
import ssl
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from penstock.engines.jwt.keys import SET_BYTES_MAX
from penstock.engines.web.bodies import body
from penstock.model.errors import Refused, Unavailable
from penstock.model.visits import is_loopback

if TYPE_CHECKING:
    import httpx


class Source(Protocol):
    """Something a set of keys can be read from."""

    @property
    def shown(self) -> str:
        """Its name in logs, without anything secret."""
        ...

    async def read(self) -> bytes:
        """The set as it is now; a Fault where it cannot be had."""
        ...


class FileSource:
    """A file; whoever replaces it rotates the keys."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.shown = str(path)

    async def read(self) -> bytes:
        """Its bytes, one more than allowed at most."""
        try:
            return await asyncio.to_thread(self._bytes)
        except OSError as error:
            raise _away(self.shown, error.strerror or type(error).__name__) from None

    def _bytes(self) -> bytes:
        with self._path.open("rb") as file:
            return file.read(SET_BYTES_MAX + 1)


class UrlSource:
    """An address that publishes keys."""

    def __init__(self, url: str, *, seconds: float, tls: ssl.SSLContext | None = None) -> None:
        import httpx

        self._seconds = seconds
        self._tls = tls
        try:
            self._url = httpx.URL(url)
        except (httpx.InvalidURL, ValueError):
            raise _unfit() from None
        if not _is_fit(self._url):
            raise _unfit()
        self.shown = f"{self._url.scheme}://{self._url.netloc.decode()}{self._url.path}"

    async def read(self) -> bytes:
        """What it answers, in time and within bounds."""
        import httpx

        try:
            async with asyncio.timeout(self._seconds):
                return await self._answer()
        except TimeoutError:
            raise _away(self.shown, f"no answer in {self._seconds:g} s") from None
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            raise _away(self.shown, type(error).__name__) from None

    async def _answer(self) -> bytes:
        import httpx

        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        async with (
            httpx.AsyncClient(
                verify=await self._context(),
                trust_env=False,
                follow_redirects=False,
                timeout=self._seconds,
            ) as client,
            client.stream("GET", self._url, headers=headers) as response,
        ):
            if response.status_code != httpx.codes.OK:
                raise _away(self.shown, f"it answers {response.status_code}")
            packing = response.headers.get("content-encoding", "")
            async with aclosing(body(response.aiter_raw(), packing, SET_BYTES_MAX)) as pieces:
                return b"".join([piece async for piece in pieces])

    async def _context(self) -> ssl.SSLContext:
        """What TLS needs; reading every authority there is takes too long for the loop."""
        if self._tls is None:
            import httpx

            if self._url.scheme == "http":
                self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            else:
                self._tls = await asyncio.to_thread(httpx.create_ssl_context, trust_env=False)
        return self._tls


def _is_fit(url: httpx.URL) -> bool:
    names_a_server = bool(url.host) and (url.port is None or 0 < url.port < 65_536)
    return names_a_server and not url.userinfo and (url.scheme == "https" or _is_here(url))


def _is_here(url: httpx.URL) -> bool:
    return url.scheme == "http" and (url.host == "localhost" or is_loopback(url.host))


def _unfit() -> Refused:
    return Refused(
        "auth.jwks_url must be https, or http on loopback, without a password in it",
        code="ERR_CONFIGURATION",
    )


def _away(shown: str, why: str) -> Unavailable:
    return Unavailable(f"the keys at {shown} cannot be read: {why}", code="ERR_KEYS_UNAVAILABLE")
