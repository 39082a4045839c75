"""A WebSocket written and read byte by byte, as RFC 6455 has it, and no more of it than the events need."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.command_line import PATIENCE

Message = dict[str, Any]
TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA


class RawTab:
    """One open connection, and everything it was told."""

    def __init__(self, raw: socket.socket) -> None:
        self._raw = raw
        self._left = b""
        self.told: list[Message] = []
        self.pings = 0

    def greet(self, host: str, path: str, token: str) -> None:
        """Ask for the upgrade, and be given it."""
        key = base64.b64encode(os.urandom(16)).decode()
        head = (
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\nAuthorization: Bearer {token}\r\n\r\n"
        )
        self._raw.sendall(head.encode())
        while b"\r\n\r\n" not in self._left:
            self._fill()
        reply, _, self._left = self._left.partition(b"\r\n\r\n")
        assert reply.startswith(b"HTTP/1.1 101 "), reply

    def hear(self) -> Message:
        """The next message; pings are answered on the way."""
        while True:
            first, second = self._take(2)
            size = second & 0x7F
            assert not second & 0x80, "a server never masks"
            if size > 125:
                (size,) = struct.unpack(">H" if size == 126 else ">Q", self._take(2 if size == 126 else 8))
            data = self._take(size)
            if first == 0x80 | TEXT:
                message: Message = json.loads(data)
                self.told.append(message)
                return message
            assert first == 0x80 | PING, (first, data)
            self.pings += 1
            self._raw.sendall(bytes([0x80 | PONG, 0x80 | len(data)]) + bytes(4) + data)

    def say(self, message: Message) -> None:
        """Send a short message."""
        data = json.dumps(message).encode()
        size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data))
        self._raw.sendall(bytes([0x80 | TEXT]) + size + bytes(4) + data)

    def ending(self) -> tuple[int, str]:
        """How the other end closes, which must be the next it does."""
        first, size = self._take(2)
        assert first == 0x80 | CLOSE, first
        data = self._take(size)
        return int.from_bytes(data[:2], "big"), data[2:].decode()

    def until(self, wanted: Callable[[Message], bool]) -> Message:
        """The first message from here on that is wanted."""
        while True:
            message = self.hear()
            if wanted(message):
                return message

    def numbered(self) -> list[Message]:
        """What it was told that stands in the log."""
        return [each for each in self.told if "seq" in each]

    def _take(self, size: int) -> bytes:
        while len(self._left) < size:
            self._fill()
        taken, self._left = self._left[:size], self._left[size:]
        return taken

    def _fill(self) -> None:
        piece = self._raw.recv(65536)
        assert piece, "the other end has closed"
        self._left += piece


@contextmanager
def raw_tab(port: int, token: str, *, since: int | None = None) -> Iterator[RawTab]:
    """A tab that is signed in, and told whatever happens from the event asked for."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as raw:
        tab = RawTab(raw)
        tab.greet(f"127.0.0.1:{port}", "/ws" if since is None else f"/ws?since={since}", token)
        yield tab
