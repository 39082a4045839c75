"""What is sent: an envelope around a payload, written once for all who get it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache

import msgspec

from penstock.model.conversations import MessageDelta
from penstock.model.events import LoggedEvent
from penstock.model.feed import JobProgress, Snapshot, UploadProgress

READY, RESYNC, AUTH, CLOSED = "ready", "resync", "auth", "closed"
CONNECTION_WORDS = {
    READY: "Everything before this was told; from here on it is told as it happens.",
    RESYNC: "What was missed is not told one by one; this is where things stand.",
    AUTH: "A newer token was taken.",
    CLOSED: "The last word of a stream: why it ends.",
}
"""What the live door says of the connection itself."""
TEXT = 0x81
TOGETHER_BYTES_MAX = 64 * 1024
"""Frames that are written together; what is more than that is written one by one, as there is room."""
_json = msgspec.json.Encoder()

Passing = JobProgress | UploadProgress | MessageDelta
"""What is told while it happens, without a number, and never again."""


class Reason(StrEnum):
    """Why what was missed is not replayed."""

    FORGOTTEN = "forgotten"
    """The log no longer keeps all of it."""
    TOO_MANY = "too_many"
    FUTURE = "future"
    """The number asked for was never given."""
    REPLACED = "replaced"
    """It was given again, to another event: the data are an older copy that was put back."""


class Frame:
    """A message as text; `seq` and `at` are where a reader stands once he has it."""

    __slots__ = ("_wire", "at", "seq", "text")

    def __init__(self, text: str, seq: int | None = None, at: str | None = None) -> None:
        self.text = text
        self.seq = seq
        self.at = at
        self._wire: bytes | None = None

    @property
    def wire(self) -> bytes:
        """The same as a WebSocket frame of the server, written once for all connections."""
        if self._wire is None:
            payload = self.text.encode()
            self._wire = _head(len(payload)) + payload
        return self._wire


class Run:
    """Numbered frames of one user that follow one another, for all connections that get all of them."""

    __slots__ = ("_wire", "first", "frames", "last")

    def __init__(self, first: int, last: int, frames: Sequence[Frame]) -> None:
        self.first = first
        self.last = last
        self.frames = frames
        self._wire: bytes | None = None

    @property
    def wire(self) -> bytes:
        """All of them as WebSocket frames, written once; nothing where that is too much at a time."""
        if self._wire is None:
            frames = self.frames
            joined = frames[0].wire if len(frames) == 1 else b"".join([each.wire for each in frames])
            self._wire = joined if len(joined) <= TOGETHER_BYTES_MAX else b""
        return self._wire


def frame_of(event: LoggedEvent) -> Frame:
    """An event; its payload is put in as it was committed."""
    ts = written(event.ts)
    return Frame(
        f'{{"type":{_text(event.type)},"payload":{event.payload_json},"seq":{event.seq},"ts":"{ts}"}}',
        event.seq,
        ts,
    )


def passing_frame(value: Passing) -> Frame:
    """Something that passes."""
    return Frame(_enveloped(value.type, value))


def ready_frame(seq: int, at: float | None) -> Frame:
    """From here on everything is told as it happens; `seq` is the last event before."""
    ts = None if at is None else written(at)
    return Frame(_enveloped(READY, {"seq": seq, "ts": ts}), seq, ts)


def resync_frame(reason: Reason, snapshot: Snapshot) -> Frame:
    """What was missed is not told one by one; this is where things stand."""
    ts = None if snapshot.at is None else written(snapshot.at)
    payload = {
        "reason": reason.value,
        "seq": snapshot.seq,
        "ts": ts,
        "documents": snapshot.documents,
        "documents_left_out": snapshot.documents_left_out,
        "answers": snapshot.answers,
        "uploads": snapshot.uploads,
    }
    return Frame(_enveloped(RESYNC, payload), snapshot.seq, ts)


def word_frame(kind: str, **facts: object) -> Frame:
    """A word about the connection itself."""
    return Frame(_enveloped(kind, facts))


@lru_cache(1_024)
def _head(length: int) -> bytes:
    """Of a whole, unmasked text message (RFC 6455, section 5.2)."""
    if length < 126:
        return bytes((TEXT, length))
    if length < 1 << 16:
        return bytes((TEXT, 126)) + length.to_bytes(2, "big")
    return bytes((TEXT, 127)) + length.to_bytes(8, "big")


def _enveloped(kind: str, payload: object) -> str:
    return f'{{"type":{_text(kind)},"payload":{_json.encode(payload).decode()}}}'


@lru_cache(256)
def _text(text: str) -> str:
    return _json.encode(text).decode()


@lru_cache(256)
def written(at: float) -> str:
    """A time as it is told, and told again by whoever comes back with it."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
