"""How the server speaks WebSocket: as uvicorn does, with three things more.

An end that is not read is an end all the same. Who pings and does not read is read no further, since every
pong would wait in memory, and is cut where it stays so. And a frame that many connections get can be written
to each as it is, without being made anew for each and without a task that is woken for it: an extension of
the connection's scope, which whoever does not know it never misses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

from penstock.doors.live.handshake import Handshake

LINGER_SECONDS = 10.0
"""How long the last bytes may take to leave once we have closed."""
PUSH = "penstock.push"

Push = Callable[[bytes], bool]
"""Writes a frame where nothing waits before it; False, and nothing is written, where something does."""


class LiveProtocol(WebSocketsSansIOProtocol):
    """Closing waits for nobody: who does not read would keep the connection open for ever."""

    _stuck: asyncio.TimerHandle | None = None
    """Set while what was written is not taken; cuts the connection in the end."""
    _deaf = False
    """Whether nothing is read until what was written is taken."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.conn = Handshake(max_size=self.config.ws_max_size, logger=self.logger)

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

    def pause_writing(self) -> None:
        """What is sent piles up; where it stays so the other end is as good as gone."""
        super().pause_writing()
        self._stuck = self.loop.call_later(
            self.config.ws_ping_timeout or LINGER_SECONDS, self.transport.abort
        )

    def resume_writing(self) -> None:
        """It is taken after all."""
        super().resume_writing()
        self._move_on()
        if self._deaf:
            self._deaf = False
            if not self.read_paused:
                self.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for any more."""
        self._move_on()
        super().connection_lost(exc)

    def handle_ping(self) -> None:
        """Answer; who takes no answers is heard no more for now."""
        super().handle_ping()
        if self._stuck is not None:
            self._deaf = True
            self.transport.pause_reading()

    async def receive(self) -> Any:
        """The next message; hearing it is no reason to read on where we do not."""
        message = await super().receive()
        if self._deaf:
            self.transport.pause_reading()
        return message

    def send(self, message: Any) -> Coroutine[Any, Any, None]:
        """Send; a close goes behind whatever waits, and the connection is cut where that does not move."""
        if message["type"] == "websocket.close" and self.handshake_complete:
            self.writable.set()
            self.loop.call_later(LINGER_SECONDS, self.transport.abort)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            return self._refuse(message)
        return super().send(message)

    def keepalive_timeout(self) -> None:
        """A peer that answers no ping will not read what waits for it either."""
        super().keepalive_timeout()
        self.transport.abort()

    async def _refuse(self, message: Any) -> None:
        """Answer instead of a handshake; uvicorn takes that for a handshake left open, and for an error."""
        await super().send(message)
        self.handshake_complete = True

    def _move_on(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None
