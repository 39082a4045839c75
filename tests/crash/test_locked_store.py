"""A program that holds the lock for long: nobody is declared dead for it, and no attempt is spent."""

import sqlite3
import time
from contextlib import closing

from tests.crash.invariants import assert_all_is_well
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.processes import Plant

SILENCE = 5.0
HELD = 8.0


def test_lock_held_longer_than_the_silence_of_the_dead(plant: Plant) -> None:
    """No beat can be written while a stranger holds the lock; the running job is still its worker's."""
    plant.choose(worker_heartbeat_ttl=f"{SILENCE:g}s", sqlite_busy_timeout="4s")
    worker = plant.lone_worker()
    gate = plant.folder / "gate"
    job = plant.submit([a_note(script(f"until {gate}"))])[0].job_id
    plant.wait_for_mark("start", job)
    time.sleep(SILENCE + 1.0)  # from now on it may take silence for death

    with closing(sqlite3.connect(plant.database, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        time.sleep(HELD)
        db.execute("ROLLBACK")
    further = plant.submit([a_note(script())])[0].job_id
    plant.wait_for_mark("end", further)
    gate.touch()

    plant.drain(10.0)
    assert worker.stop() == 0
    row = plant.job(job)
    assert (row["retry_count"], row["crashes"]) == (0, 0)
    assert len(plant.marks("start", job)) == 1
    assert_all_is_well(plant, [job, further])
