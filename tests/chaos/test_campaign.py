"""Three worker processes, one of them killed every two seconds, until every job took effect once.

They are killed blindly, so a few of many jobs may be taken for poison; see `poisoned`.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator

import pytest

from penstock.model.jobs import NewJob
from tests.chaos.effects import EFFECTS_ALONE
from tests.chaos.judge import judge_effects, poisoned
from tests.chaos.scene import Scene
from tests.support.jobs import a_note
from tests.support.processes import Started

SEED = 20_261_116
BULK = 5_000
WORKERS = 3
KILL_SECONDS = 2.0
POISON_SHARE_MAX = 0.01


@pytest.mark.parametrize(
    ("count", "seconds"),
    [
        pytest.param(1_500, 600.0, marks=pytest.mark.timeout(1_200)),
        pytest.param(100_000, 1_500.0, marks=[pytest.mark.chaos_full, pytest.mark.timeout(1_800)]),
    ],
)
def test_kills_at_random_while_it_drains(scene: Scene, count: int, seconds: float) -> None:
    """Nothing is lost and nothing takes effect twice, whoever dies when."""
    crew = Crew(scene)
    bulks = in_bulks(count)
    accepted: set[str] = set()
    ended, began = 0, time.monotonic()

    while ended < count:
        assert time.monotonic() - began < seconds, scene.report()
        if len(accepted) - ended < BULK and (bulk := next(bulks, None)):
            accepted.update(scene.accept(bulk))
        crew.kill_when_due()
        time.sleep(0.1)
        ended = scene.count("status IN ('done', 'failed')")
    took = time.monotonic() - began

    scene.drained([], seconds)
    crew.stop()
    poison = poisoned(scene)
    print(
        f"seed {SEED}: {count:,} jobs in {took:.0f} s ({count / took:,.0f}/s), {crew.kills} kills,"
        f" {len(poison)} poisoned by three of them"
    )
    judge_effects(scene, accepted, failed=poison)
    # Two kills may meet many jobs; the third meets one that runs alone, so no kill takes two.
    assert len(poison) <= max(0, crew.kills - 2)
    assert len(poison) <= POISON_SHARE_MAX * count


class Crew:
    """Worker processes without a parent; whoever is killed is replaced at once.

    On a machine so slow that a start takes longer than the time between two kills, nobody would ever work.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._chance = random.Random(SEED)
        scene.choose(worker_concurrency="16")
        self._workers = [self._another() for _ in range(WORKERS)]
        self._due = time.monotonic() + KILL_SECONDS
        self.kills = 0

    def kill_when_due(self) -> None:
        """SIGKILL for any of them."""
        if time.monotonic() < self._due or not self._are_there():
            return
        self._due = time.monotonic() + KILL_SECONDS
        place = self._chance.randrange(WORKERS)
        os.kill(self._workers[place].pid, signal.SIGKILL)
        assert self._workers[place].wait() == -signal.SIGKILL, self._workers[place].said()
        self._workers[place] = self._another()
        self.kills += 1

    def stop(self) -> None:
        """All of them end in good order, once they are there."""
        self._scene.wait_until(self._are_there, "all of them beat")
        assert {worker.stop(60.0) for worker in self._workers} == {0}, self._scene.report()

    def _are_there(self) -> bool:
        return len(self._scene.beating([worker.pid for worker in self._workers])) == WORKERS

    def _another(self) -> Started:
        return self._scene.fated(handlers=EFFECTS_ALONE)


def in_bulks(count: int) -> Iterator[list[NewJob]]:
    """So many jobs, a portion at a time."""
    for first in range(0, count, BULK):
        yield [a_note(f"note {number}") for number in range(first, min(first + BULK, count))]
