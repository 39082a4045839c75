"""Which addresses are the open internet, and which lead into somebody's house.

Python's own idea of a global address is the start; what it lets pass is named here: groups, addresses that
carry another one inside, and the services clouds keep for their guests. A list of networks given by the
operator is the only way past.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NAT64 = IPv6Network("64:ff9b::/96")
_CLOSED: tuple[Network, ...] = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",
        "100.64.0.0/10",
        "168.63.129.16/32",  # a cloud's own service for its guests, on a public address
        "192.0.0.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/96",
        "::ffff:0:0/96",
        "::ffff:0:0:0/96",
        "64:ff9b:1::/48",
        "100::/64",
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
        "5f00::/16",
        "fc00::/7",
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
    )
)
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)


def is_open(address: Address, allowed: Sequence[Network] = ()) -> bool:
    """Whether we may connect there."""
    inner = _inner(address)
    if any(_within(candidate, network) for candidate in (address, inner) for network in allowed):
        return True
    if isinstance(inner, IPv6Address) and inner.scope_id is not None:
        return False
    return inner.is_global and not any(_within(inner, network) for network in _CLOSED)


def literal(host: str) -> Address | None:
    """The address a host is written as, in the one standard form; None for a name."""
    try:
        return ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


def is_odd_number(host: str) -> bool:
    """Whether a host that is no standard address would be read as one by lenient programs."""
    return _NUMERIC_LABEL.fullmatch(host.rstrip(".").rpartition(".")[2]) is not None


def _inner(address: Address) -> Address:
    """The IPv4 address that would be reached through a translator or a mapped form, else itself."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _within(address: Address, network: Network) -> bool:
    return address.version == network.version and address in network
