"""Times as text: RFC 3339, as other programs write them and as we tell them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from penstock.model.jobs import TIME_MAX

_FORM = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)?", re.ASCII)
UNSET = "0001-01-01T00:00:00Z"
"""What a Go program writes for a time it never set."""


def instant_of(text: str) -> float | None:
    """Seconds since the epoch; a time without a zone is taken as UTC, None is no time we can keep."""
    if not _FORM.fullmatch(text):
        return None
    try:
        told = datetime.fromisoformat(text.upper())
        seconds = (told if told.tzinfo else told.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return seconds if 0 <= seconds <= TIME_MAX else None


def instant(at: float) -> str:
    """Seconds since the epoch as they are told, in UTC; text order is time order."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
