"""The WebSocket door.

Where a visit comes from is judged before the upgrade, with a plain HTTP answer. Who it is, is judged after
it, because a page in a browser is shown the code of a closed connection and nothing of a refused one. A token
comes in the header, in the address, as a ticket, or as the first message, and later ones as further messages.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable

import msgspec
from starlette.requests import HTTPConnection
from starlette.types import Message, Receive, Scope, Send

from penstock.doors.http.problems import problem_of
from penstock.doors.http.said import instant_or_none
from penstock.doors.http.visits import hide_query, visit_of
from penstock.doors.live.arrivals import Counting, bookmark_of, only, token_of
from penstock.doors.live.frames import AUTH, Frame, word_frame
from penstock.doors.live.hub import RESTART, Hub
from penstock.doors.live.listener import Bookmark, Ended, Ending, Listener
from penstock.doors.live.protocol import PUSH, Push
from penstock.doors.live.strangers import Strangers
from penstock.model.errors import Exhausted, Fault, Refused, Unavailable
from penstock.model.principals import TOKEN_LENGTH_MAX, Principal, invalid_token
from penstock.model.visits import Visit

MESSAGE_BYTES_MAX = 16 * 1024
SIGN_IN_SECONDS = 10.0
RENEWAL_SECONDS = 0.2
"""Between two newer tokens of one connection; they are not counted, and cost us time."""
CLOSE_SECONDS = 5.0
FORBIDDEN = frozenset({"ERR_PEER_FORBIDDEN", "ERR_HOST_FORBIDDEN", "ERR_ORIGIN_FORBIDDEN"})


class Said(msgspec.Struct, tag_field="type", tag="auth", frozen=True, forbid_unknown_fields=True):
    """The one message a client may send: a token, the first or a newer one."""

    token: str


_decoder = msgspec.json.Decoder(Said)


class Gone(Exception):
    """The other end has closed."""


class Socket:
    """An ASGI application for one path; many connections."""

    def __init__(self, hub: Hub, doorkeeper: Counting) -> None:
        self._hub = hub
        self._doorkeeper = doorkeeper
        self._strangers = Strangers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection, from the handshake to its end."""
        connection = HTTPConnection(scope)
        try:
            visit = visit_of(connection)
            self._doorkeeper.check(visit)
        except Fault as fault:
            return await problem_of(fault)(scope, receive, send)
        caller = _Caller(connection, visit, self._doorkeeper, self._strangers, receive, send)
        hide_query(scope)
        try:
            ending = await self._serve(caller)
        except Fault as fault:
            ending = ending_of(fault)
        except (Gone, OSError):
            return None
        with contextlib.suppress(OSError, TimeoutError):  # the other end is gone, or reads no more
            async with asyncio.timeout(CLOSE_SECONDS):
                await send({"type": "websocket.close", "code": ending.code, "reason": ending.reason})
        return None

    async def _serve(self, caller: _Caller) -> Ending:
        """Let somebody in and tell him what happens; why we end it."""
        await caller.accept()
        principal = await caller.sign_in()
        with self._hub.listening(principal.user, caller.since(), expires_at=principal.expires_at) as listener:
            return await caller.tell(listener)


class _Caller:
    """One connection and what it has said."""

    def __init__(
        self,
        connection: HTTPConnection,
        visit: Visit,
        doorkeeper: Counting,
        strangers: Strangers,
        receive: Receive,
        send: Send,
    ) -> None:
        self._visit = visit
        self._doorkeeper = doorkeeper
        self._strangers = strangers
        self._receive = receive
        self._send = send
        self._push: Push | None = connection.scope.get("extensions", {}).get(PUSH)
        self._token = token_of(connection)
        self._ticket = only(connection, "ticket")
        try:
            self._since: Bookmark | Refused | None = bookmark_of(connection)
        except Refused as refused:
            self._since = refused

    def since(self) -> Bookmark | None:
        """Where it wants to go on."""
        if isinstance(self._since, Refused):
            raise self._since
        return self._since

    async def accept(self) -> None:
        """Finish the handshake."""
        await self._receive()
        await self._send({"type": "websocket.accept"})

    async def sign_in(self) -> Principal:
        """By what came with the handshake, else by the first message, which must come soon."""
        try:
            return await self._admit(self._token, self._ticket)
        except Refused as refused:
            if refused.code != "ERR_TOKEN_MISSING":
                raise
            try:
                said = await self._strangers.first_words(self._hear)
            except TimeoutError:
                raise refused from None
            return await self._admit(said.token)
        finally:
            self._token = self._ticket = None

    async def tell(self, listener: Listener) -> Ending:
        """Send what there is until one of us ends it; why we do."""
        sending = asyncio.create_task(self._send_on(listener))
        hearing = asyncio.create_task(self._hear_on(listener))
        listener.give_up = sending.cancel
        listener.push = self._push
        try:
            await asyncio.wait({sending, hearing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sending.cancel()
            hearing.cancel()
            ends = await asyncio.gather(sending, hearing, return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception):
                raise end
        return listener.ending or RESTART

    async def _send_on(self, listener: Listener) -> None:
        send = self._send
        try:
            while True:
                for frame in await listener.take():
                    await send(_text_of(frame))
        except Ended:
            return  # the listener says why

    async def _hear_on(self, listener: Listener) -> None:
        """Whatever comes is a newer token of the same user."""
        while True:
            said = await self._hear()
            principal = await self._in_time(self._doorkeeper.renew(self._visit, said.token))
            if principal.user != listener.user:
                raise invalid_token("the new token is another user's")
            listener.expires_at = principal.expires_at
            await self._send(_text_of(word_frame(AUTH, expires_at=instant_or_none(principal.expires_at))))
            await asyncio.sleep(RENEWAL_SECONDS)

    async def _hear(self) -> Said:
        message = await self._receive()
        if message["type"] != "websocket.receive":
            raise Gone
        text = message.get("text")
        try:
            if text is None or len(text) > MESSAGE_BYTES_MAX:
                raise Refused("messages are short texts", code="ERR_FRAME_INVALID")
            said = _decoder.decode(text)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
            raise Refused("only auth messages are read", code="ERR_FRAME_INVALID") from error
        if len(said.token) > TOKEN_LENGTH_MAX:
            raise invalid_token("the token is too long")
        return said

    async def _admit(self, token: str | None, ticket: str | None = None) -> Principal:
        return await self._in_time(self._doorkeeper.admit(self._visit, token=token, ticket=ticket))

    @staticmethod
    async def _in_time(judged: Awaitable[Principal]) -> Principal:
        try:
            async with asyncio.timeout(SIGN_IN_SECONDS):
                return await judged
        except TimeoutError:
            raise Unavailable("signing in took too long", code="ERR_KEYS_UNAVAILABLE") from None


def _text_of(frame: Frame) -> Message:
    return {"type": "websocket.send", "text": frame.text}


def ending_of(fault: Fault) -> Ending:
    """A fault as the end of a connection: whose move it is, and by which code."""
    match fault:
        case Refused(code="ERR_FRAME_INVALID" | "ERR_SINCE_INVALID"):
            return Ending(4400, fault.code)
        case Refused(code=code) if code in FORBIDDEN:
            return Ending(4403, code)
        case Refused():
            return Ending(4401, fault.code)
        case Exhausted():
            return Ending(4429, fault.code)
        case Unavailable():
            return Ending(1013 if fault.code != "ERR_RESTARTING" else 1012, fault.code)
    return Ending(1011, fault.code)
