"""Serving: a socket, the application behind it, and an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable
from typing import Any

import h11
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from penstock.doors.entry import Entry
from penstock.doors.http.app import make_app
from penstock.doors.http.house import House
from penstock.doors.http.problems import problem, problem_of
from penstock.doors.http.rates import Rates
from penstock.doors.live.handshake import request_of
from penstock.doors.live.hub import Limits, open_hub
from penstock.doors.live.listener import Room
from penstock.doors.live.protocol import LiveProtocol
from penstock.doors.live.routes import live_routes
from penstock.doors.live.socket import MESSAGE_BYTES_MAX
from penstock.model.errors import Exhausted
from penstock.settings import Live, Settings
from penstock.wiring.serving import open_house
from penstock.wiring.sign_in import threshold_of

log = logging.getLogger("penstock.http")
HEAD_BYTES_MAX = 64 * 1024
HEAD_SECONDS = 15.0
"""How long a connection may take to say what it wants."""
STUCK_SECONDS = 60.0
"""How long what is sent may wait for somebody who does not read."""
IDLE_SECONDS = 15
CONNECTIONS_SPARE = 1_000
"""Connections for requests, beside those that listen for events."""
GRACE_SECONDS = 10


class PromptProtocol(H11Protocol):
    """HTTP/1.1 that does not wait for ever: not for the head of a request, not for a reader."""

    _patience: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        # uvicorn would refuse in plain text and say nothing of when to come again.
        self._requests_max, self.limit_concurrency = self.limit_concurrency, None
        self._answering, self.app = self.app, self._answer

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection that says nothing is closed."""
        super().connection_made(transport)
        self._be_impatient()

    def data_received(self, data: bytes) -> None:
        """A further request on a connection must be said as quickly as the first."""
        if self._is_between_requests():
            self._be_impatient()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for any more."""
        self._be_patient()
        self._move_on()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """What is sent piles up; a connection where it stays so is cut, also one that is closed already."""
        super().pause_writing()
        self._stuck = self.loop.call_later(STUCK_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """It is read after all."""
        super().resume_writing()
        self._move_on()

    def handle_events(self) -> None:
        """Once a request is there, its own bounds count."""
        super().handle_events()
        if not self._is_between_requests():
            self._be_patient()

    def send_400_response(self, msg: str) -> None:
        """What cannot be read as a request is refused as everything else is."""
        refusal = problem(400, "ERR_REQUEST_INVALID", msg, headers={"Connection": "close"})
        head = h11.Response(status_code=400, headers=refusal.raw_headers, reason=b"Bad Request")
        for event in (head, h11.Data(data=bytes(refusal.body)), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event))
        self.transport.close()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """From here on the connection is a WebSocket's, which lasts."""
        if event.http_version < b"1.1":
            return self.send_400_response("a WebSocket is asked for by HTTP/1.1")
        self._be_patient()
        self.connections.discard(self)
        live = LiveProtocol(self.config, self.server_state, self.app_state)
        live.connection_made(self.transport)
        live.handle_connect(request_of(event.method, event.target, self.headers))
        self.transport.set_protocol(live)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse where as many connections or requests are there as may be."""
        most = self._requests_max
        if most is None or (len(self.connections) < most and len(self.tasks) <= most):
            await self._answering(scope, receive, send)
            return
        refusal = problem_of(Exhausted("too many requests at once", code="ERR_SERVER_BUSY"))
        refusal.headers["Connection"] = "close"
        await refusal(scope, receive, send)

    def _move_on(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def _is_between_requests(self) -> bool:
        return bool(getattr(self.cycle, "response_complete", True))  # there is none before the first

    def _be_impatient(self) -> None:
        if self._patience is None:
            self._patience = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _be_patient(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        transport: asyncio.Transport = self.transport
        if self._patience is not None:
            transport.close()


class _Server(uvicorn.Server):
    """uvicorn without its own handlers of signals: whoever starts us tells us when to end."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Say when requests are answered."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        """Leave signals alone."""
        yield


async def serve(settings: Settings, listening: socket.socket, ready: Callable[[int], None]) -> None:
    """Answer requests on a bound socket until cancelled; `ready` hears the port once they are answered.

    Displaced if the store goes from under it.
    """
    port = listening.getsockname()[1]
    async with (
        open_house(settings) as opened,
        open_hub(opened.store.feed, opened.store.clock, limits_of(settings.live)) as hub,
    ):
        entry = Entry(opened.store, opened.tokens, opened.store.tickets, threshold_of(settings))
        entry.port = port
        house = House(
            settings=settings,
            store=opened.store,
            entry=entry,
            blobs=opened.blobs,
            chat=opened.chat,
            answers=opened.answers,
            texts=opened.texts,
            desk_of=opened.desk_of,
            counting=opened.counting,
            rates=Rates(opened.store.clock, opened.buckets, settings.http.requests_per_minute),
            show=lambda workspace: hub.shower(workspace.owner),
        )
        live = live_routes(hub, entry, house.rates.spend)
        server = _Server(config_of(make_app(house, live), settings.live), lambda: ready(port))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        standing = asyncio.create_task(opened.store.footing.run())
        try:
            await asyncio.wait({serving, standing}, return_when=asyncio.FIRST_COMPLETED)
            if standing.done():
                await standing
        finally:
            standing.cancel()
            hub.drain()  # first: a stream that goes on would hold the server up
            server.should_exit = True
            # Now, not when all requests have ended: those that wait for an answer would wait in vain.
            closing = asyncio.create_task(opened.chat.close())
            await serving
            await asyncio.gather(closing, return_exceptions=True)  # the house closes it again, and tells


def limits_of(live: Live) -> Limits:
    """What the hub holds, as the settings say."""
    return Limits(
        per_user=live.connections_per_user,
        in_all=live.connections_max,
        replay=live.replay_max,
        slow_seconds=live.slow_after,
        room=Room(frames=live.queue_messages, characters=live.queue_bytes),
    )


def config_of(app: object, live: Live | None = None) -> uvicorn.Config:
    """How the server runs: bounded, quiet, and with WebSockets that do not compress."""
    live = live or Live()
    return uvicorn.Config(
        app,  # type: ignore[arg-type]  # an ASGI application
        http=PromptProtocol,
        ws=LiveProtocol,
        ws_per_message_deflate=False,
        ws_ping_interval=live.ping_interval,
        ws_ping_timeout=live.ping_timeout,
        ws_max_size=MESSAGE_BYTES_MAX,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        limit_concurrency=live.connections_max + CONNECTIONS_SPARE,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        h11_max_incomplete_event_size=HEAD_BYTES_MAX,
    )
