"""What parent and child say to each other: frames of a length and a MessagePack value.

The parent trusts nothing a child says: a child that a file took over can at most give wrong texts for files
of the same owner until it is replaced, for it is given no others (R6). Every answer repeats the nonce of its
task, so that nothing said earlier is ever taken for the answer about a later file.
"""

from __future__ import annotations

import struct
from typing import Annotated

import msgspec

from penstock.model.parsed import Heading, Media, Page

FRAME_BYTES_MAX = 16 << 20
HEADER = struct.Struct(">I")
NAME_CHARS_MAX = 255
MESSAGE_CHARS_MAX = 2000

Words = Annotated[str, msgspec.Meta(max_length=MESSAGE_CHARS_MAX)]


class Task(msgspec.Struct, frozen=True, kw_only=True, tag="task"):
    """A file to read; its descriptor travels beside the frame."""

    nonce: str
    """Drawn for this task alone; every answer repeats it."""
    name: str
    lenient: bool
    seconds: float
    """Of a processor."""
    seconds_passed: float
    text_bytes: int
    pages: int
    unpacked_bytes: int


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag="ready"):
    """A child is shut in and waits for work."""

    landlock: int
    seccomp: bool
    unprivileged: bool
    resident_kib: int
    """The most memory it had so far, as the kernel counts it at the end."""


class Window(msgspec.Struct, frozen=True, kw_only=True, tag="window"):
    """The next stretch of the text."""

    nonce: Words
    text: str
    pages: tuple[Page, ...] = ()
    headings: tuple[Heading, ...] = ()
    cuts: tuple[int, ...] = ()


class End(msgspec.Struct, frozen=True, kw_only=True, tag="end"):
    """The file was read to its end."""

    nonce: Words
    media: Media
    title: Words | None = None
    language: Words | None = None
    notes: tuple[Words, ...] = ()
    resident_kib: int = 0


class Failure(msgspec.Struct, frozen=True, kw_only=True, tag="failure"):
    """The file was refused; a fatal failure ends the child as well."""

    code: Words
    message: Words
    nonce: Words = ""
    """Of the task; a child that cannot even start has none."""
    fatal: bool = False


class Born(msgspec.Struct, frozen=True, kw_only=True, tag="born"):
    """The nursery has made the child that was asked for."""

    pid: int


class Unborn(msgspec.Struct, frozen=True, kw_only=True, tag="unborn"):
    """It could not be made; the nursery itself cannot go on if `fatal`."""

    message: Words
    fatal: bool = False


class Gone(msgspec.Struct, frozen=True, kw_only=True, tag="gone"):
    """A child has ended: its exit code, or minus the signal that killed it, and the most memory it had."""

    pid: int
    code: int
    resident_kib: int


Said = Ready | Window | End | Failure
Told = Born | Unborn | Gone
"""What the nursery says, which reads no file."""

_encoder = msgspec.msgpack.Encoder()
_said: msgspec.msgpack.Decoder[Said] = msgspec.msgpack.Decoder(Said)
_told: msgspec.msgpack.Decoder[Told] = msgspec.msgpack.Decoder(Told)
_task = msgspec.msgpack.Decoder(Task)


def framed(message: Task | Said | Told) -> bytes:
    """A message as it goes over the wire."""
    body = _encoder.encode(message)
    return HEADER.pack(len(body)) + body


def said(body: bytes) -> Said:
    """What a child said; raises msgspec's error for nonsense."""
    return _said.decode(body)


def told(body: bytes) -> Told:
    """What the nursery said."""
    return _told.decode(body)


def task(body: bytes) -> Task:
    """What the parent asks."""
    return _task.decode(body)
