"""A TCP relay before a Redis server that does what networks do: delays, freezes, resets, loses what was said.

It reads along on both sides, so a test can say "lose the reply to the second EVALSHA" and mean exactly that.
Nothing is ever lost from the middle of a connection: TCP does not do that, it loses the rest.
"""

from __future__ import annotations

import asyncio
import random
import socket
import ssl
import struct
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum

CHUNK_BYTES = 65_536
_Sift = Callable[[bytes], bool]


class Loss(StrEnum):
    """How something is lost; the connection never recovers from it."""

    REQUEST = "request"
    """The command does not arrive; the connection is reset."""
    REPLY = "reply"
    """The server does what was asked; the connection is reset before the reply."""
    SILENCE = "silence"
    """The server does what was asked; the connection stays, and nothing comes over it any more."""


@dataclass(slots=True, eq=False)
class Strike:
    """One loss to come: at the n-th command of this name from now on; any command if it has none."""

    word: bytes | None
    nth: int
    loss: Loss
    done: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it has happened."""


class Proxy:
    """Relays to one server until told otherwise; `port` is where clients go."""

    def __init__(self, host: str, port: int, *, seed: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self.port = 0
        self._tls = tls
        self.delay_seconds = 0.0
        """Added to every piece, in each direction."""
        self.reset_share = 0.0
        """The share of commands at which the connection is reset, before or after the server did it."""
        self.commands: Counter[bytes] = Counter()
        """How often each command came by."""
        self._target = (host, port)
        self._chance = random.Random(seed)
        self._strikes: list[Strike] = []
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._relays: set[_Relay] = set()
        self._server: asyncio.Server | None = None

    @property
    def connections(self) -> int:
        """Connections now relayed."""
        return len(self._relays)

    def lose(self, word: bytes | None = None, *, nth: int = 1, loss: Loss = Loss.REPLY) -> Strike:
        """Lose the n-th such command from now on, or its reply."""
        strike = Strike(word, nth, loss)
        self._strikes.append(strike)
        return strike

    def pardon(self) -> None:
        """Lose nothing that was to be lost and has not come by."""
        self._strikes.clear()

    def lead_to(self, host: str, port: int) -> None:
        """Send new connections to another server."""
        self._target = (host, port)

    def freeze(self) -> None:
        """Relay nothing; connections stay, new ones are taken and get no answer."""
        self._flowing.clear()

    def thaw(self) -> None:
        """Go on where it stopped."""
        self._flowing.set()

    def reset(self) -> None:
        """Reset every connection there is."""
        for relay in list(self._relays):
            relay.reset()

    async def open(self, port: int = 0) -> None:
        """Listen, on the same port as before if there was one."""
        self._server = await asyncio.start_server(
            self._converse, "127.0.0.1", port or self.port, ssl=self._tls
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening, so that clients are refused, and reset what is there."""
        if self._server is not None:
            self._server.close()
        relays = list(self._relays)
        for relay in relays:
            relay.reset()
        await asyncio.gather(*(relay.ended.wait() for relay in relays))

    def strike_at(self, word: bytes) -> Strike | None:
        """Whether this command is hit, and how."""
        self.commands[word] += 1
        for strike in self._strikes:
            if strike.word in (None, word):
                strike.nth -= 1
                if strike.nth == 0:
                    self._strikes.remove(strike)
                    return strike
        if self.reset_share and self._chance.random() < self.reset_share:
            return Strike(word, 0, self._chance.choice([Loss.REQUEST, Loss.REPLY]))
        return None

    async def pass_on(self, due: float) -> None:
        """Wait until a piece that came may go on."""
        late = due - asyncio.get_running_loop().time()
        if late > 0:
            await asyncio.sleep(late)
        await self._flowing.wait()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(*self._target)
        except OSError:
            _reset(writer)
            return
        relay = _Relay(self, reader, writer, far_reader, far_writer)
        self._relays.add(relay)
        try:
            await relay.run()
        finally:
            self._relays.discard(relay)


