"""How long to wait before asking again: longer each time, and never all at once."""

from __future__ import annotations

import random

FIRST_SECONDS = 0.2
LONGEST_SECONDS = 15.0


def pause_before(attempt: int) -> float:
    """Seconds before the next attempt, the first being 0; spread so that many who lost one server part."""
    longest = min(LONGEST_SECONDS, FIRST_SECONDS * 2.0 ** min(attempt, 16))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311  # spread, not secret
