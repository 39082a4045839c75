"""Redis without a client library: one socket, one command at a time, as a program we did not write has it."""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Any, Self

import hiredis

from penstock.settings import RedisServer


class Bare:
    """Blocks while it waits; a refusal is raised as `hiredis.ReplyError`."""

    def __init__(self, server: RedisServer, *, timeout: float = 5.0) -> None:
        self._socket = socket.create_connection((server.host, server.port), timeout=timeout)
        self._reader = hiredis.Reader()
        try:
            if server.password is not None:
                self.call("AUTH", *filter(None, [server.username]), server.password.reveal())
            if server.db:
                self.call("SELECT", server.db)
        except BaseException:
            self.close()
            raise

    def call(self, *words: bytes | str | int) -> Any:
        """The reply to one command."""
        self._socket.sendall(hiredis.pack_command(words))  # type: ignore[arg-type]
        return self.said()

    def said(self) -> Any:
        """What the server says next; to MONITOR it goes on saying."""
        while (reply := self._reader.gets()) is False:
            data = self._socket.recv(65_536)
            if not data:
                raise ConnectionError("the server closed the connection")
            self._reader.feed(data)
        if isinstance(reply, hiredis.ReplyError):
            raise reply
        return reply

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
