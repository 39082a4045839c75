"""The same events as Server-Sent Events, for clients that only read.

Such a client comes again by itself, to the same address, and shows the `id` it was told last. The ticket in
the address is used by then; so a stream that was opened by one tells a pass in every `id`. That comes back
in a header, which no log and no history keeps, and opens the stream again while the ticket's token is good.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from penstock.doors.http.visits import visit_of
from penstock.doors.live.arrivals import (
    PASS_MARK,
    Doorkeeper,
    bookmark_of,
    only,
    pass_of,
    token_of,
)
from penstock.doors.live.frames import CLOSED, Frame, word_frame
from penstock.doors.live.hub import Hub
from penstock.doors.live.listener import Bookmark, Ended, Listener
from penstock.model.principals import Principal, Proof

PING_SECONDS = 15.0
LAST_WORDS_SECONDS = 1.0
MEDIA = "text/event-stream"
PING = b": ping\n\n"
BEGIN = b"retry: 1000\n\n"


class Stream:
    """Answers requests for the stream."""

    def __init__(self, hub: Hub, doorkeeper: Doorkeeper) -> None:
        self._hub = hub
        self._doorkeeper = doorkeeper

    async def __call__(self, request: Request) -> Response:
        """A response that lasts as long as both ends want."""
        since = bookmark_of(request)
        principal = await self._doorkeeper.admit(
            visit_of(request),
            token=token_of(request),
            ticket=only(request, "ticket"),
            held=pass_of(request),
        )
        return EventStream(self._hub, principal, since, partial(self._pass, principal, request))

    async def _pass(self, principal: Principal, request: Request) -> str | None:
        """What is told with each event, where the client has nothing else to come again with."""
        match principal.proof:
            case Proof.TICKET:
                return await self._doorkeeper.issue_pass(principal)
            case Proof.PASS:
                return pass_of(request)
            case _:
                return None


class EventStream(Response):
    """Events of one user; a place in the hub is taken while it is sent."""

    media_type = MEDIA

    def __init__(
        self,
        hub: Hub,
        principal: Principal,
        since: Bookmark | None,
        held: Callable[[], Awaitable[str | None]],
    ) -> None:
        """`held` is asked for the stream's pass once there is a place."""
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._hub = hub
        self._held = held
        self._principal = principal
        self._since = since

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the other end leaves or we close."""
        user, until = self._principal.user, self._principal.expires_at
        with self._hub.listening(user, self._since, expires_at=until) as listener:
            held = await self._held()
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            sending = asyncio.create_task(_send_on(listener, send, held))
            leaving = asyncio.create_task(_until_gone(receive))
            listener.give_up = sending.cancel
            try:
                await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                sending.cancel()
                leaving.cancel()
                await asyncio.gather(sending, leaving, return_exceptions=True)
            await _say_goodbye(listener, send)


def block_of(frame: Frame, held: str | None = None) -> bytes:
    """A frame as the stream writes it; number, time and pass are what the client sends when it comes again.

    JSON holds none of the three line ends the stream knows; those only Unicode knows go through as they are.
    """
    at = "" if frame.at is None else f"@{frame.at}"
    behind = "" if held is None else f"{PASS_MARK}{held}"
    mark = "" if frame.seq is None else f"id: {frame.seq}{at}{behind}\n"
    return f"{mark}data: {frame.text}\n\n".encode()


async def _send_on(listener: Listener, send: Send, held: str | None) -> None:
    await send({"type": "http.response.body", "body": BEGIN, "more_body": True})
    with contextlib.suppress(Ended, OSError):
        while True:
            body = PING
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PING_SECONDS):
                    body = b"".join([block_of(each, held) for each in await listener.take()])
            listener.sending()  # a ping too may meet somebody who no longer reads
            await send({"type": "http.response.body", "body": body, "more_body": True})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _say_goodbye(listener: Listener, send: Send) -> None:
    """Say why we close, where somebody is still there to hear it."""
    body = b""
    if listener.ending is not None:
        body = block_of(word_frame(CLOSED, code=listener.ending.code, reason=listener.ending.reason))
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(LAST_WORDS_SECONDS):
            await send({"type": "http.response.body", "body": body, "more_body": False})
