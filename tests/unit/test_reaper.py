"""The reaper's rounds: a pass ends when it says so, a store out of reach is tried again."""

import asyncio

import pytest

from penstock.model.errors import Unavailable
from penstock.ports.telemetry import Silent
from penstock.work.reaper import Reaper


class Pages:
    """A sweep of three pages a pass; the first page of the second pass cannot be had."""

    def __init__(self) -> None:
        self.asked = 0
        self.enough = asyncio.Event()

    async def page(self) -> tuple[int, bool]:
        self.asked += 1
        if self.asked == 8:
            self.enough.set()
        if self.asked == 4:
            raise Unavailable("away", code="ERR_STORE_UNAVAILABLE")
        return self.asked % 2, self.asked % 3 == 0


class Counting(Silent):
    """Adds up what went back."""

    moved = 0

    def reaped(self, messages: int) -> None:
        self.moved += messages


async def test_rests_are_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half more or less after a page, a quarter after a pass: no two reapers keep step."""
    rests: list[float] = []
    pages = Pages()

    async def rest(seconds: float) -> None:
        rests.append(seconds)
        if len(rests) == 301:
            pages.enough.set()
            await asyncio.Event().wait()

    monkeypatch.setattr("penstock.work.reaper.asyncio.sleep", rest)
    reaper = asyncio.create_task(Reaper(pages, interval=100.0, between=1.0).run())
    await asyncio.wait_for(pages.enough.wait(), 30)
    reaper.cancel()

    after_pages, after_passes = [each for each in rests if each < 10], [each for each in rests if each > 10]
    assert min(after_pages) >= 0.5
    assert max(after_pages) <= 1.5
    assert max(after_pages) - min(after_pages) > 0.5
    assert min(after_passes) >= 75.0
    assert max(after_passes) <= 125.0
    assert max(after_passes) - min(after_passes) > 25.0


async def test_passes_go_on_and_are_told(caplog: pytest.LogCaptureFixture) -> None:
    """What went back is counted and logged once a pass; trouble ends the pass, not the reaper."""
    pages, counting = Pages(), Counting()
    sweeping = Reaper(pages, interval=0.001, between=0.001, telemetry=counting)
    reaper = asyncio.create_task(sweeping.run())
    async with asyncio.timeout(30):
        await pages.enough.wait()
    reaper.cancel()

    told = [record.getMessage() for record in caplog.records]
    assert told[:2] == ["2 jobs of workers nobody knows went back to their queues", "cannot sweep: away"]
    assert counting.moved >= 3
