"""A form of files that is sent piece by piece, over a bare connection."""

from __future__ import annotations

import contextlib
import json
import select
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager

from tests.support.command_line import PATIENCE
from tests.support.person import BOUNDARY, Person
from tests.support.raw_socket import Message

PIECE = b"water " * 2_000


class Sending:
    """A form on its way, of which the sender decides when to go on."""

    def __init__(self, raw: socket.socket, person: Person, name: str, pieces: int, key: str = "") -> None:
        head = (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="collection"\r\n\r\npapers\r\n'
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n'
            f"Content-Length: {pieces * len(PIECE)}\r\n\r\n"
        ).encode()
        self._end = f"\r\n--{BOUNDARY}--\r\n".encode()
        length = len(head) + pieces * len(PIECE) + len(self._end)
        repeatable = f"Idempotency-Key: {key}\r\n" if key else ""
        self._raw = raw
        raw.sendall(
            f"POST /api{person.at}/documents HTTP/1.1\r\nHost: {person.served.host}\r\n{repeatable}"
            f"Authorization: Bearer {person.token}\r\nContent-Length: {length}\r\n"
            f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n\r\n".encode()
            + head
        )

    def send(self, pieces: int = 1) -> None:
        self._raw.sendall(PIECE * pieces)

    def drip(self) -> None:
        """One byte, unless the other end has had enough."""
        with contextlib.suppress(OSError):
            self._raw.sendall(b".")

    def is_answered(self, seconds: float) -> bool:
        """Whether there is something to read, within a time."""
        return bool(select.select([self._raw], [], [], seconds)[0])

    def finish(self) -> dict[str, object]:
        """The end of the form; what was accepted."""
        self._raw.sendall(self._end)
        return self.answer(202)["items"][0]  # type: ignore[no-any-return]

    def answer(self, status: int) -> Message:
        told = b""
        while b"\r\n\r\n" not in told or len(told.partition(b"\r\n\r\n")[2]) < _length(told):
            piece = self._raw.recv(65536)
            assert piece, told
            told += piece
        assert told.startswith(f"HTTP/1.1 {status} ".encode()), told
        said: Message = json.loads(told.partition(b"\r\n\r\n")[2])
        return said


def _length(told: bytes) -> int:
    for line in told.partition(b"\r\n\r\n")[0].lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    raise AssertionError(told)


@contextmanager
def sending(person: Person, name: str, pieces: int = 4, key: str = "") -> Iterator[Sending]:
    with closing(socket.create_connection(("127.0.0.1", person.served.port), timeout=PATIENCE)) as raw:
        yield Sending(raw, person, name, pieces, key)
