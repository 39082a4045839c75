"""What a status other than success means: whose move it is, and in which words people are told."""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import parsedate_to_datetime

import msgspec

from penstock.model.errors import Fault, Refused, Unavailable

WORDS_MAX = 200
WAIT_SECONDS_MAX = 86_400.0

_TOO_LARGE = re.compile(
    r"too (?:large|long|many)|maximum context|context.{0,20}length|max(?:imum)?.{0,20}(?:tokens|length|batch)"
    r"|batch size|must have less than|exceed",
    re.IGNORECASE,
)
_BUSY = frozenset({408, 409, 425, 500, 502, 503, 504, 529})


class _Error(msgspec.Struct):
    message: str = ""


class _Body(msgspec.Struct):
    """The shapes servers put an error in: an object with a message, a bare word, or the message itself."""

    error: _Error | str | None = None
    message: str = ""


class Refusal(Exception):
    """A status, and what the server says about it, without the key."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.words = words

    @classmethod
    def of(cls, status: int, body: bytes, key: str | None) -> Refusal:
        """The refusal of an answer; only the message is read, since some servers send the request back."""
        try:
            found = msgspec.json.decode(body, type=_Body)
        except msgspec.DecodeError:
            return cls(status, "")
        words = found.error.message if isinstance(found.error, _Error) else found.error or found.message
        words = " ".join(words.split())
        return cls(status, words.replace(key, "***") if key else words)

    @property
    def too_large(self) -> bool:
        """Whether a smaller request might pass."""
        return self.status == 413 or (self.status in (400, 422) and _TOO_LARGE.search(self.words) is not None)


def fault_of_status(role: str, name: str, refusal: Refusal, wait: float | None) -> Fault:
    """The fault a status stands for."""
    status = refusal.status
    said = f": {refusal.words[:WORDS_MAX]}" if refusal.words else ""
    if status == 429:
        return Unavailable(
            f"the {role} endpoint asks us to slow down (status 429)",
            code=f"ERR_{name}_LIMITED",
            retry_after=wait,
        )
    if status in _BUSY or status >= 500:
        return Unavailable(
            f"the {role} endpoint fails (status {status})", code=f"ERR_{name}_DOWN", retry_after=wait
        )
    # A person must mend these, and it is not the document's fault: it waits for that.
    if status in (401, 403):
        what = f"the {role} endpoint refuses our key (status {status}); check {role}.api_key"
        return Unavailable(what, code=f"ERR_{name}_KEY")
    if status < 400:
        what = f"the {role} endpoint sends us elsewhere (status {status}); configure its final URL"
        return Unavailable(what, code=f"ERR_{name}_SETUP")
    if status in (404, 405):
        what = f"the {role} endpoint has nothing at this URL, or not this model (status {status}){said}"
        return Unavailable(what, code=f"ERR_{name}_SETUP")
    return Refused(
        f"the {role} endpoint refuses the request (status {status}){said}", code=f"ERR_{name}_REFUSED"
    )


def retry_after(value: str | None, now: float) -> float | None:
    """The seconds a Retry-After header asks for, as a number or as a date; None where it says nothing."""
    if value is None:
        return None
    value = value.strip()
    try:
        if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", value):
            seconds = float(value)
        else:
            date = parsedate_to_datetime(value)
            seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now
    except (ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), WAIT_SECONDS_MAX)
