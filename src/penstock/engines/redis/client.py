"""One client a process: everybody's commands on one connection, one deadline for all that an operation takes.

A command that was sent and not answered is not sent again, for it may have been done: the caller is told
that nobody knows. Only who says `again` gets it sent again, because doing it twice is doing it once. What
was certainly not done (never sent, or refused by a server that is starting or failing over) is tried again
for everybody until the deadline.
"""

from __future__ import annotations

import asyncio
import random
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from penstock.engines.redis.dialling import Limits, Server, dial, place_of
from penstock.engines.redis.faults import DEMOTED, PASSING, ScriptMissing, broken_off, fault_of, late
from penstock.engines.redis.listening import Listener, Wake
from penstock.engines.redis.protocol import (
    NOT_SENT,
    Late,
    Lost,
    Reply,
    ReplyError,
    Wire,
    Word,
    going_on,
    packed,
)
from penstock.engines.redis.reserve import Reserve
from penstock.engines.redis.scripts import Asked, Script
from penstock.engines.redis.watching import Watch
from penstock.model.errors import Fault, Refused, Unavailable
from penstock.ports.clock import Clock

PAUSE_SECONDS = 0.02
PAUSE_SECONDS_MAX = 0.5
TRY_SECONDS = 0.05
"""A try needs as long: one that ended with the deadline would hide why the others failed."""
DEMOTED_SECONDS = 1.0
"""A connection this young is not exchanged for another because its server cannot be written."""
STANDING = 2
"""The shared line and the one that listens; what else a client may have can block or wait in reserve."""
KNOCK_SECONDS = 1.0
"""A connection from the reserve that does not answer within this time is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How it stands between us and the server."""

    reached: bool
    since: float
    """When it came to stand so."""
    connections: int
    """How many were made so far by the shared line; more than one means that some broke."""


