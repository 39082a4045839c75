"""How the server speaks WebSocket: as uvicorn does, with two things more.

An end that is not read is an end all the same. And a frame that many connections get can be written to each
as it is, without being made anew for each and without a task that is woken for it: an extension of the
connection's scope, which whoever does not know it never misses.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

LINGER_SECONDS = 10.0
"""How long the last bytes may take to leave once we have closed."""
PUSH = "penstock.push"

Push = Callable[[bytes], bool]
"""Writes a frame where nothing waits before it; False, and nothing is written, where something does."""


class LiveProtocol(WebSocketsSansIOProtocol):
    """Closing waits for nobody: who does not read would keep the connection open for ever."""

    def handle_connect(self, event: Request) -> None:
        """Offer what we can do to whoever will serve the connection."""
        super().handle_connect(event)
        if self.response.status_code == 101:
            extensions: dict[str, Any] = self.scope["extensions"]
            extensions[PUSH] = self.push

    def push(self, frame: bytes) -> bool:
        """Write a whole frame, if the connection is open and has room."""
        if not self.writable.is_set() or self.close_sent or self.transport.is_closing():
            return False
        self.transport.write(frame)
        return True

    def data_received(self, data: bytes) -> None:
        """Take what comes; a handshake nobody can read is refused, where uvicorn lets it wait for ever."""
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.close()

    def send(self, message: Any) -> Coroutine[Any, Any, None]:
        """Send; a close goes behind whatever waits, and the connection is cut where that does not move."""
        if message["type"] == "websocket.close" and self.handshake_complete:
            self.writable.set()
            self.loop.call_later(LINGER_SECONDS, self.transport.abort)
        return super().send(message)

    def keepalive_timeout(self) -> None:
        """A peer that answers no ping will not read what waits for it either."""
        super().keepalive_timeout()
        self.transport.abort()
