"""Requests as bytes over one connection: who measures the time of an answer wants no client's own in it."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass

import httpx

from tests.support.command_line import PATIENCE
from tests.support.served import Served

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reply:
    """What was answered."""

    status: int
    body: bytes


def written(request: httpx.Request) -> bytes:
    """A request as it goes over the line."""
    body = request.read()
    lines = [b"%s %s HTTP/1.1" % (request.method.encode(), request.url.raw_path)]
    lines += [b"%s: %s" % each for each in request.headers.raw]
    return b"\r\n".join([*lines, b"", body])


class PlainLine:
    """One connection that is kept, to a server that tells the length of its answers."""

    def __init__(self, served: Served) -> None:
        self._at = ("127.0.0.1", served.port)
        self._line: socket.socket | None = None

    def ask(self, request: bytes) -> Reply:
        """Send it and wait for the whole answer."""
        line = self._line or self._opened()
        line.sendall(request)
        said = b""
        while b"\r\n\r\n" not in said:
            said += _more(line)
        head, _, body = said.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        wanted = int(length[1]) if length and not request.startswith(b"HEAD ") else 0
        while len(body) < wanted:
            body += _more(line)
        if b"\r\nconnection: close" in head.lower():
            self.close()
        return Reply(int(head[9:12]), body)

    def close(self) -> None:
        """Hang up; the next question opens another."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def _opened(self) -> socket.socket:
        self._line = socket.create_connection(self._at, timeout=PATIENCE)
        self._line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._line


def _more(line: socket.socket) -> bytes:
    more = line.recv(65_536)
    assert more, "the server hung up in the middle"
    return more
