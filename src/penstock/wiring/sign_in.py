"""From settings to who may ask: tokens by the keys they name, and whom the door lets in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from penstock.model.diagnosis import Finding, Verdict
from penstock.model.errors import Broken, Fault
from penstock.model.principals import Expected
from penstock.model.visits import Threshold, is_loopback
from penstock.ports.clock import Clock
from penstock.ports.tokens import Tokens
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.engines.jwt import KeyRing


@asynccontextmanager
async def open_tokens(settings: Settings, clock: Clock) -> AsyncIterator[Tokens | None]:
    """What reads tokens; None in local mode, where nobody shows one."""
    auth = settings.auth
    if auth.mode == "local":
        yield None
        return
    # Late: cryptography takes its time to load, and most commands read no token.
    from penstock.engines.jwt import JwtTokens, SecretKey

    expected = Expected(issuer=auth.issuer or "", audience=auth.audience, leeway=auth.leeway)
    if auth.secret is not None:
        yield JwtTokens(SecretKey(auth.secret.reveal()), expected, clock)
        return
    ring = _ring(settings, clock)
    try:
        yield JwtTokens(ring, expected, clock)
    finally:
        await ring.close()


def threshold_of(settings: Settings) -> Threshold:
    """Which names and pages are let in where tokens are asked for."""
    return Threshold(hosts=settings.http.allowed_hosts, origins=settings.auth.allowed_origins)


def open_without_sign_in(settings: Settings) -> str | None:
    """What to know where other machines reach a program that asks nobody who he is."""
    host = settings.http.host
    if settings.auth.mode != "local" or host == "localhost" or is_loopback(host):
        return None
    return (
        f"other machines can reach {host}, and no sign-in is configured: they are refused by their address"
        " alone, which a proxy on this machine would hide"
    )


async def sign_in_findings(settings: Settings, clock: Clock) -> list[Finding]:
    """Whether tokens could be read now."""
    auth = settings.auth
    if (why := open_without_sign_in(settings)) is not None:
        sentence, advice = (
            f"{why[0].upper()}{why[1:]}.",
            "Bind http.host to 127.0.0.1, or set auth.mode to jwt.",
        )
        return [Finding(check="sign_in", verdict=Verdict.WARNING, sentence=sentence, advice=advice)]
    if auth.mode == "local":
        told = "Only the person at this machine may ask; no sign-in is configured."
        return [Finding(check="sign_in", verdict=Verdict.OK, sentence=told)]
    if auth.secret is not None:
        told = f"Tokens of {auth.issuer} are accepted, signed with the secret."
        return [Finding(check="sign_in", verdict=Verdict.OK, sentence=told)]
    try:
        count = await _ring(settings, clock).load()
        if not count:
            raise Broken("no key there can be used, so no token is accepted", code="ERR_KEYS_UNAVAILABLE")
    except Fault as fault:
        advice = "Check auth.jwks_url or auth.jwks_file, and that it publishes ES256 or RS256 keys."
        return [Finding(check="sign_in", verdict=Verdict.WRONG, sentence=f"{fault.message}.", advice=advice)]
    told = f"Tokens of {auth.issuer} are accepted; {count} published keys can be used."
    return [Finding(check="sign_in", verdict=Verdict.OK, sentence=told)]


def _ring(settings: Settings, clock: Clock) -> KeyRing:
    from penstock.engines.jwt import FileSource, KeyRing, Pace, UrlSource

    auth = settings.auth
    source: FileSource | UrlSource
    if auth.jwks_file is not None:
        source = FileSource(auth.jwks_file)
    else:
        url = "" if auth.jwks_url is None else auth.jwks_url.reveal()
        source = UrlSource(url, seconds=auth.jwks_timeout)
    pace = Pace(interval=auth.jwks_interval, fresh=auth.jwks_fresh, stale=auth.jwks_stale)
    return KeyRing(source, clock, pace)
