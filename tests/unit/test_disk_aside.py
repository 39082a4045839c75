"""Blocking work beside the loop: who no longer waits for it is free soon, and it cleans up after itself."""

from __future__ import annotations

import asyncio
import threading

import pytest

from penstock.engines.disk.aside import LETTING_GO_SECONDS, Stop, Stopped, aside
from penstock.work.pace import Pace

CANCEL_SECONDS = 2.0


async def test_a_cancelled_caller_does_not_wait_for_a_disk_that_hangs() -> None:
    """It ends while the work still hangs, soon enough for a cancel within two seconds."""
    begun, answered = threading.Event(), threading.Event()

    def hang(stop: Stop) -> bool:
        begun.set()
        return answered.wait(30)

    waiting = asyncio.create_task(aside(hang))
    await asyncio.to_thread(begun.wait)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    was_hanging = not answered.is_set()
    answered.set()
    assert was_hanging
    assert Pace().look_after + LETTING_GO_SECONDS < CANCEL_SECONDS


async def test_a_cancelled_caller_waits_for_work_that_cleans_up() -> None:
    """What looks at the flag between its steps has ended, and put things right, when the caller goes on."""
    begun, cleaned = threading.Event(), threading.Event()

    def work(stop: Stop) -> None:
        begun.set()
        try:
            while True:
                stop.look()
        except Stopped:
            cleaned.set()
            raise

    waiting = asyncio.create_task(aside(work))
    await asyncio.to_thread(begun.wait)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert cleaned.is_set()
