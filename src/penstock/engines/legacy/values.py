"""Single values of a legacy row, read with good will: numbers as text, kinds of time, words for states."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from penstock.model.jobs import PRIORITY_NAMES, TIME_MAX, Operation
from penstock.model.states import State

PRIORITY_WORDS: Mapping[str, int] = MappingProxyType(
    {**PRIORITY_NAMES, "medium": 5, "default": 5, "urgent": 10, "critical": 10}
)

OPERATION_WORDS: Mapping[str, Operation] = MappingProxyType(
    {
        **{operation.value: operation for operation in Operation},
        "add": Operation.INGEST,
        "create": Operation.INGEST,
        "insert": Operation.INGEST,
        "modify": Operation.UPDATE,
        "upsert": Operation.UPDATE,
        "remove": Operation.DELETE,
    }
)

STATUS_WORDS: Mapping[str, State] = MappingProxyType(
    {
        **dict.fromkeys(("pending", "queued", "new", "waiting", "ready", "retry", "retrying"), State.READY),
        **dict.fromkeys(("in_progress", "processing", "running", "started", "leased"), State.LEASED),
        **dict.fromkeys(("done", "completed", "complete", "success", "succeeded", "finished"), State.DONE),
        **dict.fromkeys(("failed", "failure", "error", "dead", "cancelled", "canceled"), State.FAILED),
    }
)

CANCELLED_WORDS = frozenset({"cancelled", "canceled"})

_FINER = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Numbers from here on count nano-, micro- and milliseconds; as seconds they would lie past the year 5000."""


def text_of(value: object) -> str | None:
    """A value as text; nothing, and text without a character, is None."""
    if value is None:
        return None
    text = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
    return text or None


def word_of(value: object) -> str | None:
    """A value as one of a few words: `In Progress` and `in-progress` are `in_progress`."""
    text = text_of(value)
    if text is None or not text.strip():
        return None
    return text.strip().lower().replace(" ", "_").replace("-", "_")


def number_of(value: object) -> float | None:
    """A value as a number, also if it is written as text; None if it is none."""
    if isinstance(value, bool | int | float):
        found = float(value)
    else:
        try:
            found = float(text_of(value) or "")
        except ValueError:
            return None
    return found if math.isfinite(found) else None


def whole_between(value: object, least: int, most: int) -> tuple[int | None, bool]:
    """A value as a whole number within bounds, and whether it had to be changed to lie there.

    None stands for no value, or for one that is no number (which counts as changed).
    """
    if value is None or text_of(value) is None:
        return None, False
    number = number_of(value)
    if number is None:
        return None, True
    whole = int(min(max(number, least), most))
    return whole, whole != number


def time_of(value: object) -> float | None:
    """Seconds since the epoch from ISO text, or from a count of seconds or finer units.

    Text without a zone is UTC, as SQLite writes it. 0 and what is no time at all are None.
    """
    number = number_of(value)
    # Eight digits are a date, as ISO allows it; a count of seconds has had nine since 1973.
    if number is not None and abs(number) >= 1e8:
        unit = next((unit for least, unit in _FINER if number >= least), 1.0)
        return _within(number / unit)
    text = text_of(value)
    if text is None or number == 0:
        return None
    try:
        at = datetime.fromisoformat(text.strip())
        return _within((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return None


def _within(seconds: float) -> float | None:
    return seconds if 0 < seconds <= TIME_MAX else None
