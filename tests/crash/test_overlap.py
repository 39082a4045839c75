"""A worker gets a job again while its former attempt still runs: the new one counts, the old one ends."""

import sqlite3
from contextlib import closing

import pytest

from tests.crash.invariants import assert_all_is_well
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.processes import Plant


@pytest.mark.parametrize("crashes", [0, 2], ids=["plain", "suspect"])
def test_job_taken_back_and_claimed_again_by_the_same_worker(plant: Plant, crashes: int) -> None:
    """Raw SQL takes a running job back; the same worker claims it, settles it, and goes on working."""
    worker = plant.lone_worker()
    gate = plant.folder / "gate"
    job = plant.submit([a_note(script(f"until {gate}"))])[0].job_id
    plant.wait_for_mark("start", job)

    with closing(sqlite3.connect(plant.database)) as db, db:
        db.execute(
            "UPDATE unified_queue SET status = 'pending', lease_until = NULL, worker_id = NULL, crashes = ?"
            " WHERE queue_id = ?",
            (crashes, job),
        )
    if crashes:
        plant.wait_for_mark("CancelledError", job)
    plant.wait_for_mark("start", job, times=2)
    gate.touch()

    plant.drain()
    further = plant.submit([a_note(script())])[0].job_id
    plant.wait_for_mark("end", further)
    plant.drain()
    assert worker.stop() == 0
    assert "Traceback" not in worker.said()
    assert_all_is_well(plant, [job, further], free_runs=1)


def test_stalled_attempt_is_told_that_it_lost_its_job(plant: Plant) -> None:
    """A lease that is no longer renewed for want of progress runs out: the old handler is cancelled."""
    plant.choose(worker_stall="1s", worker_lease="2s", worker_heartbeat_ttl="5s")
    worker = plant.lone_worker()
    gate = plant.folder / "gate"
    job = plant.submit([a_note(script(f"first until {gate}"))])[0].job_id
    first = plant.wait_for_mark("start", job)

    again = plant.wait_for_mark("start", job, times=2)
    plant.drain()

    assert again.token > first.token
    plant.wait_for_mark("CancelledError", job)
    gate.touch()
    assert worker.stop() == 0
    assert "Traceback" not in worker.said()
    assert_all_is_well(plant, [job])
