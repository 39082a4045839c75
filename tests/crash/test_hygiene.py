"""After thousands of jobs a worker has as many descriptors and threads as before."""

import psutil

from tests.crash.invariants import assert_all_is_well, assert_nothing_is_left
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.processes import Plant, Started

WARM, MANY = 200, 2_000


def test_descriptors_and_threads_stay_where_they_were(plant: Plant) -> None:
    """Retries, progress and cancels among the jobs leave nothing open behind them."""
    plant.choose(worker_retry_delays="50ms")
    tree = plant.worker()
    jobs = run_some(plant, WARM)
    before = footprint(tree)

    jobs += run_some(plant, MANY)

    plant.wait_until(lambda: footprint(tree) == before, f"back at {before}, now {footprint(tree)}", tree)
    assert len(before) == 2
    assert tree.stop() == 0
    assert_all_is_well(plant, jobs)
    assert_nothing_is_left(plant)


def run_some(plant: Plant, count: int) -> list[str]:
    steps = [(), ("fail 1",), ("progress 1 2",), ("sleep 0.01",)]
    notes = [a_note(script(*steps[number % len(steps)])) for number in range(count)]
    jobs = [str(receipt.job_id) for receipt in plant.submit(notes)]
    plant.drain(60.0)
    return jobs


def footprint(tree: Started) -> dict[int, tuple[int, int]]:
    """Descriptors and threads of the supervisor and of its child."""
    processes = [psutil.Process(pid) for pid in (tree.pid, *tree.children())]
    return {process.pid: (process.num_fds(), process.num_threads()) for process in processes}
