"""What comes over a subscription: numbered events, words that pass, and being told to look again."""

from __future__ import annotations

from typing import Any

import msgspec

from penstock.client.errors import NO_ANSWER, PenstockError


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A change that was committed; `seq` counts a user's events without gaps."""

    type: str
    payload: dict[str, Any]
    seq: int
    ts: str


class Passing(msgspec.Struct, frozen=True, kw_only=True):
    """What is told while it happens and never again: progress, and the words of an answer being written."""

    type: str
    payload: dict[str, Any]


class Resync(msgspec.Struct, frozen=True, kw_only=True):
    """What was missed is not told one by one: whatever is not named here has ended, and is to be read again.

    Events go on behind `seq`.
    """

    reason: str
    seq: int
    ts: str | None = None
    documents: tuple[dict[str, Any], ...]
    documents_left_out: bool
    answers: tuple[dict[str, Any], ...]
    uploads: tuple[dict[str, Any], ...] = ()


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """From here on everything is told as it happens; `seq` is the last event before."""

    seq: int
    ts: str | None = None


class _Frame(msgspec.Struct, frozen=True, kw_only=True):
    type: str
    payload: dict[str, Any]
    seq: int | None = None
    ts: str = ""


_decoder = msgspec.json.Decoder(_Frame)


def read_frame(text: str | bytes) -> Event | Passing | Resync | Ready:
    """A frame as a value."""
    try:
        frame = _decoder.decode(text)
        match frame.type:
            case "ready":
                return msgspec.convert(frame.payload, Ready)
            case "resync":
                return msgspec.convert(frame.payload, Resync)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PenstockError("a frame cannot be read", code=NO_ANSWER) from error
    if frame.seq is None:
        return Passing(type=frame.type, payload=frame.payload)
    return Event(type=frame.type, payload=frame.payload, seq=frame.seq, ts=frame.ts)
