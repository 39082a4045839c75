"""Datagram sockets under a data folder: whoever listens binds one, whoever tells sends to each.

What does not fit is dropped; a socket nobody listens to is swept away by whoever meets it. A byte or a word
lost costs its reader one look at the database, never a writer anything.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import time
from pathlib import Path

SETTLED_SECONDS = 1.0
"""A folder's time of change is coarse: a listing younger than this may miss the newest socket."""
_ADDRESS_MAX = 100
"""Bytes a socket's address may have everywhere; longer folders are reached through their descriptor."""


class Sockets:
    """All sockets of one kind, by the ending of their names; sends from any thread."""

    def __init__(self, folder: Path, suffix: str) -> None:
        self._folder = folder
        self._suffix = suffix
        self._descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._sender = _datagram_socket()
        self._bound: socket.socket | None = None
        self.name = f"{os.getpid()}-{secrets.token_hex(4)}{suffix}"
        """Of our own, once it is bound."""
        self._names: list[str] = []
        self._changed_at = 0.0
        self._closed = False

    def bind(self) -> socket.socket | None:
        """Our own socket; None where none can be bound: then only looking tells of news."""
        if self._bound is None:
            made = _datagram_socket()
            try:
                made.bind(self._address(self.name))
            except OSError:
                made.close()
                return None
            self._bound = made
        return self._bound

    def names(self) -> list[str]:
        """Who listens; read again only when the folder has changed, or may have a moment ago."""
        try:
            changed = os.stat(self._folder).st_mtime
            if changed != self._changed_at or time.time() - changed < SETTLED_SECONDS:
                self._names = [name for name in os.listdir(self._folder) if name.endswith(self._suffix)]
                self._changed_at = changed
        except OSError:
            return []  # somebody took the folder away; whoever waits looks for himself
        return self._names

    def send(self, name: str, data: bytes) -> None:
        """Tell one of them."""
        try:
            self._sender.sendto(data, self._address(name))
        except ConnectionRefusedError:
            with contextlib.suppress(OSError):
                os.unlink(self._folder / name)  # its process is gone
        except OSError:
            # It is full, it left while we looked, it is another user's, or it is no socket at all.
            return

    def close(self) -> None:
        """Stop listening and take our socket away; closing twice is closing once."""
        if self._closed:
            return
        self._closed = True
        if self._bound is not None:
            self._bound.close()
            with contextlib.suppress(OSError):
                os.unlink(self._folder / self.name)
        self._sender.close()
        os.close(self._descriptor)

    def _address(self, name: str) -> str:
        plain = str(self._folder / name)
        if len(plain.encode()) <= _ADDRESS_MAX:
            return plain
        return f"/proc/self/fd/{self._descriptor}/{name}"


def _datagram_socket() -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.setblocking(False)
    return made
