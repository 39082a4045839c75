"""Forms with files, read as they come: no part is gathered in memory or on disk before it is asked for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from email.message import Message

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser
from starlette.requests import Request

from penstock.model.errors import Refused

HEAD_BYTES_MAX = 16 * 1024
FIELD_BYTES_MAX = 256 * 1024
PARTS_MAX = 200


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
        told = Message()
        told["content-disposition"] = head.headers.get("content-disposition", "")
        self.name = _text(told.get_param("name", header="content-disposition"))
        self.filename = told.get_filename()
        self.pieces = pieces

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
    told = Message()
    told["content-type"] = request.headers.get("content-type", "")
    boundary = told.get_param("boundary")
    if told.get_content_type() != "multipart/form-data" or not isinstance(boundary, str):
        raise Refused("send files as multipart/form-data", code="ERR_MEDIA_TYPE")
    happened: list[_Head | bytes | None] = []
    head = _Head()
    ended = False

    def begin() -> None:
        nonlocal head
        head = _Head()

    def grow(data: bytes, start: int, end: int) -> bytes:
        head.size += end - start
        if head.size > HEAD_BYTES_MAX:
            raise _misshapen("the head of a part is too long")
        return data[start:end]

    def header_field(data: bytes, start: int, end: int) -> None:
        head.name += grow(data, start, end)

    def header_value(data: bytes, start: int, end: int) -> None:
        head.value += grow(data, start, end)

    def header_end() -> None:
        name = head.name.decode("latin-1").lower()
        head.headers[name] = head.value.decode(errors="replace")
        head.name = head.value = b""

    def finish() -> None:
        nonlocal ended
        ended = True

    parser = MultipartParser(
        boundary.encode("latin-1", errors="replace"),
        {
            "on_part_begin": begin,
            "on_header_field": header_field,
            "on_header_value": header_value,
            "on_header_end": header_end,
            "on_headers_finished": lambda: happened.append(head),
            "on_part_data": lambda data, start, end: happened.append(data[start:end]),
            "on_part_end": lambda: happened.append(None),
            "on_end": finish,
        },
    )
    try:
        async for chunk in request.stream():
            parser.write(chunk)
            for event in happened:
                yield event
            happened.clear()
        parser.finalize()
    except MultipartParseError:
        raise _misshapen("the form cannot be read") from None
    if not ended:
        raise _misshapen("the form ends too early")


def _misshapen(why: str) -> Refused:
    return Refused(why, code="ERR_REQUEST_INVALID")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
