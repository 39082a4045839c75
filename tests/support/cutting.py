"""A TCP relay that loses what is said over it: all connections at once, a request half sent, a reply."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

CHUNK_BYTES = 65_536


class Cutter:
    """Relays to one port until told to cut; `address` is where clients go."""

    def __init__(self, port: int) -> None:
        self.address = ""
        self.cuts = 0
        """How often something was lost."""
        self.replies_to_lose = 0
        """The next so many replies do not arrive, though what was asked is done."""
        self.requests_to_break = 0
        """The next so many connections are reset once `broken_after` bytes were sent over them."""
        self.broken_after = 0
        self._port = port
        self._writers: set[asyncio.StreamWriter] = set()
        self._relays: set[asyncio.Task[None]] = set()

    async def ended(self) -> None:
        """Wait until no connection is relayed any more."""
        await asyncio.gather(*self._relays, return_exceptions=True)

    def cut(self) -> None:
        """Reset every connection there is."""
        self.cuts += 1
        for writer in list(self._writers):
            _reset(writer)

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        task = asyncio.current_task()
        assert task is not None
        self._relays.add(task)
        task.add_done_callback(self._relays.discard)
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        both = {writer, far_writer}
        self._writers |= both
        ways = [
            asyncio.create_task(self._requests(reader, far_writer, writer)),
            asyncio.create_task(self._replies(far_reader, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            self._writers -= both
            for each in both:
                _reset(each)

    async def _requests(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, near: asyncio.StreamWriter
    ) -> None:
        sent = 0
        while piece := await reader.read(CHUNK_BYTES):
            writer.write(piece)
            await writer.drain()
            sent += len(piece)
            if self.requests_to_break and sent > self.broken_after:
                self.requests_to_break -= 1
                self.cuts += 1
                return _reset(near)

    async def _replies(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(CHUNK_BYTES):
            if self.replies_to_lose:
                self.replies_to_lose -= 1
                self.cuts += 1
                return _reset(writer)
            writer.write(piece)
            await writer.drain()


@asynccontextmanager
async def a_cutter(port: int) -> AsyncIterator[Cutter]:
    """One before this port, gone at the end."""
    cutter = Cutter(port)
    server = await asyncio.start_server(cutter.converse, "127.0.0.1", 0)
    cutter.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield cutter
    finally:
        server.close()
        cutter.cut()
        await cutter.ended()


def _reset(writer: asyncio.StreamWriter) -> None:
    plug = writer.get_extra_info("socket")
    if plug is not None and plug.fileno() >= 0:
        with contextlib.suppress(OSError):
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