class _Relay:
    """One client's connection and the one to the server that belongs to it."""

    def __init__(
        self,
        proxy: Proxy,
        near_reader: asyncio.StreamReader,
        near_writer: asyncio.StreamWriter,
        far_reader: asyncio.StreamReader,
        far_writer: asyncio.StreamWriter,
    ) -> None:
        self.ended = asyncio.Event()
        self._proxy = proxy
        self._near, self._far = near_writer, far_writer
        self._readers = (near_reader, far_reader)
        self._asked: deque[Strike | None] = deque()
        self._listens = False
        """A subscribed connection: what comes over it answers nothing."""
        self._hushed = False

    async def run(self) -> None:
        near, far = self._readers
        ways = [
            asyncio.create_task(self._carry(near, self._far, self._requests)),
            asyncio.create_task(self._carry(far, self._near, self._replies)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            self.reset()
            for writer in (self._near, self._far):
                with suppress(OSError):
                    await writer.wait_closed()
            self.ended.set()

    def reset(self) -> None:
        _reset(self._near)
        _reset(self._far)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, sift: _Sift) -> None:
        """Read at once, pass on when due: a delay is a distance, not a slower line."""
        loop = asyncio.get_running_loop()
        coming: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            held = b""
            while True:
                due, piece = await coming.get()
                await self._proxy.pass_on(due)
                held += piece
                while held and (size := length_of(held)):
                    message, held = held[:size], held[size:]
                    if not sift(message):
                        writer.write(message)
                await writer.drain()

        delivery = asyncio.create_task(deliver())
        try:
            while piece := await reader.read(CHUNK_BYTES):
                coming.put_nowait((loop.time() + self._proxy.delay_seconds, piece))
                if delivery.done():
                    break
        except OSError:
            pass
        finally:
            delivery.cancel()
            await asyncio.gather(delivery, return_exceptions=True)

    def _requests(self, message: bytes) -> bool:
        """Whether a command is swallowed."""
        word = message.split(b"\r\n", 3)[2].upper()
        self._listens = self._listens or word == b"SUBSCRIBE"
        strike = self._proxy.strike_at(word)
        if strike is not None and strike.loss is Loss.REQUEST:
            strike.done.set()
            self.reset()
            return True
        self._asked.append(strike)
        return False

    def _replies(self, message: bytes) -> bool:
        """Whether a reply is swallowed."""
        strike = None if self._listens or not self._asked else self._asked.popleft()
        if strike is not None:
            strike.done.set()
            if strike.loss is Loss.SILENCE:
                self._hushed = True
            else:
                self.reset()
                return True
        return self._hushed


@asynccontextmanager
async def a_proxy(
    host: str, port: int, *, seed: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Proxy]:
    """One before the server at this address, gone at the end with every connection; it may speak TLS."""
    proxy = Proxy(host, port, seed=seed, tls=tls)
    await proxy.open()
    try:
        yield proxy
    finally:
        proxy.thaw()
        await proxy.close()


def length_of(data: bytes, start: int = 0) -> int:
    """Bytes of the first whole message of RESP at `start`; 0 if it is not all there yet."""
    end = data.find(b"\r\n", start)
    if end < 0:
        return 0
    kind, size = data[start : start + 1], end + 2
    if kind in b"$!=" and (count := int(data[start + 1 : end])) >= 0:
        size += count + 2
    elif kind in b"*~>%":
        parts = max(0, int(data[start + 1 : end])) * (2 if kind == b"%" else 1)
        for _ in range(parts):
            inner = length_of(data, size)
            if not inner:
                return 0
            size += inner
    return size - start if size <= len(data) else 0


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST: what was not delivered is gone, and the other side hears an error."""
    plug = writer.get_extra_info("socket")
    if plug is not None and plug.fileno() >= 0:
        with suppress(OSError):
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
