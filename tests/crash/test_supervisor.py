"""The supervisor: patient with children that die, and sparing with jobs when it is told to stop."""

import os
import signal
import sqlite3
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from penstock.model.standing import PauseScope
from penstock.work.supervisor import LOOK_SECONDS
from tests.crash.invariants import assert_all_is_well, assert_nothing_is_left
from tests.support.handlers_for_tests import script
from tests.support.handlers_that_die import BIRTHS
from tests.support.jobs import OTHER_TENANT, TENANT, a_note
from tests.support.processes import PATIENCE, Plant
from tests.support.stalls import Machine

PAUSES = (0.5, 1.0, 2.0, 4.0, 4.0, 4.0)
"""Seconds before each new start of a child that dies at once, give or take a quarter."""
FAR_TOO_LONG = 0.75 * 16.0
"""What the last of them would be at least, did they go on doubling."""
AT_ONCE = 3.0
"""Seconds in which nobody can have waited for the end of a pause of four."""
DEADLY = "tests.support.handlers_that_die:handlers"

WORKERS = """
CREATE TABLE test_workers (worker_id TEXT NOT NULL);
CREATE TRIGGER test_workers_seen AFTER INSERT ON queue_workers
BEGIN
  INSERT INTO test_workers VALUES (NEW.worker_id);
END;
"""


def births(plant: Plant) -> list[float]:
    """When children were started, as far as their first line was written whole."""
    file = Path(f"{plant.marks_file}{BIRTHS}")
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return [float(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def test_child_that_dies_again_and_again_is_started_ever_more_slowly(plant: Plant, machine: Machine) -> None:
    """The pauses double up to four seconds and no further; told to stop in one, it is gone at once."""
    tree = plant.program("worker", "--handlers", DEADLY)

    plant.wait_until(lambda: len(births(plant)) > len(PAUSES), "it was started often", tree, seconds=180.0)

    born = births(plant)[: len(PAUSES) + 1]
    gaps = [later - earlier for earlier, later in pairwise(born)]
    assert [gap for gap, pause in zip(gaps, PAUSES, strict=True) if gap < 0.75 * pause] == []
    assert gaps[-1] < FAR_TOO_LONG + machine.lost(born[-2], born[-1])
    told_at = time.monotonic()
    assert tree.stop() == 0
    assert time.monotonic() - told_at < AT_ONCE + machine.lost(told_at)
    assert "ended with 7" in tree.said()
    assert_nothing_is_left(plant)


def test_child_killed_during_a_shutdown_costs_its_job_nothing(plant: Plant) -> None:
    """Whoever ends it, the shutdown was meant: its job goes back without a retry and without a crash."""
    tree = plant.worker(count=2, concurrency=1)
    gates = [plant.folder / "gate-1", plant.folder / "gate-2"]
    notes = [a_note(script(f"until {gate}")) for gate in gates]
    job, other = (receipt.job_id for receipt in plant.submit(notes))
    victim = plant.wait_for_mark("start", job).pid
    plant.wait_for_mark("start", other)

    tree.signal(signal.SIGTERM)
    gates[1].touch()
    plant.wait_until(lambda: tree.children() == [victim], "the other child has heard of it", tree)
    os.kill(victim, signal.SIGKILL)

    assert tree.wait() == 0
    assert_unspent(plant, job)
    gates[0].touch()
    worker = plant.lone_worker()
    plant.drain()
    assert worker.stop() == 0
    assert_all_is_well(plant, [job, other], free_runs=1)
    assert_nothing_is_left(plant)


def test_child_that_hears_nothing_is_killed_and_its_job_costs_nothing(plant: Plant) -> None:
    """A handler that holds the event loop hears neither signal; its process is ended all the same."""
    tree = plant.worker()
    gate = plant.folder / "gate"
    job = plant.submit([a_note(script(f"hold {gate}"))])[0].job_id
    plant.wait_for_mark("start", job)

    tree.signal(signal.SIGTERM)
    time.sleep(1.0)  # a person's pace: signals of one kind that come together are one to the kernel
    tree.signal(signal.SIGTERM)

    assert tree.wait() == 0
    assert_unspent(plant, job)
    assert_nothing_is_left(plant)


def test_held_back_suspect_gets_no_process(plant: Plant) -> None:
    """While its tenant is paused no lone worker is started for it; one that may run has its own."""
    with closing(sqlite3.connect(plant.database)) as db:
        db.executescript(WORKERS)
    tree = plant.worker()
    gate = plant.folder / "gate"
    busy = plant.submit([a_note(script(f"until {gate}"))])[0].job_id
    plant.wait_for_mark("start", busy)
    plant.pause(PauseScope.TENANT, OTHER_TENANT)
    held = a_suspect(plant, tenant=OTHER_TENANT)

    time.sleep(2.5 * LOOK_SECONDS)  # so many looks pass in which nothing may happen
    started = plant.rows("SELECT * FROM test_workers")
    free = a_suspect(plant)
    plant.wait_until(lambda: plant.job(free)["status"] == "done", "the watch goes on", tree)

    assert len(started) == 1
    assert [mark.alone for mark in plant.marks("start", free)] == [True]
    assert plant.job(held)["status"] == "pending"
    assert len(plant.rows("SELECT * FROM test_workers")) == 2
    gate.touch()
    plant.wait_until(lambda: plant.job(busy)["status"] == "done", "the busy one is done", tree)
    assert tree.stop() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_to_the_last_moment_leave_the_exit_code_alone(plant: Plant, number: int) -> None:
    """Who has ended its work well ends with 0, also if it is told to end once more on the doorstep."""
    tree = plant.worker()

    deadline = time.monotonic() + PATIENCE
    while tree.code is None and time.monotonic() < deadline:
        tree.signal(number)
        time.sleep(0.001)  # as close together as they can be told apart

    assert tree.code == 0
    assert "ended with" not in tree.said()


def a_suspect(plant: Plant, tenant: str = TENANT) -> str:
    """A job that has killed two workers, without the wait for it to do so."""
    job = plant.submit([a_note(script(), run_at=time.time() + 3600, tenant=tenant)])[0].job_id
    with closing(sqlite3.connect(plant.database)) as db, db:
        db.execute("UPDATE unified_queue SET crashes = 2, next_run_at = NULL WHERE queue_id = ?", (job,))
    return job


def assert_unspent(plant: Plant, job: str) -> None:
    row = plant.job(job)
    assert (row["status"], row["retry_count"], row["crashes"], row["error_code"]) == ("pending", 0, 0, None)
