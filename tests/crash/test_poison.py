"""A job that kills its worker costs one failed job: never its neighbours, never the queue."""

import sqlite3
import time
from contextlib import closing

from tests.crash.invariants import assert_all_is_well, assert_nothing_is_left
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.processes import Plant


def test_poison_ends_failed_and_its_neighbours_are_done(plant: Plant) -> None:
    """After two deaths a job runs alone; a third makes it poison, and all that ran beside it are done."""
    tree = plant.worker(concurrency=4)
    notes = [a_note(script("sleep 0.3", "die 9")), *(a_note(script("sleep 1")) for _ in range(3))]

    poison, *neighbours = (receipt.job_id for receipt in plant.submit(notes))

    plant.drain(60.0)
    later = plant.submit([a_note(script())])[0].job_id
    plant.drain()
    assert tree.stop() == 0
    assert_all_is_well(plant, [poison, *neighbours, later], failed={poison: "ERR_POISON"})
    assert plant.job(poison)["crashes"] == 3
    runs = plant.marks("start", poison)
    assert [(run.attempt, run.alone) for run in runs] == [(1, False), (2, False), (3, True)]
    beside = {mark.job for run in runs[:2] for mark in plant.marks("start") if mark.pid == run.pid}
    assert beside == {poison, *neighbours}
    assert ran_in(plant, runs[2].pid, unended_at=runs[2].at) == {poison}
    assert_nothing_is_left(plant)


def test_suspect_never_joins_a_worker_that_runs_something(plant: Plant) -> None:
    """A busy worker with room to spare leaves a suspect to one that has nothing to lose."""
    busy = plant.lone_worker()
    gate = plant.folder / "gate"
    long = plant.submit([a_note(script(f"until {gate}"))])[0].job_id
    plant.wait_for_mark("start", long)
    suspect = plant.submit([a_note(script("die 1"), run_at=time.time() + 3600)])[0].job_id
    with closing(sqlite3.connect(plant.database)) as db, db:
        db.execute("UPDATE unified_queue SET crashes = 2, next_run_at = NULL WHERE queue_id = ?", (suspect,))

    tree = plant.worker()

    run = plant.wait_for_mark("start", suspect)
    assert run.alone
    assert run.pid != busy.pid
    plant.wait_until(lambda: plant.job(suspect)["status"] == "failed", "it is poison", tree)
    gate.touch()
    plant.drain()
    assert {tree.stop(), busy.stop()} == {0}
    assert_all_is_well(plant, [long, suspect], failed={suspect: "ERR_POISON"})
    assert len(plant.marks("start", long)) == 1


def ran_in(plant: Plant, pid: int, *, unended_at: float) -> set[str]:
    """The jobs that were under way in a process at that time, or began there later."""
    mine = [mark for mark in plant.marks() if mark.pid == pid]
    ended = {(mark.job, mark.token) for mark in mine if mark.what == "end" and mark.at < unended_at}
    return {mark.job for mark in mine if mark.what == "start" and (mark.job, mark.token) not in ended}
