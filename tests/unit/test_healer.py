"""The healer judges only after it has watched without a break itself."""

import pytest

from penstock.model.conversations import MessageId
from penstock.model.errors import Unavailable
from penstock.work.healer import LOOK_SECONDS, WATCH_SECONDS, Healer
from tests.support.clock import FakeClock


class Watched:
    """Only what a healer asks of a transcript: told apart are looking and judging rounds."""

    def __init__(self) -> None:
        self.judged: list[bool] = []
        self.away = False

    async def heal(self, *, limit: int = 100) -> list[MessageId]:
        if self.away:
            raise Unavailable("the store is away")
        self.judged.append(limit > 0)
        return []


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def transcript() -> Watched:
    return Watched()


@pytest.fixture
def healer(transcript: Watched, clock: FakeClock) -> Healer:
    return Healer(transcript, clock)


async def watch(healer: Healer, clock: FakeClock, seconds: float) -> None:
    for _ in range(int(seconds / LOOK_SECONDS)):
        clock.advance(LOOK_SECONDS)
        await healer.look()


async def test_it_watches_before_it_judges(healer: Healer, transcript: Watched, clock: FakeClock) -> None:
    """A newcomer only looks at first."""
    await watch(healer, clock, WATCH_SECONDS - LOOK_SECONDS)
    assert not any(transcript.judged)

    await watch(healer, clock, LOOK_SECONDS)
    assert transcript.judged[-1]


@pytest.mark.parametrize("seconds", [3600.0, -3600.0])
async def test_a_turned_clock_makes_it_watch_anew(
    healer: Healer, transcript: Watched, clock: FakeClock, seconds: float
) -> None:
    """When wall time jumps every due time looks past: no answer ends for it."""
    await watch(healer, clock, 10)
    clock.jump(seconds)
    await watch(healer, clock, LOOK_SECONDS)

    assert not transcript.judged[-1]


async def test_having_been_away_makes_it_watch_anew(
    healer: Healer, transcript: Watched, clock: FakeClock
) -> None:
    """A process that was stopped must not judge those who were stopped with it."""
    await watch(healer, clock, 10)
    clock.advance(60)
    await healer.look()

    assert not transcript.judged[-1]


async def test_a_store_out_of_reach_makes_it_watch_anew(
    healer: Healer, transcript: Watched, clock: FakeClock
) -> None:
    """Silence while the store was away is nobody's fault."""
    await watch(healer, clock, 10)
    transcript.away = True
    await watch(healer, clock, LOOK_SECONDS)
    transcript.away = False
    await watch(healer, clock, LOOK_SECONDS)

    assert not transcript.judged[-1]
