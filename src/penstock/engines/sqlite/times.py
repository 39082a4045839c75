"""Times as the documented columns hold them: ISO 8601 in UTC, fixed width; text order is time order."""

from __future__ import annotations

from datetime import UTC, datetime

_FIRST, _LAST = -62_135_596_800.0, 253_402_300_799.0
"""The first and the last second that can be written; an offset may name one beyond."""


def iso(at: float) -> str:
    """Seconds since the epoch as text."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def iso_or_none(at: float | None) -> str | None:
    """The same for what may be absent."""
    return None if at is None else iso(at)


def seconds(text: str) -> float:
    """Text as seconds; rows written by hand may use any ISO form, and what is no time at all counts as 0."""
    try:
        at = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return 0.0
    return min(max(_FIRST, (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()), _LAST)


def seconds_or_none(text: str | None) -> float | None:
    """The same for what may be absent."""
    return None if text is None else seconds(text)
