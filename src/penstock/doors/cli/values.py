"""What options take beyond plain words: text that can be stored, spans of time, moments.

Each is a plain function that raises `click.BadParameter`, so it also serves where no option is involved.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import click

INTERVAL_MIN = 0.05
NUMBER_MAX = 2**53
"""Beyond it a number is not the same everywhere; it stays the text it was given as."""


def text(value: str) -> str:
    """Text that is not empty and valid Unicode; a name in another encoding would only fail later."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise click.BadParameter(f"{value!r} is not valid text") from None
    if not value:
        raise click.BadParameter("it is empty")
    return value


def pair(value: str) -> tuple[str, object]:
    """KEY=VALUE as metadata holds it, the same where it is given and where it is asked for.

    Numbers, true and false are what they look like; a number meant as text is written in quotes.
    """
    name, parted, given = text(value).partition("=")
    if not parted or not name.strip():
        raise click.BadParameter(f"{value!r} is not KEY=VALUE")
    try:
        meant = json.loads(given)
    except (ValueError, RecursionError):
        return name, given
    if isinstance(meant, bool | str) or (isinstance(meant, int | float) and abs(meant) <= NUMBER_MAX):
        return name, meant
    return name, given


def duration(value: str) -> float:
    """Seconds, written as in the configuration."""
    from penstock.settings.durations import SECONDS_MAX, parse_duration

    try:
        seconds = parse_duration(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a duration such as 500ms, 30s, 10m, 12h or 7d") from None
    if seconds > SECONDS_MAX:
        raise click.BadParameter(f"{value!r} is longer than ten years")
    return seconds


def interval(value: str) -> float:
    """The time between two looks, long enough to leave the store in peace."""
    seconds = duration(value)
    if seconds < INTERVAL_MIN:
        raise click.BadParameter(f"{value!r} is shorter than {INTERVAL_MIN * 1000:g}ms")
    return seconds


def moment(value: str) -> float:
    """Seconds since the epoch: an ISO 8601 time, or a span from now."""
    if value.startswith("+"):
        return time.time() + duration(value[1:])
    try:
        at = datetime.fromisoformat(value)
        return (at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise click.BadParameter(
            f"{value!r} is neither a time like 2030-01-31T08:00:00Z nor a span like +10m"
        ) from None
