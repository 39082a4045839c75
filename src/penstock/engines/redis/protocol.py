"""One connection: what is asked in one turn of the loop leaves in one write, replies come back in order.

Only what is asked while nothing is under way leaves at once: nobody is there to share a write with.

A reply carries no name: it belongs to the oldest command that has none yet. So a command whose caller gave up
keeps its place, its late reply is dropped, and a connection that fell silent takes no new commands at all.

Not taken: redis-py. Its call path costs about twenty times as much, and what it does by itself about a broken
connection (sending again, up to ten times) makes two jobs of one push and twelve seconds of 0.7.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

from penstock.engines.redis.lingering import Linger, linger_on
from penstock.model.errors import Refused

try:
    import hiredis
except ModuleNotFoundError as missing:
    raise Refused(
        "Redis needs the package hiredis: pip install 'penstock[redis]'", code="ERR_CONFIGURATION"
    ) from missing

Word: TypeAlias = bytes | str | int
"""A part of a command; text goes out as UTF-8."""
Reply: TypeAlias = Any
"""What Redis answers: bytes, int, None, or a list of these. Whoever asked knows which."""

BACKLOG_BYTES = 8 << 20
"""So much may wait for a server that does not read; then callers wait before they send."""
LINGERS = 32
"""So many replies in a row may come without a turn of the loop."""
_MORE = object()
NOT_SENT = object()
"""Instead of a reply: the command is still to be sent."""


_OF_A_SCRIPT = re.compile(
    r"ERR Error running script \(call to \w+\): (?:@user_script: ?\d+: )+-?([A-Z]{3,})\b"
)
"""How a server before 7.0 tells what a command inside a script was refused with."""


class ReplyError(Exception):
    """The server's refusal: its first word says which, or the first word of what a script was refused."""

    def __init__(self, text: str) -> None:
        # What follows is the beginning of the arguments, which may be anything, a password too.
        self.text = text.partition(", with args beginning with")[0]
        super().__init__(self.text)
        inside = _OF_A_SCRIPT.match(text)
        self.word = inside[1] if inside else text.partition(" ")[0]


class Lost(Exception):
    """The connection broke; `sent` says whether the server may have seen the command."""

    def __init__(self, why: str, *, sent: bool) -> None:
        super().__init__(why)
        self.why = why
        self.sent = sent


class Late(Exception):
    """No reply came in time; `sent` says whether the server may have seen the command."""

    def __init__(self, *, sent: bool) -> None:
        super().__init__("no reply in time")
        self.sent = sent


def packed(words: Sequence[Word]) -> bytes:
    """A command as it goes over the wire."""
    # Its stub forgets that the tuple may have any length.
    return cast("bytes", hiredis.pack_command(tuple(words)))  # type: ignore[arg-type]


def begun(words: Sequence[Word], more: int) -> bytes:
    """The beginning of a command, for many that begin alike: so many words are still to come."""
    return b"*%d\r\n" % (len(words) + more) + going_on(words)


def going_on(words: Sequence[Word]) -> bytes:
    """What follows a beginning."""
    return packed(words).partition(b"\n")[2]


