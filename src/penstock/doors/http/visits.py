"""What a connection says of itself, before anybody asks who comes by it."""

from __future__ import annotations

from starlette.requests import HTTPConnection
from starlette.types import Scope

from penstock.model.errors import Refused
from penstock.model.visits import Visit

_SCHEMES = {"ws": "http", "wss": "https"}


def hide_query(scope: Scope) -> None:
    """Let the server write no query of a handshake into its log: there may be a token in it."""
    scope["query_string"] = b""


def visit_of(connection: HTTPConnection) -> Visit:
    """What the connection says of itself; a header given twice says nothing we could trust."""
    hosts, origins = connection.headers.getlist("host"), connection.headers.getlist("origin")
    if len(hosts) > 1 or len(origins) > 1:
        raise Refused("this server is not called by two names", code="ERR_HOST_FORBIDDEN")
    scheme = connection.url.scheme
    return Visit(
        peer=connection.client.host if connection.client else None,
        host=hosts[0] if hosts else None,
        origin=origins[0] if origins else None,
        scheme=_SCHEMES.get(scheme, scheme),
    )
