"""Waiting for what nobody tells of."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.support.command_line import PATIENCE

LOOK_SECONDS = 0.02


def until(what: str, condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Look again and again until it is so."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(LOOK_SECONDS)
