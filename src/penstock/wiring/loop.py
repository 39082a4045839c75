"""The event loop of every long-running process, made in one place.

A program that mostly waits for a server spends much of its time in the loop itself; uvloop's is written in C
and takes about half of that. Where there is none, asyncio's own does the same work. A short command keeps to
asyncio's: it would spend longer on the import than it could win.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run it to its end, as `asyncio.run` does."""
    with asyncio.Runner(loop_factory=_quickest()) as runner:
        return runner.run(main)


def _quickest() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        return None
    return uvloop.new_event_loop
