"""The pipe from whoever started this process: it brings the orders, and its end says that he is gone."""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
import threading
import time
from typing import TypeVar

T = TypeVar("T")


def orders_of(kind: type[T]) -> T:
    """What the parent wants done."""
    orders = pickle.load(sys.stdin.buffer)  # noqa: S301  # written by our own parent, over a pipe nobody else has
    if not isinstance(orders, kind):
        raise TypeError("standard input holds no orders")
    return orders


def listen_for_end(gone: asyncio.Event, *, last_words_seconds: float) -> None:
    """Set the event once the parent is gone; a process that has not ended so long after is ended."""
    loop = asyncio.get_running_loop()

    def listen() -> None:
        while os.read(sys.stdin.fileno(), 1):
            pass
        loop.call_soon_threadsafe(gone.set)
        time.sleep(last_words_seconds)
        os._exit(1)  # the loop is stuck, and nobody is left to see it; rescuers have the rest

    threading.Thread(target=listen, name="penstock-parent", daemon=True).start()