class Client:
    """Made by `connect`. Calls from another event loop of the process go by a connection of that loop's own.

    A worker's keeper has such a loop, so that a busy handler cannot keep it from renewing leases.
    """

    def __init__(self, server: Server, clock: Clock, limits: Limits, tls: ssl.SSLContext | None) -> None:
        self.where = place_of(server)
        self.limits = limits
        self._server, self._clock, self._tls = server, clock, tls
        self._loop = asyncio.get_running_loop()
        self._wire: Wire | None = None
        self._wires: set[Wire] = set()
        self._dialling: asyncio.Task[Wire] | None = None
        self._callers = 0
        self._trouble: Fault | None = None
        self._connections = 0
        self._changed = clock.now()
        self._listener: Listener | None = None
        spare = max(1, limits.connections_max - STANDING)
        self._reserve = Reserve(self._dialled_once, min(limits.idle_min, spare))
        self._blocked = asyncio.Semaphore(spare)
        self._closed = False
        self._elsewhere: dict[asyncio.AbstractEventLoop, Client] = {}

    @property
    def standing(self) -> Standing:
        """Whether the shared line is up, and since when it is or is not."""
        up = self._wire is not None and self._wire.is_usable
        return Standing(reached=up, since=self._changed, connections=self._connections)

    # Asking ---------------------------------------------------------------------------------------

    async def call(self, *words: Word, deadline: float | None = None, again: bool = False) -> Reply:
        """The reply to a command within `deadline` seconds; `again`: doing it twice is doing it once."""
        if (here := self._here()) is not self:
            return await here.call(*words, deadline=deadline, again=again)
        return await self._operate(packed(words), str(words[0]), self._end(deadline), again=again)

    async def run(
        self,
        script: Script,
        *,
        keys: Sequence[Word] = (),
        args: Sequence[Word] = (),
        deadline: float | None = None,
        again: bool = False,
    ) -> Reply:
        """What a script returns; a server that does not know it yet is sent its text."""
        if (here := self._here()) is not self:
            return await here.run(script, keys=keys, args=args, deadline=deadline, again=again)
        ends = self._end(deadline)
        given = (len(keys), *keys, *args)
        try:
            command = packed(("EVALSHA", script.digest, *given))
            return await self._operate(command, script.name, ends, again=again)
        except ScriptMissing:
            command = packed(("EVAL", script.text, *given))
            return await self._operate(command, script.name, ends, again=again)

    async def run_quick(self, asked: Asked, args: Sequence[Word]) -> Reply:
        """The same of a script that is quickly done, may be sent again, and is all its caller waits for."""
        if (here := self._here()) is not self:
            return await here.run_quick(asked, args)
        command = asked.begun + going_on(args)
        heard = NOT_SENT if self._wire is None else self._wire.at_once(command)
        try:
            return await self._operate(command, asked.script.name, self._end(None), again=True, heard=heard)
        except ScriptMissing:
            return await self.run(asked.script, keys=asked.keys, args=(*asked.args, *args), again=True)

    async def block(self, *words: Word, deadline: float) -> Reply:
        """The reply to a command that blocks on the server, on a connection of its own.

        It is never sent again. Leaving early closes the connection, so the server forgets the wait.
        """
        ends = self._end(deadline)
        try:
            async with asyncio.timeout_at(ends), self._blocked:
                wire = await self._spare(ends)
                try:
                    reply = await wire.ask(packed(words), ends)
                except BaseException:
                    wire.abort()
                    raise
        except (TimeoutError, Late) as error:
            raise late(self.where, deadline, sent=True) from error
        except Lost as error:
            raise broken_off(self.where, error.why, sent=error.sent) from error
        self._reserve.give(wire)
        if isinstance(reply, ReplyError):
            raise fault_of(reply, self.where, str(words[0]))
        return reply

    def subscribe(self, channel: Word) -> Wake:
        """A bell that rings for what is published there, and after every gap in listening."""
        if self._closed:
            raise self._gone()
        return self._listening().subscribe(channel)

    def watch(self, keys: Sequence[Word], changed: Callable[[], None]) -> Watch:
        """Be told of changes to keys; to be asked for before the first subscription."""
        watch = Watch(keys, changed)
        self._listening().watch(watch)
        return watch

    def watch_others(self, keys: Sequence[Word]) -> None:
        """Be told of changes to these keys instead; nothing happens where nobody watches."""
        if self._listener is not None:
            self._listener.watch_others(keys)

    # Life -----------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Reach the server once; a Fault tells why not, Refused if another try cannot help."""
        try:
            self._take(await self._dialled_once())
        except Unavailable as fault:
            if fault.code == "ERR_STORE_SIGN_IN":
                # Later the outside may recover from it; at the start somebody has to look.
                raise Refused(fault.message, code=fault.code) from fault
            raise

    async def close(self) -> None:
        """End every connection; what is under way is lost. Closing twice is closing once."""
        self._closed = True
        if self._listener is not None:
            await self._listener.close()
        await self._reserve.close()
        if self._dialling is not None:
            self._dialling.cancel()
            await asyncio.gather(self._dialling, return_exceptions=True)
        wires = list(self._wires)
        for wire in wires:
            wire.abort()
        await asyncio.gather(*(wire.gone for wire in wires))
        for loop, other in self._elsewhere.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(other.abandon)
        self._elsewhere.clear()

    def abandon(self) -> None:
        """Drop every connection at once; to be called on the client's own loop."""
        self._closed = True
        for wire in list(self._wires):
            wire.abort()

    # One operation --------------------------------------------------------------------------------

    def _here(self) -> Client:
        """The client of the running loop."""
        loop = asyncio.get_running_loop()
        if loop is self._loop:
            return self
        other = self._elsewhere.get(loop)
        if other is None:
            if self._closed:
                raise self._gone()
            self._elsewhere = {each: made for each, made in self._elsewhere.items() if not each.is_closed()}
            alone = replace(self.limits, idle_min=0)
            other = self._elsewhere[loop] = Client(self._server, self._clock, alone, self._tls)
        return other

    def _end(self, seconds: float | None) -> float:
        return self._loop.time() + (self.limits.operation_seconds if seconds is None else seconds)

    async def _operate(
        self, command: bytes, what: str, ends: float, *, again: bool, heard: Reply = NOT_SENT
    ) -> Reply:
        """`heard` is what the shared line said at once."""
        began = self._loop.time()
        tries = resends = 0
        while True:
            wire = self._wire
            try:
                if wire is not None and heard is not NOT_SENT:
                    said, heard = heard, NOT_SENT
                    reply = await wire.reply_to(said, ends)
                else:
                    if wire is None or not wire.is_usable:
                        wire = await self._dialled(ends)
                    reply = await wire.ask(command, ends)
            except Late as error:
                raise late(self.where, self._loop.time() - began, sent=error.sent or resends > 0) from error
            except Lost as error:
                fault: Fault = broken_off(self.where, error.why, sent=error.sent or resends > 0)
                fault.__cause__ = error
                if error.sent and (not again or resends >= self.limits.resends_max):
                    raise fault from error
                resends += error.sent
            else:
                if not isinstance(reply, ReplyError):
                    return reply
                fault = fault_of(reply, self.where, what)
                if reply.word not in PASSING:
                    raise fault
                if reply.word in DEMOTED and self._loop.time() - wire.made_at > DEMOTED_SECONDS:
                    wire.retire()
            await self._pause(tries, ends, fault)
            tries += 1

    async def _pause(self, tries: int, ends: float, fault: Fault) -> None:
        """Wait a little before the next try; the fault itself if there is no time for one."""
        pause = _pause_after(tries)
        if self._loop.time() + pause + TRY_SECONDS >= ends:
            raise fault
        await asyncio.sleep(pause)

    def _listening(self) -> Listener:
        if self._listener is None:
            self._listener = Listener(self._dialled_once)
        return self._listener

    # Connecting -----------------------------------------------------------------------------------

    async def _dialled(self, ends: float) -> Wire:
        """The shared line, made by one task for all who wait for it."""
        if self._closed:
            raise self._gone()
        began = self._loop.time()
        if self._dialling is None or self._dialling.done():
            self._dialling = asyncio.create_task(self._dial_on(), name="redis-dial")
            self._dialling.add_done_callback(_looked_at)
        self._callers += 1
        try:
            async with asyncio.timeout_at(ends):
                return await asyncio.shield(self._dialling)
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if self._dialling.cancelled() and caller is not None and not caller.cancelling():
                raise self._gone() from None  # the client was closed; nobody cancelled the caller
            raise
        except TimeoutError:
            raise self._trouble or late(self.where, self._loop.time() - began, sent=False) from None
        finally:
            self._callers -= 1

    def _gone(self) -> Unavailable:
        return Unavailable(f"the connection to {self.where} was closed", code="ERR_STORE_UNAVAILABLE")

    async def _dial_on(self) -> Wire:
        """Dial until it succeeds, another try cannot help, or nobody waits any more."""
        self._lost()
        tries = 0
        while True:
            try:
                return self._take(await self._kept_ready() or await self._dialled_once())
            except Unavailable as fault:
                self._trouble = fault
                if not self._callers or fault.code == "ERR_STORE_SIGN_IN":
                    raise
            await asyncio.sleep(_pause_after(tries))
            tries += 1

    async def _kept_ready(self) -> Wire | None:
        """One from the reserve that still answers."""
        while (wire := self._reserve.take()) is not None:
            try:
                await wire.ask(packed(("PING",)), self._loop.time() + KNOCK_SECONDS)
            except (Late, Lost):
                wire.abort()
            else:
                return wire
        return None

    async def _spare(self, ends: float) -> Wire:
        """A connection nobody else uses."""
        tries = 0
        while True:
            if (wire := self._reserve.take()) is not None:
                return wire
            try:
                return await self._dialled_once()
            except Unavailable as fault:
                if self._closed or fault.code == "ERR_STORE_SIGN_IN":
                    raise
                await self._pause(tries, ends, fault)
                tries += 1

    async def _dialled_once(self) -> Wire:
        return self._keep(await dial(self._server, self.limits, self._tls))

    def _keep(self, wire: Wire) -> Wire:
        """Remember it until it is gone, so that closing the client leaves none behind."""
        self._wires.add(wire)
        wire.gone.add_done_callback(lambda _: self._wires.discard(wire))
        if self._closed:
            wire.abort()
        return wire

    def _take(self, wire: Wire) -> Wire:
        self._wire = wire
        self._trouble = None
        self._connections += 1
        self._changed = self._clock.now()
        wire.gone.add_done_callback(lambda _: self._lost())
        self._reserve.fill()
        return wire

    def _lost(self) -> None:
        if self._wire is not None and not self._wire.is_usable:
            self._wire = None
            self._changed = self._clock.now()


@asynccontextmanager
async def connect(
    server: Server,
    clock: Clock,
    *,
    limits: Limits | None = None,
    tls: ssl.SSLContext | None = None,
    patient: bool = False,
) -> AsyncIterator[Client]:
    """A client that has reached the server once; closed at the end. `tls` replaces the system's trust.

    `patient` has one also of a server that cannot be reached now.
    """
    client = Client(server, clock, limits or Limits(), tls)
    try:
        try:
            await client.open()
        except Unavailable:
            if not patient:
                raise
        yield client
    finally:
        await client.close()


def _pause_after(tries: int) -> float:
    """Longer with every try, and never the same for two."""
    longest = min(PAUSE_SECONDS * (1 << min(tries, 10)), PAUSE_SECONDS_MAX)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311  # spread, no secret


def _looked_at(task: asyncio.Task[Wire]) -> None:
    """Whoever waited has left with the same trouble; nobody need complain once more."""
    if not task.cancelled():
        task.exception()
