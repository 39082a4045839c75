"""Where a request comes from: its peer, its Host and its Origin, judged before anybody is asked who he is.

A page of any site can make the reader's browser call a server on loopback, by its address or by a name that
is pointed there for a moment. The browser cannot lie about two things: the name it looked up, which is the
Host, and the page that asked, which is the Origin. So a program without passwords answers only where both are
its own, spelt as a browser spells them, and where the other end of the connection is this machine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

from penstock.model.errors import Refused
from penstock.model.principals import LOCAL, Principal

LENGTH_MAX = 300
ANY = "*"
_USUAL_PORTS = {"http": 80, "https": 443}
_AUTHORITY = re.compile(r"(?P<host>\[[0-9a-f:.]{2,45}\]|[a-z0-9_.-]{1,253})(?::(?P<port>[1-9][0-9]{0,4}))?")
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?#@\\]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """What a connection says of itself; None is what it did not say."""

    peer: str | None
    """The address at the other end."""
    host: str | None
    origin: str | None = None
    scheme: str = "http"


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """Whom the door lets in."""

    hosts: Sequence[str] = ()
    """Names it may be called by, each with or without a port; none allows every name."""
    origins: Sequence[str] = ()
    """Pages beside our own that may call it; `*` is every page."""


def local_principal(visit: Visit, port: int) -> Principal:
    """The local user, if the visit comes from this machine and from no foreign page."""
    if not is_loopback(visit.peer or ""):
        raise Refused("only this machine itself is answered", code="ERR_PEER_FORBIDDEN")
    host = _authority(visit.host, "http")
    if host is None or host[1] != port or not (host[0] == "localhost" or is_loopback(host[0])):
        raise _foreign_host()
    _check_origin(visit, ())
    return LOCAL


def check_visit(visit: Visit, threshold: Threshold) -> None:
    """Refuse a name or a page nobody allowed; who it is must still be proven by a token."""
    host = _authority(visit.host, visit.scheme)
    if host is None or (threshold.hosts and not any(_is_host(host, name) for name in threshold.hosts)):
        raise _foreign_host()
    _check_origin(visit, threshold.origins)


def is_loopback(address: str) -> bool:
    """Whether an address, in its one standard form and with or without brackets, is this machine's own."""
    bare = address[1:-1] if address.startswith("[") and address.endswith("]") else address
    try:
        found = ip_address(bare)
    except ValueError:
        return False
    # Python's own idea takes an IPv4 address inside an IPv6 one too; a browser never writes that.
    return found.is_loopback if isinstance(found, IPv4Address) else found == IPv6Address("::1")


def origin_of(text: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an origin as a browser writes it; None where it is none, such as `null`."""
    found = _ORIGIN.fullmatch(text) if len(text) <= LENGTH_MAX else None
    authority = None if found is None else _authority(found["authority"], found["scheme"])
    return None if found is None or authority is None else (found["scheme"], *authority)


def _check_origin(visit: Visit, allowed: Sequence[str]) -> None:
    if visit.origin is None or ANY in allowed:
        return
    asked, own = origin_of(visit.origin), origin_of(f"{visit.scheme}://{(visit.host or '').lower()}")
    if asked is None or asked not in (own, *map(origin_of, allowed)):
        raise Refused("this page may not ask here", code="ERR_ORIGIN_FORBIDDEN")


def _is_host(host: tuple[str, int], name: str) -> bool:
    wanted = _AUTHORITY.fullmatch(name.lower())
    if wanted is None:
        return False
    return host[0] == wanted["host"] and (wanted["port"] is None or host[1] == int(wanted["port"]))


def _authority(text: str | None, scheme: str) -> tuple[str, int] | None:
    """Host and port; None for anything a browser would not have written."""
    found = _AUTHORITY.fullmatch(text.lower()) if text is not None and len(text) <= LENGTH_MAX else None
    if found is None or not text or not text.isascii():
        return None
    port = int(found["port"] or _USUAL_PORTS.get(scheme, 0))
    return (found["host"], port) if 0 < port < 65_536 else None


def _foreign_host() -> Refused:
    return Refused("this server is not called by that name", code="ERR_HOST_FORBIDDEN")
