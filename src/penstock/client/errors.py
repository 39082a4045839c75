"""What can go wrong, in one class: the server's own words, or that it could not be asked."""

from __future__ import annotations

import msgspec

UNREACHABLE = "ERR_SERVER_UNREACHABLE"
"""Nobody answers, or not in time."""
LOOK_FOR_IT = "See that the server runs, and compare the address with the one it printed when it started."
NO_ANSWER = "ERR_SERVER_ANSWER"
"""What answers does not speak as a Penstock server does."""
REFUSAL_STATUS_MIN = 300
"""A reply from here on is no answer; nobody is followed elsewhere with our token."""


class PenstockError(Exception):
    """A request that was not granted, or an answer that never came.

    `code` is stable and may be acted on, `message` is for people; `status` is None where nobody answered.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None = None,
        suggestions: tuple[str, ...] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{message} ({code})")
        self.message = message
        self.code = code
        self.status = status
        self.suggestions = suggestions
        self.retry_after = retry_after
        """Seconds the server asked to be left alone for, where it did."""


class _Problem(msgspec.Struct, frozen=True):
    """The part of a problem document that is told on; whatever else it holds may change."""

    detail: str
    code: str
    suggestions: tuple[str, ...] = ()


_decoder = msgspec.json.Decoder(_Problem)


def problem_of(status: int, body: bytes, retry_after: str | None = None) -> PenstockError:
    """The error a reply tells; one that tells none is told by its status."""
    after = seconds_of(retry_after)
    try:
        told = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return PenstockError(
            f"the server answered {status} and not why", code=NO_ANSWER, status=status, retry_after=after
        )
    return PenstockError(
        told.detail, code=told.code, status=status, suggestions=told.suggestions, retry_after=after
    )


def unreachable(why: str) -> PenstockError:
    """Nobody answers."""
    return PenstockError(f"the server cannot be reached: {why}", code=UNREACHABLE, suggestions=(LOOK_FOR_IT,))


def seconds_of(header: str | None) -> float | None:
    """A Retry-After in seconds; None where there is none, or a date."""
    try:
        return None if header is None else max(0.0, float(header))
    except ValueError:
        return None
