"""The promoter sleeps until something is due, and is woken when something may be due sooner."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from penstock.model.errors import Unavailable
from penstock.work.pace import Pace
from penstock.work.promoter import GATHER_SECONDS, SHORTEST, Promoter
from tests.support.clock import FakeClock

PACE = Pace(promote_max=3600.0)
"""Nobody waits for the longest sleep to end by itself."""
PATIENCE = 30.0


class Due:
    """Only what a promoter asks of a queue: each look is counted, and told when the next job is due."""

    def __init__(self) -> None:
        self.looks = asyncio.Queue[None]()
        self.due: float | None = None
        self.away = False
        self.answers = asyncio.Event()
        self.answers.set()

    async def promote(self) -> float | None:
        self.looks.put_nowait(None)
        await self.answers.wait()
        if self.away:
            raise Unavailable("the store is away")
        return self.due

    async def looked(self) -> None:
        """Until it has looked once more."""
        async with asyncio.timeout(PATIENCE):
            await self.looks.get()


@pytest.fixture
def queue() -> Due:
    return Due()


@pytest.fixture
def promoter(queue: Due, clock: FakeClock) -> Promoter:
    return Promoter(queue, clock, PACE)  # type: ignore[arg-type]  # the one verb it uses


@asynccontextmanager
async def running(promoter: Promoter) -> AsyncIterator[None]:
    task = asyncio.create_task(promoter.run())
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_it_sleeps_until_the_next_due_time(promoter: Promoter, queue: Due, clock: FakeClock) -> None:
    """As long as that is, no longer than its pace allows, and a moment if it has come already."""
    queue.due = clock.now() + 7
    assert await promoter.look() == pytest.approx(7)

    queue.due = clock.now() - 7
    assert await promoter.look() == SHORTEST

    queue.due = clock.now() + 7 * PACE.promote_max
    assert await promoter.look() <= 1.25 * PACE.promote_max


async def test_it_sleeps_its_longest_while_nothing_is_known(promoter: Promoter, queue: Due) -> None:
    """Nothing due and a store out of reach cost one look each, not a busy loop."""
    assert await promoter.look() >= 0.75 * PACE.promote_max

    queue.away = True
    assert await promoter.look() >= 0.75 * PACE.promote_max


async def test_a_nudge_ends_its_sleep(promoter: Promoter, queue: Due) -> None:
    """News is looked at now, not after the sleep that began before it."""
    async with running(promoter):
        await queue.looked()

        promoter.nudge()

        await queue.looked()


async def test_a_nudge_during_a_look_is_not_lost(promoter: Promoter, queue: Due) -> None:
    """What was put off while it looked may not have been seen by that look."""
    queue.answers.clear()
    async with running(promoter):
        await queue.looked()
        promoter.nudge()
        queue.answers.set()

        await queue.looked()


async def test_many_nudges_are_one_look(promoter: Promoter, queue: Due) -> None:
    """A storm of news costs a few looks a second, whatever comes in it."""
    async with running(promoter):
        await queue.looked()
        loop = asyncio.get_running_loop()
        begun = loop.time()

        while loop.time() < begun + 5 * GATHER_SECONDS:
            promoter.nudge()
            await asyncio.sleep(0.001)

        assert 1 <= queue.looks.qsize() <= 7
