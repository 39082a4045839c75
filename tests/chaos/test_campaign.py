"""Three worker processes, one of them killed every two seconds, until every job took effect once."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator

import pytest

from penstock.model.jobs import NewJob
from tests.chaos.effects import EFFECTS_ALONE
from tests.chaos.judge import judge_effects
from tests.chaos.scene import Scene
from tests.support.jobs import a_note
from tests.support.processes import Started

SEED = 20_261_116
BULK = 5_000
KILL_SECONDS = 2.0


@pytest.mark.parametrize(
    ("count", "seconds"),
    [
        (3_000, 60.0),
        pytest.param(100_000, 1_500.0, marks=[pytest.mark.chaos_full, pytest.mark.timeout(1_800)]),
    ],
)
def test_kills_at_random_while_it_drains(scene: Scene, count: int, seconds: float) -> None:
    """Nothing is lost and nothing takes effect twice, whoever dies when."""
    chance = random.Random(SEED)
    tree = scene.workers(3, handlers=EFFECTS_ALONE, concurrency=16)
    accepted: set[str] = set()
    bulks = in_bulks(count)
    kills, began = 0, time.monotonic()
    kill_at = began + KILL_SECONDS

    while (done := scene.count("status = 'done'")) < count:
        assert time.monotonic() - began < seconds, scene.report()
        if len(accepted) - done < 2 * BULK and (bulk := next(bulks, None)):
            accepted.update(scene.accept(bulk))
        if time.monotonic() >= kill_at:
            kills += kill_one(tree, chance)
            kill_at += KILL_SECONDS
        time.sleep(0.05)
    took = time.monotonic() - began

    scene.drained([], seconds)
    assert tree.stop(60.0) == 0, tree.said()
    print(f"seed {SEED}: {count:,} jobs in {took:.0f} s ({count / took:,.0f}/s), {kills} kills")
    judge_effects(scene, accepted)


def in_bulks(count: int) -> Iterator[list[NewJob]]:
    for first in range(0, count, BULK):
        yield [a_note(f"note {number}") for number in range(first, min(first + BULK, count))]


def kill_one(tree: Started, chance: random.Random) -> int:
    """SIGKILL for any of the worker processes there are; the supervisor lives and starts another."""
    children = tree.children()
    if not children:
        return 0
    os.kill(chance.choice(children), signal.SIGKILL)
    return 1
