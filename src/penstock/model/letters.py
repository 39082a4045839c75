"""Dead letters: what could not be done, as it was asked for, and why."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass
from datetime import datetime

from penstock.model.jobs import JobId

ID_LENGTH = 16
"""Hexadecimal digits of a letter's id: enough for a list that people look through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """One of them; where the queue is the database, its id is the failed job's."""

    id: str
    job_id: JobId | None
    """The job its message asks for, if that can be read."""
    message: bytes
    """Exactly as it was pushed, or the payload of a job that never was a message."""
    code: str | None
    reason: str | None
    failed_at: float | None
    origin: str | None = None
    """The list its message came by, where that is known."""
    lies_in: str | None = None
    """The list it lies in; none where the queue is the database."""
    sealed: bytes = b""
    """The letter itself, as it lies there."""
    message_key: str | None = None
    """The key that holds the message, where that is too large for a letter; `message` is its beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What became of a letter that was to be replayed."""

    letter: str
    job_id: JobId | None
    new: JobId | None
    """The job that runs now; none where only the message went back to its list."""
    how: str
    """`created`, `existing` or `coalesced` as a submit says, `pushed`, or `before`: nothing was left."""


def letter_in(sealed: bytes, lies_in: str) -> Letter:
    """A letter from a list; what is no letter of ours is taken for a message somebody else gave up."""
    told = _object(sealed)
    message = _message(told)
    if message is None:
        told, message = {}, sealed
    return Letter(
        id=hashlib.sha256(sealed).hexdigest()[:ID_LENGTH],
        job_id=job_named_in(message),
        message=message,
        code=_text(told.get("code")),
        reason=_text(told.get("reason")),
        failed_at=_seconds(told.get("failed_at")),
        origin=_text(told.get("origin_queue")),
        lies_in=lies_in,
        sealed=sealed,
        message_key=_text(told.get("message_key")),
    )


def job_named_in(message: bytes) -> JobId | None:
    """The id a message gives its job, in either documented shape."""
    told = _object(message)
    name = _text(told.get("job_id")) or _text(told.get("id"))
    return None if name is None else JobId(name)


def _message(told: dict[str, object]) -> bytes | None:
    text, coded = told.get("message"), told.get("message_base64")
    if isinstance(text, str):
        return text.encode(errors="surrogatepass")
    if isinstance(coded, str):
        try:
            return base64.b64decode(coded, validate=True)
        except (binascii.Error, ValueError):
            return None
    return None


def _object(data: bytes) -> dict[str, object]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _seconds(value: object) -> float | None:
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None
