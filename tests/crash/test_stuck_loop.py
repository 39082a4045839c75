"""A handler that keeps the event loop from turning: a short while is survived, a long one counts as death."""

import pytest

from tests.crash.invariants import assert_all_is_well
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.processes import Plant


@pytest.mark.parametrize("step", ["block 3", "burn 3"])
def test_three_seconds_cost_nothing(plant: Plant, step: str) -> None:
    """The keeper beats and renews from its own thread, so another worker has no reason to step in."""
    plant.choose(worker_heartbeat_ttl="5s", worker_lease="2s")
    tree = plant.worker(count=2)

    job = plant.submit([a_note(script(step))])[0].job_id

    plant.drain()
    assert tree.stop() == 0
    assert len(plant.marks("start", job)) == 1
    assert_all_is_well(plant, [job])
    assert plant.job(job)["retry_count"] == 0


def test_loop_that_stands_still_too_long_loses_its_job(plant: Plant) -> None:
    """Fetch loop and heartbeat share one fate: another does the job, and the stuck one's end is void."""
    plant.choose(worker_heartbeat_ttl="5s")
    tree = plant.worker(count=2)
    gate = plant.folder / "gate"
    job = plant.submit([a_note(script(f"first hold {gate}"))])[0].job_id
    stuck = plant.wait_for_mark("start", job)

    ended = plant.wait_for_mark("end", job)
    plant.drain()
    gate.touch()

    assert ended.pid != stuck.pid
    assert ended.token > stuck.token
    plant.wait_for_mark("end", job, pid=stuck.pid)
    assert tree.stop() == 0
    assert_all_is_well(plant, [job])
