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
import time
from pathlib import Path

from penstock.engines.sqlite.statements import sql

SUFFIX = ".bell"
SETTLED_SECONDS = 1.0
"""A folder's time of change is coarse: a listing younger than this may miss the newest bell."""
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
        self._rung = False
        self._sleeper: asyncio.Future[bool] | None = None
        self._version: int | None = None
        self._closed = False
        self._names: list[str] = []
        self._changed_at = 0.0

    def ring(self) -> None:
        """Tell every waiting process, this one included, that there may be work."""
        for name in self._sleepers():
            self._send(name)

    async def wait(self, timeout: float) -> bool:
        """Wait for a ring or a change by raw SQL; False when the time ran out."""
        self._listen()
        if self._rung:
            self._rung = False
            return True
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        sleeper: asyncio.Future[bool] = loop.create_future()
        self._sleeper = sleeper
        timer: asyncio.TimerHandle

        def look() -> None:
            nonlocal timer
            if self._changed():
                _wake(sleeper, found=True)
            elif loop.time() >= deadline:
                _wake(sleeper, found=False)
            else:
                timer = loop.call_later(min(self._poll_seconds, max(0.0, deadline - loop.time())), look)

        timer = loop.call_later(min(self._poll_seconds, timeout), look)
        try:
            return await sleeper
        finally:
            timer.cancel()
            self._sleeper = None

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

    def _sleepers(self) -> list[str]:
        """Whose bells hang here; read again only when the folder has changed, or may have a moment ago."""
        try:
            changed = os.stat(self._folder).st_mtime
            if changed != self._changed_at or time.time() - changed < SETTLED_SECONDS:
                self._names = [name for name in os.listdir(self._folder) if name.endswith(SUFFIX)]
                self._changed_at = changed
        except OSError:
            return []  # somebody took the folder away; sleepers look for themselves
        return self._names

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
            if self._listener is not None:
                loop.add_reader(self._listener, self._heard)

    def _heard(self) -> None:
        if self._listener is not None:
            with contextlib.suppress(BlockingIOError):
                while True:
                    self._listener.recv(64)
        if self._sleeper is None or self._sleeper.done():
            self._rung = True  # for the next one who comes to wait
        else:
            _wake(self._sleeper, found=True)

    def version(self) -> int:
        """The database's change counter: as long as it is the same, nobody has written."""
        return int(self._reader.execute("PRAGMA data_version").fetchone()[0])

    def _changed(self) -> bool:
        version = self.version()
        if version == self._version:
            return False
        self._version = version
        return bool(self._reader.execute(sql("arrivals")).fetchone()[0])


def _wake(sleeper: asyncio.Future[bool], *, found: bool) -> None:
    if not sleeper.done():
        sleeper.set_result(found)


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