class Wire(asyncio.Protocol):
    """A connection shared by all who ask; each question has its own end."""

    def __init__(self, *, in_flight_max: int, reply_bytes_max: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._in_flight_max = in_flight_max
        self._reply_bytes_max = reply_bytes_max
        self._reader = hiredis.Reader(replyError=ReplyError, notEnoughData=_MORE)
        self._transport: asyncio.Transport | None = None
        self._asked: deque[asyncio.Future[Reply]] = deque()
        self._leaving: list[bytes] = []
        """Asked in this turn of the loop; the last so many of `_asked`."""
        self._no_room: deque[asyncio.Future[None]] = deque()
        self._stuffed = False
        self._retired = False
        self._linger: Linger | None = None
        self._lingered = 0
        self._partial = 0
        self._heard_times = 0
        """Counted, because the clock of a loop may not tell two moments of a millisecond apart."""
        self._why = ""
        self._heard: Callable[[Reply], None] | None = None
        self.made_at = self.heard_at = self._loop.time()
        self.gone: asyncio.Future[None] = self._loop.create_future()
        """Done when the connection is closed, by whomever."""

    @property
    def is_usable(self) -> bool:
        """Whether a new question may go here."""
        return not self._retired and self._transport is not None and not self._transport.is_closing()

    # Asking ---------------------------------------------------------------------------------------

    async def ask(self, command: bytes, ends: float, *, linger: bool = False) -> Reply:
        """The reply, a refusal being one too; Late at `ends` (the loop's time), Lost if the wire breaks.

        `linger`: the command is small, and so is its reply, and somebody waits for nothing but that.
        """
        while self._stuffed or len(self._asked) >= self._in_flight_max:
            await self._room(ends)
        if not self.is_usable:
            raise Lost(self._why or "it was closed", sent=False)
        if self._loop.time() >= ends:
            raise Late(sent=False)
        if linger and (heard := self.at_once(command)) is not NOT_SENT:
            return await self.reply_to(heard, ends)
        if self._asked or self._leaving or self._transport is None:
            self._send(command)
        else:
            self._transport.write(command)
        return await self.reply_to(self._noted(), ends)

    def at_once(self, command: bytes) -> Reply:
        """The reply, where it may be looked out for and comes within a moment.

        Otherwise what `reply_to` waits by, or NOT_SENT: then nothing was done.
        """
        linger, transport = self._linger, self._transport
        if linger is None or transport is None or self._asked or self._leaving or self._retired:
            return NOT_SENT
        if self._stuffed or transport.is_closing() or not linger.is_worth_it():
            return NOT_SENT
        sent = 0 if transport.get_write_buffer_size() else linger.send(command)
        if sent < len(command):
            transport.write(command[sent:])
        elif (heard := linger.hear()) and (reply := self._hear(heard)) is not _MORE:
            return reply
        return self._noted()

    async def reply_to(self, reply: Reply, ends: float) -> Reply:
        """What `at_once` said, once it is there."""
        if not isinstance(reply, asyncio.Future):
            self._lingered += 1
            if self._lingered % LINGERS == 0:
                await asyncio.sleep(0)
            return reply
        timer = self._loop.call_at(ends, self._give_up, reply, self._heard_times)
        try:
            return await reply
        except asyncio.CancelledError:
            if reply.done() and not reply.cancelled():
                reply.exception()  # looked at, so that nobody complains about it
            raise
        finally:
            timer.cancel()
            if self._retired:
                self._close_if_idle()

    def tell(self, command: bytes) -> None:
        """Send without waiting; for a wire that only listens."""
        self._send(command)

    def listen(self, heard: Callable[[Reply], None]) -> None:
        """From now on everything that comes goes to `heard`."""
        self._heard = heard

    def retire(self) -> None:
        """Take no more questions; close when those under way have ended."""
        self._retired = True
        self._close_if_idle()

    def abort(self, why: str = "it was closed") -> None:
        """Close at once; every question under way is lost."""
        self._why = self._why or why
        self._retired = True
        if self._transport is not None:
            self._transport.abort()

    def _noted(self) -> asyncio.Future[Reply]:
        """Somebody waits for the reply to what was sent last."""
        reply: asyncio.Future[Reply] = self._loop.create_future()
        self._asked.append(reply)
        return reply

    def _hear(self, data: bytes) -> Reply:
        """The first reply of what came, which nobody is noted down for; _MORE if it is not whole."""
        self.heard_at = self._loop.time()
        self._heard_times += 1
        self._reader.feed(data)
        try:
            reply = self._reader.gets()
        except hiredis.ProtocolError as error:
            self.abort(f"it sends what is no reply ({error})")
            return _MORE
        if reply is _MORE:
            self._partial += len(data)
        elif self._reader.has_data():
            self.data_received(b"")
        return reply

    def _send(self, command: bytes) -> None:
        if not self._leaving:
            self._loop.call_soon(self._flush)
        self._leaving.append(command)

    def _flush(self) -> None:
        if self._transport is None or self._transport.is_closing():
            return  # connection_lost tells those who asked
        leaving, self._leaving = self._leaving, []
        self._transport.write(b"".join(leaving))

    def _give_up(self, reply: asyncio.Future[Reply], heard_times: int) -> None:
        if reply.done():
            return
        reply.set_exception(Late(sent=True))
        if self._heard_times == heard_times:
            # Nothing at all came since: whoever comes next shall not wait behind this silence as well.
            self._why = "it fell silent"
            self.retire()

    async def _room(self, ends: float) -> None:
        turn: asyncio.Future[None] = self._loop.create_future()
        self._no_room.append(turn)
        try:
            async with asyncio.timeout_at(ends):
                await turn
        except TimeoutError:
            raise Late(sent=False) from None
        finally:
            if turn in self._no_room:
                self._no_room.remove(turn)

    def _let_in(self) -> None:
        free = self._in_flight_max - len(self._asked)
        while self._no_room and free > 0 and not self._stuffed:
            turn = self._no_room.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1

    def _close_if_idle(self) -> None:
        if self._retired and self._transport is not None and all(reply.done() for reply in self._asked):
            self._transport.abort()

    # What the loop tells --------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=BACKLOG_BYTES)
        self._linger = linger_on(self._transport)

    def data_received(self, data: bytes) -> None:
        self.heard_at = self._loop.time()
        self._heard_times += 1
        self._partial += len(data)
        try:
            self._reader.feed(data)
            while (reply := self._reader.gets()) is not _MORE:
                self._partial = 0
                self._deliver(reply)
        except hiredis.ProtocolError as error:
            return self.abort(f"it sends what is no reply ({error})")
        if self._partial > self._reply_bytes_max:
            return self.abort(f"a reply is larger than {self._reply_bytes_max} bytes")
        if self._no_room:
            self._let_in()
        if self._retired:
            self._close_if_idle()
        return None

    def pause_writing(self) -> None:
        self._stuffed = True

    def resume_writing(self) -> None:
        self._stuffed = False
        self._let_in()

    def connection_lost(self, error: Exception | None) -> None:
        self._retired = True
        self._why = self._why or (f"{type(error).__name__}: {error}" if error else "the server closed it")
        unsent = len(self._leaving)
        sent = len(self._asked) - unsent
        for place, reply in enumerate(self._asked):
            if not reply.done():
                reply.set_exception(Lost(self._why, sent=place < sent))
        self._asked.clear()
        self._stuffed = False
        while self._no_room:
            turn = self._no_room.popleft()
            if not turn.done():
                turn.set_result(None)
        if not self.gone.done():
            self.gone.set_result(None)

    def _deliver(self, reply: Reply) -> None:
        if self._heard is not None:
            self._heard(reply)
        elif not self._asked:
            # A server without room for us says so before it is asked, and hangs up.
            self.abort(reply.text if isinstance(reply, ReplyError) else "it says what nobody asked for")
        else:
            asked = self._asked.popleft()
            if not asked.done():
                asked.set_result(reply)
