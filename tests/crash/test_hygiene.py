"""After thousands of jobs a worker has as many descriptors and threads as before, and hardly more memory."""

from dataclasses import dataclass

import psutil

from tests.crash.invariants import assert_all_is_well, assert_nothing_is_left
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.processes import Plant, Started

WARM, MANY = 200, 2_000
LATE = 4
"""Threads of a pool, and a descriptor or two for each, that open when first needed; never one per job."""
MEMORY_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a process holds."""

    descriptors: int
    threads: int
    memory: int


def test_many_jobs_leave_nothing_open(plant: Plant) -> None:
    """Thousands of jobs, with retries and progress among them, leave the processes as they were."""
    plant.choose(worker_retry_delays="50ms")
    tree = plant.worker()
    jobs = run_some(plant, WARM)
    before = footprints(tree)

    jobs += run_some(plant, MANY)

    after = footprints(tree)
    assert after.keys() == before.keys()
    assert len(before) == 2
    for pid, was in before.items():
        assert after[pid].descriptors - was.descriptors <= 2 * LATE
        assert after[pid].threads - was.threads <= LATE
        assert after[pid].memory - was.memory < MEMORY_BYTES
    assert tree.stop() == 0
    assert_all_is_well(plant, jobs)
    assert_nothing_is_left(plant)


def run_some(plant: Plant, count: int) -> list[str]:
    steps = [(), ("fail 1",), ("progress 1 2",), ("sleep 0.01",)]
    notes = [a_note(script(*steps[number % len(steps)])) for number in range(count)]
    jobs = [str(receipt.job_id) for receipt in plant.submit(notes)]
    plant.drain(60.0)
    return jobs


def footprints(tree: Started) -> dict[int, Footprint]:
    """Of the supervisor and of its child."""
    return {
        pid: Footprint(process.num_fds(), process.num_threads(), process.memory_full_info().uss)
        for pid in (tree.pid, *tree.children())
        for process in [psutil.Process(pid)]
    }
