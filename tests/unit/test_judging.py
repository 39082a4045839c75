"""Who ends what others seem to have left judges only after it has watched without a break itself."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from penstock.model.errors import Unavailable
from penstock.model.jobs import JobId
from penstock.work.healer import LOOK_SECONDS, WATCH_SECONDS, Healer
from penstock.work.pace import Pace
from penstock.work.rescuer import Rescuer
from tests.support.clock import FakeClock

PACE = Pace()


class Watched:
    """Only what healer and rescuer ask of a store: told apart are rounds that judge and others."""

    def __init__(self) -> None:
        self.judged: list[bool] = []
        self.away = False

    async def heal(self, *, limit: int = 100) -> list[str]:
        self._asked(judging=limit > 0)
        return []

    async def rescue(self, *, certain: bool = False) -> Sequence[JobId]:
        self._asked(judging=not certain)
        return []

    def _asked(self, *, judging: bool) -> None:
        if self.away:
            raise Unavailable("the store is away")
        self.judged.append(judging)


@dataclass(frozen=True)
class Judge:
    """A healer or a rescuer on a clock of the test's own."""

    role: Healer | Rescuer
    store: Watched
    clock: FakeClock
    rest_seconds: float
    watch_seconds: float

    async def watch(self, seconds: float) -> None:
        for _ in range(int(seconds / self.rest_seconds)):
            self.clock.advance(self.rest_seconds)
            await self.role.look()


@pytest.fixture(params=["healer", "rescuer"])
def judge(request: pytest.FixtureRequest) -> Judge:
    store, clock = Watched(), FakeClock()
    if request.param == "healer":
        return Judge(Healer(store, clock), store, clock, LOOK_SECONDS, WATCH_SECONDS)
    rescuer = Rescuer(store, clock, PACE)  # type: ignore[arg-type]  # the one verb it uses
    return Judge(rescuer, store, clock, PACE.rescue, PACE.dead_after)


async def test_it_watches_before_it_judges(judge: Judge) -> None:
    """A newcomer only looks, or takes from the provably dead, until the time of dying has passed."""
    await judge.watch(judge.watch_seconds - judge.rest_seconds)
    assert not any(judge.store.judged)

    await judge.watch(judge.rest_seconds)
    assert judge.store.judged[-1]


@pytest.mark.parametrize("seconds", [3600.0, -3600.0])
async def test_a_turned_clock_makes_it_watch_anew(judge: Judge, seconds: float) -> None:
    """When wall time jumps, every beat and due time looks past: nobody is judged for it."""
    await judge.watch(20)
    judge.clock.jump(seconds)
    judge.store.judged.clear()
    await judge.watch(judge.watch_seconds - judge.rest_seconds)

    assert judge.store.judged
    assert not any(judge.store.judged)


async def test_having_been_away_makes_it_watch_anew(judge: Judge) -> None:
    """A process that was stopped must not judge those who went on, nor those who were stopped with it."""
    await judge.watch(20)
    judge.clock.advance(60)
    await judge.role.look()

    assert not judge.store.judged[-1]


async def test_a_store_out_of_reach_makes_it_watch_anew(judge: Judge) -> None:
    """Silence while the store was away is nobody's fault."""
    await judge.watch(20)
    judge.store.away = True
    await judge.watch(judge.rest_seconds)
    judge.store.away = False
    await judge.watch(judge.rest_seconds)

    assert not judge.store.judged[-1]


async def test_beats_that_did_not_get_through_make_a_rescuer_watch_anew() -> None:
    """Where nobody could write, whose beat comes through first would find all the others silent."""
    store, clock, beaten = Watched(), FakeClock(), [0.0]
    rescuer = Rescuer(store, clock, PACE, lambda: beaten[0])  # type: ignore[arg-type]  # the one verb it uses

    async def watch(seconds: float, *, beating: bool) -> None:
        for _ in range(int(seconds / PACE.rescue)):
            clock.advance(PACE.rescue)
            beaten[0] = clock.steady() if beating else beaten[0]
            await rescuer.look()

    await watch(20, beating=True)
    assert store.judged[-1]

    await watch(PACE.dead_after, beating=False)  # it can still be read
    store.judged.clear()
    await watch(PACE.dead_after - PACE.rescue, beating=True)
    assert not any(store.judged)

    await watch(PACE.rescue * 2, beating=True)
    assert store.judged[-1]
