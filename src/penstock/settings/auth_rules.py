"""What the keys of auth and http must say together, and what only a trial may say."""

import math
from collections import Counter
from ipaddress import IPv6Address, ip_address
from socket import inet_aton
from urllib.parse import urlsplit

from penstock.model.visits import ANY, is_loopback
from penstock.settings.durations import format_duration
from penstock.settings.tree import Settings

LEEWAY_MOST = 60.0
TICKET_MOST = 300.0
BITS_LEAST = 96
"""Of a secret, by how often its characters come; a random one of 32 hex digits has about 118."""
EXAMPLES = (
    "super-secret-jwt-token",
    "your-256-bit-secret",
    "your-secret",
    "your_secret",
    "changeme",
    "change-me",
    "change_me",
    "please-change",
    "not-a-secret",
    "insecure",
    "example",
    "password",
    "correct-horse",
    "0123456789",
    "abcdefghij",
)
"""What stands in other people's documentation."""


def no_key(settings: Settings) -> str | None:
    """A program that asks for tokens knows by exactly one thing whether they are right."""
    auth = settings.auth
    if auth.mode != "jwt":
        return None
    given = [
        name
        for name, value in (
            ("auth.secret", auth.secret),
            ("auth.jwks_url", auth.jwks_url),
            ("auth.jwks_file", auth.jwks_file),
        )
        if value is not None
    ]
    return None if len(given) == 1 else f"{' and '.join(given) or 'none of them'} is given"


def no_issuer(settings: Settings) -> str | None:
    """Two issuers may share a key."""
    return "it is missing" if settings.auth.mode == "jwt" and settings.auth.issuer is None else None


def long_leeway(settings: Settings) -> str | None:
    """A long leeway is a longer life for every token."""
    return _longer(settings.auth.leeway, LEEWAY_MOST)


def long_ticket(settings: Settings) -> str | None:
    """A ticket is for the next connection, not for later."""
    return _longer(settings.auth.ticket_ttl, TICKET_MOST)


def short_staleness(settings: Settings) -> str | None:
    """Keys that are due must still be good while they are read again."""
    auth = settings.auth
    if auth.jwks_stale >= auth.jwks_fresh:
        return None
    return f"{format_duration(auth.jwks_stale)} against {format_duration(auth.jwks_fresh)}"


def plain_keys(settings: Settings) -> str | None:
    """Keys that come over plain http can be exchanged on the way."""
    address = settings.auth.jwks_url
    parts = urlsplit("" if address is None else address.reveal())
    if parts.username is not None or parts.password is not None:
        return "it holds a password"
    if parts.scheme != "http":
        return None
    if settings.profile == "production":
        return "it is http"
    host = parts.hostname or ""
    return None if host == "localhost" or is_loopback(host) else "it is http and not on loopback"


def weak_secret(settings: Settings) -> str | None:
    """What can be guessed signs for everybody."""
    secret = settings.auth.secret
    return None if settings.profile != "production" or secret is None else weakness(secret.reveal())


def every_origin(settings: Settings) -> str | None:
    """Any page could ask in its reader's name."""
    return (
        "* is among them"
        if settings.profile == "production" and ANY in settings.auth.allowed_origins
        else None
    )


def open_bind(settings: Settings) -> str | None:
    """Without sign-in nobody but this machine may reach the program."""
    host = settings.http.host
    if settings.profile != "production" or settings.auth.mode != "local":
        return None
    return None if host == "localhost" or is_loopback(host) else f"{host} can be reached from elsewhere"


def open_to_any_name(settings: Settings) -> str | None:
    """Bound everywhere and called by any name, it is reached through whatever anybody points at it."""
    http = settings.http
    if settings.profile != "production" or settings.auth.mode == "local" or http.allowed_hosts:
        return None
    return f"{http.host} is every address" if _is_everywhere(http.host) else None


def _is_everywhere(host: str) -> bool:
    try:
        return inet_aton(host) == bytes(4)  # `0x0` and the like, as a resolver takes them
    except OSError:
        pass
    try:
        address = ip_address(host)
    except ValueError:
        return False
    inside = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (inside or address).is_unspecified


def weakness(secret: str) -> str | None:
    """Why a secret can be guessed, in words that do not quote it; None where nothing speaks for it."""
    lowered = secret.lower()
    if any(example in lowered for example in EXAMPLES):
        return "it is, or holds, an example everybody can read"
    if any(_repeats(secret, period) for period in range(1, len(secret) // 2 + 1)):
        return "it repeats itself"
    counts = Counter(secret).values()
    bits = -sum(count * math.log2(count / len(secret)) for count in counts)
    return None if bits >= BITS_LEAST else "its characters vary too little"


def _repeats(text: str, period: int) -> bool:
    return (text[:period] * (len(text) // period + 1))[: len(text)] == text


def _longer(span: float, most: float) -> str | None:
    return None if span <= most else f"{format_duration(span)} is too long"
