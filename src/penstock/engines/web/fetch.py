"""Fetching a document by URL, strictly.

The name is resolved once, every address it has must be open to us, and the connection goes to one of those
addresses by number: what the name says a moment later does not matter. Each redirect is a new URL under the
same rules. TLS is checked against the name, proxies of the environment are not asked, and bytes and time are
counted for the whole of it.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

import httpx

from penstock.engines.web.addresses import Network, is_odd_number, is_open, literal
from penstock.engines.web.answers import check_status, redirect_of
from penstock.engines.web.bodies import body, too_large
from penstock.engines.web.lookup import Lookup
from penstock.engines.web.names import name_of
from penstock.model.errors import Broken, Fault, Refused, Unavailable
from penstock.ports.blobs import Blobs
from penstock.ports.web import Fetched

Resolver = Callable[[str, int], Awaitable[list[str]]]

URL_LENGTH_MAX = 4096
ADDRESSES_MAX = 8
_HOST = re.compile(r"[A-Za-z0-9_.-]{1,253}")
_HEADERS = {"User-Agent": "penstock", "Accept": "*/*", "Accept-Encoding": "gzip, identity"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """How much and how long, in bytes and seconds."""

    size: int = 100_000_000
    deadline: float = 120.0
    """For everything together, redirects included."""
    connect: float = 10.0
    silence: float = 30.0
    """How long a server may say nothing."""
    redirects: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """A checked URL and the addresses that may be connected to."""

    url: httpx.URL
    host: str
    addresses: tuple[str, ...]


class WebFetcher:
    """Fetches documents into the blob store; `allowed` networks are the only private ones it enters."""

    def __init__(
        self,
        blobs: Blobs,
        limits: FetchLimits | None = None,
        *,
        allowed: Sequence[Network] = (),
        resolver: Resolver | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._blobs, self._limits, self._allowed = blobs, limits or FetchLimits(), tuple(allowed)
        self._resolve = resolver or Lookup().addresses
        self._tls = tls

    async def fetch(self, url: str, *, limit: int | None = None) -> Fetched:
        """The document at the URL, kept."""
        size = self._limits.size if limit is None else min(limit, self._limits.size)
        try:
            async with asyncio.timeout(self._limits.deadline):
                return await self._follow(url, size)
        except TimeoutError:
            seconds = f"{self._limits.deadline:g} seconds"
            raise Unavailable(f"{_shown(url)} took longer than {seconds}", code="ERR_FETCH_TIMEOUT") from None

    async def _follow(self, url: str, limit: int) -> Fetched:
        address = _parsed(url)
        for _ in range(self._limits.redirects + 1):
            target = await self._checked(address)
            async with self._answer(target) as response:
                onward = redirect_of(response, target.url)
                if onward is None:
                    check_status(response, _shown(str(target.url)))
                    return await self._keep(response, target, limit)
            address = _parsed(onward)
        raise Refused(
            f"{_shown(url)} leads through more than {self._limits.redirects} redirects",
            code="ERR_FETCH_REFUSED",
        )

    async def _checked(self, url: httpx.URL) -> _Target:
        """Resolve once; one closed address among several refuses them all."""
        host = url.raw_host.decode("ascii").rstrip(".").lower()
        given = literal(host)
        if given is None and is_odd_number(host):
            raise _closed(host)
        port = url.port or (443 if url.scheme == "https" else 80)
        found = [str(given)] if given is not None else await self._resolved(host, port)
        for text in found:
            address = literal(text)
            if address is None or not is_open(address, self._allowed):
                raise _closed(host)
        if not found:
            raise _unknown(host)
        return _Target(url=url, host=host, addresses=tuple(found[:ADDRESSES_MAX]))

    async def _resolved(self, host: str, port: int) -> list[str]:
        try:
            async with asyncio.timeout(self._limits.connect):
                return await self._resolve(host, port)
        except TimeoutError:
            raise Unavailable(f"{host} cannot be looked up in time", code="ERR_FETCH_TIMEOUT") from None
        except socket.gaierror as error:
            if error.errno in (socket.EAI_NONAME, socket.EAI_NODATA):
                raise _unknown(host) from error
            raise Unavailable(f"{host} cannot be looked up now ({error})", code="ERR_FETCH_FAILED") from error
        except (OSError, UnicodeError) as error:
            raise Unavailable(f"{host} cannot be looked up ({error})", code="ERR_FETCH_FAILED") from error

    @asynccontextmanager
    async def _answer(self, target: _Target) -> AsyncIterator[httpx.Response]:
        """The response's head from the first address that answers; its body is still to come."""
        times = httpx.Timeout(self._limits.silence, connect=self._limits.connect)
        async with httpx.AsyncClient(
            verify=self._context(), trust_env=False, follow_redirects=False, timeout=times
        ) as client:
            try:
                response = await self._first(client, target)
                try:
                    yield response
                finally:
                    await response.aclose()
            except httpx.HTTPError as error:
                raise _failure(error, target) from error

    async def _first(self, client: httpx.AsyncClient, target: _Target) -> httpx.Response:
        *others, last = target.addresses
        for address in others:
            try:
                return await client.send(_request(client, target, address), stream=True)
            except httpx.ConnectError as error:
                if _distrust(error) is not None:
                    raise
            except httpx.ConnectTimeout:
                continue
        return await client.send(_request(client, target, last), stream=True)

    async def _keep(self, response: httpx.Response, target: _Target, limit: int) -> Fetched:
        headers = response.headers
        announced = headers.get("content-length", "")
        if announced.isascii() and announced.isdigit() and int(announced[:20]) > limit:
            raise too_large(limit)
        pieces = body(response.aiter_raw(), headers.get("content-encoding", ""), limit)
        async with aclosing(pieces):
            blob = await self._blobs.put_stream(pieces, limit=limit)
        name = name_of(target.url.path, headers.get("content-disposition"), headers.get("content-type"))
        return Fetched(blob=blob, name=name)

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = httpx.create_ssl_context(trust_env=False)
        return self._tls


