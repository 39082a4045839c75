"""Forms with files, read as they come: no part is gathered in memory or on disk before it is asked for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from email.message import Message
from typing import cast

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser
from starlette.requests import Request

from penstock.model.errors import Refused

HEAD_BYTES_MAX = 16 * 1024
FIELD_BYTES_MAX = 256 * 1024
PARTS_MAX = 200
DIGITS_MAX = 19
BOUNDARY_CHARACTERS_MAX = 70
CHARSETS = frozenset({"utf-8", "iso-8859-1", "us-ascii"})
"""What a name may say it is written in (RFC 5987); Python knows codecs nobody should be able to ask for."""


@dataclass(slots=True)
class _Head:
    """The head of a part while it is read."""

    size: int = 0
    name: bytes = b""
    value: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class Part:
    """One part of a form; its pieces must be read before the next part is asked for."""

    def __init__(self, head: _Head, pieces: AsyncGenerator[bytes, None]) -> None:
        told = head.headers.get("content-disposition", "")
        self.name = _parameter(told, "name") or ""
        self.filename = _parameter(told, "filename")
        self.pieces = pieces
        self.size = _number(head.headers.get("content-length", ""))
        """How long it says it is; most do not say, and a form does not tell where its next part begins."""

    async def text(self) -> str:
        """A short field's value."""
        value = b""
        async for piece in self.pieces:
            value += piece
            if len(value) > FIELD_BYTES_MAX:
                raise Refused(
                    f"the field {self.name!r} has more than {FIELD_BYTES_MAX:,} bytes",
                    code="ERR_PAYLOAD_TOO_LARGE",
                )
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise _misshapen(f"the field {self.name!r} is no UTF-8") from None


async def parts_of(request: Request) -> AsyncIterator[Part]:
    """The parts of a request's form, one after another."""
    async with aclosing(_events(request)) as events:
        count = 0
        async for event in events:
            if isinstance(event, _Head):
                count += 1
                if count > PARTS_MAX:
                    raise _misshapen(f"a form has at most {PARTS_MAX} parts")
                pieces = _pieces(events)
                yield Part(event, pieces)
                async for _ in pieces:  # whatever was not read
                    pass


async def _pieces(events: AsyncGenerator[_Head | bytes | None, None]) -> AsyncGenerator[bytes, None]:
    async for event in events:
        if not isinstance(event, bytes):
            return
        yield event


async def _events(request: Request) -> AsyncGenerator[_Head | bytes | None, None]:
    """Heads of parts, their bytes, and None where a part ends."""
    told = request.headers.get("content-type", "")
    boundary = _parameter(told, "boundary")
    if told.partition(";")[0].strip().lower() != "multipart/form-data" or boundary is None:
        raise Refused("send files as multipart/form-data", code="ERR_MEDIA_TYPE")
    if not (boundary.isascii() and 1 <= len(boundary) <= BOUNDARY_CHARACTERS_MAX):
        raise _misshapen(f"a form's boundary has 1 to {BOUNDARY_CHARACTERS_MAX} ASCII characters")
    reading = _Reading(boundary)
    try:
        async for chunk in request.stream():
            for event in reading.take(chunk):
                yield event
        reading.end()
    except FormParserError:
        raise _misshapen("the form cannot be read") from None


class _Reading:
    """A form on its way through the parser."""

    def __init__(self, boundary: str) -> None:
        self._happened: list[_Head | bytes | None] = []
        self._head = _Head()
        self._ended = False
        self._parser = MultipartParser(
            boundary.encode("ascii"),
            {
                "on_part_begin": self._begin,
                "on_header_field": self._header_field,
                "on_header_value": self._header_value,
                "on_header_end": self._header_end,
                "on_headers_finished": self._headers_finished,
                "on_part_data": self._part_data,
                "on_part_end": lambda: self._happened.append(None),
                "on_end": self._finish,
            },
        )

    def take(self, chunk: bytes) -> list[_Head | bytes | None]:
        """What the next bytes of the form bring."""
        self._happened = []
        self._parser.write(chunk)
        return self._happened

    def end(self) -> None:
        """There are no more; Refused where there should be."""
        self._parser.finalize()
        if not self._ended:
            raise _misshapen("the form ends too early")

    def _begin(self) -> None:
        self._head = _Head()

    def _grow(self, data: bytes, start: int, end: int) -> bytes:
        self._head.size += end - start
        if self._head.size > HEAD_BYTES_MAX:
            raise _misshapen("the head of a part is too long")
        return data[start:end]

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._head.name += self._grow(data, start, end)

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._head.value += self._grow(data, start, end)

    def _header_end(self) -> None:
        head = self._head
        head.headers[head.name.decode("latin-1").lower()] = head.value.decode(errors="replace")
        head.name = head.value = b""

    def _headers_finished(self) -> None:
        self._happened.append(self._head)

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        self._happened.append(data[start:end])

    def _finish(self) -> None:
        self._ended = True


_Value = str | tuple[str | None, str, str]
"""Of a parameter: its text, or its charset, its language and its text."""


def _parameter(header: str, name: str) -> str | None:
    """A parameter of a header, as it is or with a charset before it (RFC 5987); Refused if it is neither.

    Where it stands in both ways the one with the charset counts: the other is for those who cannot read it.
    """
    told = Message()
    told["content-disposition"] = header
    try:
        # The library's types say texts alone; one with a charset is a tuple.
        given = cast("list[tuple[str, _Value]]", told.get_params([], header="content-disposition"))
        found = [value for key, value in given if key.lower() == name]
        value = next((each for each in found if isinstance(each, tuple)), found[0] if found else None)
        if not isinstance(value, tuple):
            return value
        charset, _, text = value
        if charset is None or charset.lower() not in CHARSETS:
            raise ValueError(charset)
        return text.encode("latin-1").decode(charset)
    except ValueError:
        raise _misshapen(f"the {name} in a header cannot be read: write it in UTF-8") from None


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < DIGITS_MAX else None


def _misshapen(why: str) -> Refused:
    return Refused(why, code="ERR_REQUEST_INVALID")
