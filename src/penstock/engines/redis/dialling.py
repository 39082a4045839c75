"""How a connection is made: where the server is, TLS, signing in, the database, our name."""

from __future__ import annotations

import asyncio
import socket
import ssl
import sys
from dataclasses import dataclass
from typing import Protocol

from penstock.engines.redis.faults import broken_off, fault_of, unreachable
from penstock.engines.redis.protocol import Late, Lost, ReplyError, Wire, Word, packed
from penstock.model.errors import Refused

NAME = "penstock"
"""What `CLIENT LIST` on the server calls our connections."""


class Password(Protocol):
    """A secret that shows itself only when asked."""

    def reveal(self) -> str:
        """The secret itself."""
        ...


class Server(Protocol):
    """Where a server is and who we are there; the settings' RedisServer is one."""

    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def tls(self) -> bool: ...
    @property
    def username(self) -> str | None: ...
    @property
    def password(self) -> Password | None: ...
    @property
    def db(self) -> int | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an operation may take."""

    operation_seconds: float = 3.0
    """For a whole operation: connecting, sending, waiting, trying again. A call may name its own."""
    dial_seconds: float = 5.0
    """For one try to connect."""
    write_seconds: float = 3.0
    """So long the server may leave what was sent unread or unacknowledged; then the connection is broken."""
    resends_max: int = 3
    """How often a command that may be done again is sent again after a broken connection."""
    connections_max: int = 18
    """Connections of one client: the shared line, one that listens, those that block or wait in reserve."""
    idle_min: int = 0
    """Connections kept open in reserve."""
    in_flight_max: int = 10_000
    """Commands under way on one connection; more wait their turn."""
    reply_bytes_max: int = 64 << 20


def place_of(server: Server) -> str:
    """The server as people are told of it; nothing secret."""
    scheme = "rediss" if server.tls else "redis"
    host = f"[{server.host}]" if ":" in server.host else server.host
    return f"{scheme}://{host}:{server.port}/{server.db or 0}"


async def dial(server: Server, limits: Limits, tls: ssl.SSLContext | None) -> Wire:
    """A connection that is signed in and on the right database; a Fault if there is none in time."""
    loop = asyncio.get_running_loop()
    where = place_of(server)
    ends = loop.time() + limits.dial_seconds
    wire: Wire | None = None
    try:
        async with asyncio.timeout_at(ends):
            wire = await _connected(server, limits, tls)
            await _greet(wire, server, where, ends)
    except (OSError, TimeoutError, Late) as error:
        raise unreachable(where, TimeoutError() if isinstance(error, Late) else error) from error
    except Lost as error:
        raise broken_off(where, error.why, sent=False) from error
    else:
        greeted, wire = wire, None
        return greeted
    finally:
        if wire is not None:
            wire.abort()


async def _connected(server: Server, limits: Limits, tls: ssl.SSLContext | None) -> Wire:
    loop = asyncio.get_running_loop()
    # Addresses in turn, not in a race: a race that is called off leaves a socket open on Python 3.11.
    transport, wire = await loop.create_connection(
        lambda: Wire(in_flight_max=limits.in_flight_max, reply_bytes_max=limits.reply_bytes_max),
        server.host,
        server.port,
        ssl=(tls or ssl.create_default_context()) if server.tls else None,
    )
    plug = transport.get_extra_info("socket")
    plug.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if sys.platform == "linux":
        # The kernel alone knows what of a write has arrived; elsewhere the deadline of the operation ends it.
        plug.setsockopt(
            socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, max(1, round(limits.write_seconds * 1000))
        )
    return wire


async def _greet(wire: Wire, server: Server, where: str, ends: float) -> None:
    """Everything is asked in one write; what fails first is told."""
    asked: list[tuple[Word, ...]] = []
    if server.password is not None:
        user = (server.username,) if server.username else ()
        asked.append(("AUTH", *user, server.password.reveal()))
    if server.db:
        asked.append(("SELECT", server.db))
    asked += [("CLIENT", "SETNAME", NAME), ("PING",)]
    replies = await asyncio.gather(*(wire.ask(packed(words), ends) for words in asked))
    for words, reply in zip(asked, replies, strict=True):
        # A user who may not name himself, or not ping, is welcome; so is a server that is still loading.
        if isinstance(reply, ReplyError) and reply.word not in {"LOADING", "MASTERDOWN"}:
            if reply.word == "NOPERM" and words[0] in {"CLIENT", "PING"}:
                continue
            if words[0] == "SELECT":
                raise Refused(
                    f"{where}: there is no database {server.db}", code="ERR_CONFIGURATION"
                ) from reply
            raise fault_of(reply, where, str(words[0]))
