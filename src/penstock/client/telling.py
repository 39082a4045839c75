"""An answer outside a conversation while it is written: its words as they come, then the whole."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec

from penstock.client.errors import NO_ANSWER, PenstockError, problem_of, unreachable
from penstock.client.talk import Delta
from penstock.client.values import Answer


class _Words(msgspec.Struct, frozen=True):
    text: str


class _Problem(msgspec.Struct, frozen=True):
    status: int


class _Told(msgspec.Struct, frozen=True):
    """An event; a server that does not stream sends the bare answer, which has neither field."""

    type: str = ""
    payload: msgspec.Raw = msgspec.Raw(b"")


async def told(events: AsyncGenerator[bytes, None]) -> AsyncGenerator[Delta | Answer, None]:
    """Every word once and in order, and at last the whole answer; PenstockError where it breaks off."""
    written = 0
    async with aclosing(events):
        async for event in events:
            try:
                match (frame := msgspec.json.decode(event, type=_Told)).type:
                    case "answer.delta":
                        text = msgspec.json.decode(frame.payload, type=_Words).text
                        yield Delta(start=written, text=text)
                        written += len(text)
                    case "answer":
                        yield msgspec.json.decode(frame.payload, type=Answer)
                        return
                    case "":
                        yield msgspec.json.decode(event, type=Answer)
                        return
                    case "problem":
                        status = msgspec.json.decode(frame.payload, type=_Problem).status
                        raise problem_of(status, bytes(frame.payload), None)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise PenstockError("the answer cannot be read", code=NO_ANSWER) from error
    raise unreachable("the answer broke off")
