"""Many processes claim at once, and every job is run by exactly one of them."""

from collections import Counter

import pytest

from tests.crash.invariants import assert_all_is_well, assert_nothing_is_left
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.processes import Plant

PROCESSES = 4


@pytest.mark.parametrize(
    "count",
    [
        2_000,
        pytest.param(10_000, marks=[pytest.mark.crash_full, pytest.mark.timeout(300)]),
    ],
)
def test_four_processes_share_the_jobs(plant: Plant, count: int) -> None:
    """Each job is executed once and effective once, though four processes reach for it."""
    tree = plant.worker(count=PROCESSES)

    jobs = [receipt.job_id for receipt in plant.submit([a_note(script()) for _ in range(count)])]

    plant.drain(240.0)
    pids = set(tree.children())
    assert tree.stop() == 0
    starts = plant.marks("start")
    assert Counter(mark.job for mark in starts) == dict.fromkeys(jobs, 1)
    assert {mark.pid for mark in starts} == pids
    assert len(pids) == PROCESSES
    assert_all_is_well(plant, jobs)
    assert_nothing_is_left(plant)
