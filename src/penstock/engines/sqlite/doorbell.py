"""Waking workers in other processes within a millisecond of a commit.

Every waiting process binds a datagram socket under the data folder; whoever commits new work sends each a
byte. A byte that does not fit means the sleeper has one already.
Rows written by raw SQL ring no bell: for them the database's change counter is looked at now and then, which
costs next to nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sqlite3
from pathlib import Path

from penstock.engines.sqlite.sockets import Sockets
from penstock.engines.sqlite.statements import sql

SUFFIX = ".bell"


class Doorbell:
    """Ring from any thread; wait on one event loop at a time."""

    def __init__(self, folder: Path, reader: sqlite3.Connection, poll_seconds: float) -> None:
        self._reader = reader
        self._poll_seconds = poll_seconds
        self._sockets = Sockets(folder, SUFFIX)
        self._listener: socket.socket | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._rung = False
        self._sleeper: asyncio.Future[bool] | None = None
        self._version: int | None = None
        self._closed = False

    def ring(self) -> None:
        """Tell every waiting process, this one included, that there may be work."""
        for name in self._sockets.names():
            self._sockets.send(name, b"!")

    async def wait(self, timeout: float) -> bool:
        """Wait for a ring or a change by raw SQL; False when the time ran out.

        Raises what the database says if it cannot be looked at: who waits must not wait for ever.
        """
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
            try:
                changed = self._changed()
            except sqlite3.Error as error:
                if not sleeper.done():
                    sleeper.set_exception(error)
                return
            if changed:
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
        if self._listener is not None and self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._listener)
        self._sockets.close()
        self._reader.close()

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        if self._listener is None:
            self._listener = self._sockets.bind()
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
        arrived = bool(self._reader.execute(sql("arrivals")).fetchone()[0])
        self._version = version  # a look that failed is made again
        return arrived


def _wake(sleeper: asyncio.Future[bool], *, found: bool) -> None:
    if not sleeper.done():
        sleeper.set_result(found)
