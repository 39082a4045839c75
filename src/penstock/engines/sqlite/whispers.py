"""Words of an answer on their way to other serving processes, past the database.

Whoever writes an answer keeps it in the message twice a second; that is enough for those who come later, and
too seldom for those who look on. A write for every few words would be one of the whole text each time. So the
words are sent as datagrams to each serving process of the data folder, where somebody looks on or nobody
does. Those that are lost are found in the message.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from pathlib import Path

import msgspec

from penstock.engines.sqlite.sockets import Sockets
from penstock.model.conversations import MessageDelta

SUFFIX = ".ear"
WORDS_BYTES_MAX = 60_000
AT_ONCE = 100
"""Datagrams read before others may use the loop."""

Heard = Callable[[str, MessageDelta], None]


class Whisper(msgspec.Struct, array_like=True, frozen=True):
    """Words, and the user they are for."""

    user: str
    delta: MessageDelta


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Whisper)


class Whispers:
    """Tells and hears on one event loop."""

    def __init__(self, folder: Path) -> None:
        self._sockets = Sockets(folder, SUFFIX)
        self._ear: tuple[asyncio.AbstractEventLoop, socket.socket] | None = None
        self._heard: Heard | None = None

    def tell(self, user: str, delta: MessageDelta) -> None:
        """To every other process that listens."""
        others = [name for name in self._sockets.names() if name != self._sockets.name]
        if others:
            data = _encoder.encode(Whisper(user, delta))
            for name in others if len(data) <= WORDS_BYTES_MAX else ():
                self._sockets.send(name, data)

    def hear(self, heard: Heard) -> None:
        """Call back with what others tell, from now until the end."""
        self._heard = heard
        ear = self._sockets.bind()
        if ear is not None and self._ear is None:
            loop = asyncio.get_running_loop()
            loop.add_reader(ear, self._read, ear)
            self._ear = (loop, ear)

    def close(self) -> None:
        """Neither tell nor hear any more; closing twice is closing once."""
        if self._ear is not None:
            loop, ear = self._ear
            if not loop.is_closed():
                loop.remove_reader(ear)
            self._ear = None
        self._sockets.close()

    def _read(self, ear: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            for _ in range(AT_ONCE):
                data = ear.recv(WORDS_BYTES_MAX + 1)
                with contextlib.suppress(msgspec.DecodeError):  # not one of ours
                    whisper = _decoder.decode(data)
                    if self._heard is not None:
                        self._heard(whisper.user, whisper.delta)
