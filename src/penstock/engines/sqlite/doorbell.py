"""Waking workers in other processes within a millisecond of a commit.

Every waiting process binds a datagram socket under the data folder; whoever commits new work sends each a
byte. A byte that does not fit means the sleeper has one already; a socket nobody listens to is swept away.
Rows written by raw SQL ring no bell: for them the database's change counter is looked at now and then, which
costs next to nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import sqlite3
from pathlib import Path

from penstock.engines.sqlite.statements import sql

SUFFIX = ".bell"
_ADDRESS_MAX = 100
"""Bytes a socket's address may have everywhere; longer folders are reached through their descriptor."""


class Doorbell:
    """Ring from any thread; wait on one event loop at a time."""

    def __init__(self, folder: Path, reader: sqlite3.Connection, poll_seconds: float) -> None:
        self._folder = folder
        self._reader = reader
        self._poll_seconds = poll_seconds
        self._descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._sender = _datagram_socket()
        self._listener: socket.socket | None = None
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}"
        self._loop: asyncio.AbstractEventLoop | None = None
        self._rung = asyncio.Event()
        self._version: int | None = None
        self._closed = False

    def ring(self) -> None:
        """Tell every waiting process, this one included, that there may be work."""
        try:
            names = os.listdir(self._folder)
        except OSError:
            return  # somebody took the folder away; sleepers look for themselves
        for name in names:
            if name.endswith(SUFFIX):
                self._send(name)

    async def wait(self, timeout: float) -> bool:
        """Wait for a ring or a change by raw SQL; False when the time ran out."""
        self._listen()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        while (left := deadline - loop.time()) > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, self._poll_seconds)):
                    await self._rung.wait()
                self._rung.clear()
                return True
            if self._changed():
                return True
        return False

    def close(self) -> None:
        """Stop listening and take the socket away; closing twice is closing once."""
        if self._closed:
            return
        self._closed = True
        if self._listener is not None:
            if self._loop is not None and not self._loop.is_closed():
                self._loop.remove_reader(self._listener)
            self._listener.close()
            with contextlib.suppress(OSError):
                os.unlink(self._folder / self._name)
        self._sender.close()
        os.close(self._descriptor)
        self._reader.close()

    def _send(self, name: str) -> None:
        try:
            self._sender.sendto(b"!", self._address(name))
        except ConnectionRefusedError:
            with contextlib.suppress(OSError):
                os.unlink(self._folder / name)  # its process is gone
        except OSError:
            # It has a byte already, it left while we looked, it is another user's, or it is no socket at all.
            # A bell that cannot be rung costs its sleeper one look at the change counter, never us.
            return

    def _address(self, name: str) -> str:
        plain = str(self._folder / name)
        if len(plain.encode()) <= _ADDRESS_MAX:
            return plain
        return f"/proc/self/fd/{self._descriptor}/{name}"

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        if self._listener is None:
            self._listener = _bound_socket(self._address(self._name))
        if self._loop is not loop:
            self._loop = loop
            self._rung = asyncio.Event()
            if self._listener is not None:
                loop.add_reader(self._listener, self._heard)

    def _heard(self) -> None:
        if self._listener is not None:
            with contextlib.suppress(BlockingIOError):
                while True:
                    self._listener.recv(64)
        self._rung.set()

    def _changed(self) -> bool:
        version = self._reader.execute("PRAGMA data_version").fetchone()[0]
        if version == self._version:
            return False
        self._version = version
        return bool(self._reader.execute(sql("arrivals")).fetchone()[0])


def _bound_socket(address: str) -> socket.socket | None:
    """None where no socket can be bound: then the change counter alone tells of news."""
    made = _datagram_socket()
    try:
        made.bind(address)
    except OSError:
        made.close()
        return None
    return made


def _datagram_socket() -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.setblocking(False)
    return made
