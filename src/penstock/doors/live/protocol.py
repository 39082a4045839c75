"""How the server speaks WebSocket: as uvicorn does, but an end that is not read is an end all the same."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

LINGER_SECONDS = 10.0
"""How long the last bytes may take to leave once we have closed."""


class LiveProtocol(WebSocketsSansIOProtocol):
    """Closing waits for nobody: who does not read would keep the connection open for ever."""

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
