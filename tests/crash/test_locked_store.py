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

    hold_the_lock(plant)
    further = plant.submit([a_note(script())])[0].job_id
    plant.wait_for_mark("end", further)
    gate.touch()

    plant.drain()
    assert worker.stop() == 0
    row = plant.job(job)
    assert (row["retry_count"], row["crashes"]) == (0, 0)
    assert len(plant.marks("start", job)) == 1
    assert_all_is_well(plant, [job, further])


def test_whose_beat_gets_through_first_does_not_judge_the_others(plant: Plant) -> None:
    """After the lock all beats are old, and some come a second later than others."""
    plant.choose(worker_heartbeat_ttl=f"{SILENCE:g}s")
    tree = plant.worker(count=4, concurrency=2)
    gate = plant.folder / "gate"
    notes = [a_note(script(f"until {gate}")) for _ in range(8)]
    plant.submit(notes)
    for note in notes:
        plant.wait_for_mark("start", note.id)
    time.sleep(SILENCE + 1.0)  # from now on they may take silence for death

    for _ in range(2):
        hold_the_lock(plant)
        time.sleep(SILENCE)  # long enough to take jobs wrongly, and to be allowed to judge again
    gate.touch()

    plant.drain()
    assert tree.stop() == 0
    rows = [plant.job(note.id) for note in notes]
    assert [(row["retry_count"], row["crashes"]) for row in rows] == [(0, 0)] * len(notes)
    assert_all_is_well(plant, [note.id for note in notes])


def hold_the_lock(plant: Plant) -> None:
    with closing(sqlite3.connect(plant.database, isolation_level=None, timeout=30.0)) as db:
        db.execute("BEGIN IMMEDIATE")
        time.sleep(HELD)
        db.execute("ROLLBACK")
