"""Files on their way to the server: a form written piece by piece, so that no file is held in memory."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import msgspec

PIECE_BYTES = 256 * 1024

Sendable = str | os.PathLike[str] | tuple[str, bytes | BinaryIO | AsyncIterable[bytes]]
"""A file by its path, or a name with bytes, an open binary file or a stream of pieces."""
Progress = Callable[[int], object]
"""Told how many bytes more were sent; fewer than none where a line broke and they are sent again."""


class Form:
    """Some files for one collection, in the shape forms have."""

    def __init__(
        self,
        collection: str,
        files: Sequence[Sendable],
        metadata: Mapping[str, object] | None,
        progress: Progress = lambda _: None,
        wishes: Mapping[str, object] | None = None,
    ) -> None:
        """`wishes` are further fields, each a number or whether it is so.

        OSError where a path cannot be looked at: before anything is sent.
        """
        self._boundary = uuid.uuid4().hex
        self._fields = {"collection": collection}
        if metadata:
            self._fields["metadata"] = msgspec.json.encode(metadata).decode()
        for name, value in (wishes or {}).items():
            self._fields[name] = msgspec.json.encode(value).decode()
        self._files = list(files)
        for each in files:
            if not isinstance(each, tuple):
                os.stat(each)
        self._progress = progress
        self._began = False
        self._sent = 0

    @property
    def content_type(self) -> str:
        """What the form says of itself."""
        return f"multipart/form-data; boundary={self._boundary}"

    @property
    def is_spent(self) -> bool:
        """Whether it cannot be written again: a stream of it was begun, which can be read only once."""
        return self._began and any(
            isinstance(each, tuple) and not isinstance(each[1], bytes) for each in self._files
        )

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The form from its beginning."""
        self._began = True
        if self._sent:
            self._tell(-self._sent)
        for name, value in self._fields.items():
            yield self._head(f'name="{name}"') + value.encode() + b"\r\n"
        for each in self._files:
            # The name is written so that no character of it can end it.
            yield self._head(f"name=\"files\"; filename*=UTF-8''{quote(_name(each), safe='')}")
            async for piece in _bytes(each):
                yield piece
                self._tell(len(piece))
            yield b"\r\n"
        yield f"--{self._boundary}--\r\n".encode()

    def _tell(self, more: int) -> None:
        self._sent += more
        self._progress(more)

    def _head(self, said: str) -> bytes:
        return f"--{self._boundary}\r\nContent-Disposition: form-data; {said}\r\n\r\n".encode()


def _name(each: Sendable) -> str:
    return each[0] if isinstance(each, tuple) else os.path.basename(os.fspath(each))


async def _bytes(each: Sendable) -> AsyncIterator[bytes]:
    if not isinstance(each, tuple):
        opened = await asyncio.to_thread(Path(each).open, "rb")
        with opened:
            async for piece in _read(opened):
                yield piece
        return
    match each[1]:
        case bytes() as whole:
            yield whole
        case AsyncIterable() as stream:
            async for piece in stream:
                yield piece
        case file:
            async for piece in _read(file):
                yield piece


async def _read(file: BinaryIO) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
        yield piece