def _parsed(url: str) -> httpx.URL:
    """The URL, if it is one we would ever fetch; parsed here once and never again."""
    if len(url) > URL_LENGTH_MAX:
        raise Refused(f"the URL is longer than {URL_LENGTH_MAX} characters", code="ERR_URL_INVALID")
    if any(letter.isspace() or letter == "\\" or not letter.isprintable() for letter in url):
        raise Refused("the URL holds a space, a backslash or a control character", code="ERR_URL_INVALID")
    try:
        parsed = httpx.URL(url)
        host = parsed.raw_host.decode("ascii")
    except (httpx.InvalidURL, UnicodeError, ValueError) as error:
        raise Refused(f"{_shown(url)} is no URL ({error})", code="ERR_URL_INVALID") from error
    if parsed.port is not None and not 0 < parsed.port < 65_536:
        raise Refused(f"{_shown(url)} names a port there cannot be", code="ERR_URL_INVALID")
    if parsed.scheme not in ("http", "https") or not (literal(host) or _HOST.fullmatch(host)):
        raise Refused(f"{_shown(url)} is no http or https URL", code="ERR_URL_INVALID")
    if parsed.userinfo:
        raise Refused("the URL holds credentials", code="ERR_URL_INVALID")
    return parsed.copy_with(fragment=None)


def _request(client: httpx.AsyncClient, target: _Target, address: str) -> httpx.Request:
    """By number on the wire; the name goes where it is asked for: the Host header and the TLS handshake."""
    return client.build_request(
        "GET",
        target.url.copy_with(host=address),
        headers={**_HEADERS, "Host": target.url.netloc.decode("ascii")},
        extensions={"sni_hostname": target.host},
    )


def _failure(error: httpx.HTTPError, target: _Target) -> Fault:
    distrust = _distrust(error)
    if distrust is not None:
        return Refused(
            f"{target.host} shows a certificate that cannot be trusted ({distrust.verify_message})",
            code="ERR_FETCH_REFUSED",
        )
    if isinstance(error, httpx.TimeoutException):
        return Unavailable(f"{target.host} does not answer in time", code="ERR_FETCH_TIMEOUT")
    return Unavailable(f"{target.host} cannot be read ({error})", code="ERR_FETCH_FAILED")


def _distrust(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error
        error = error.__cause__ or error.__context__
    return None


def _unknown(host: str) -> Broken:
    # A resolver that has lost its network says the same as one that knows: tried again, but not for ever.
    return Broken(f"no host {host} can be found", code="ERR_FETCH_FAILED")


def _closed(host: str) -> Refused:
    return Refused(f"{host} leads into a private network", code="ERR_URL_FORBIDDEN")


def _shown(url: str) -> str:
    """The address without what may be secret in it."""
    plain = url.partition("?")[0].partition("#")[0]
    scheme, mark, rest = plain.partition("://")
    before, slash, path = rest.partition("/")
    return ascii(f"{scheme}{mark}{before.rpartition('@')[2]}{slash}{path}"[:200])[1:-1]
