"""Told to stop, a worker claims no more, finishes what it can, gives the rest back, and is gone."""

import signal
import time

import psutil
import pytest

from tests.crash.invariants import assert_all_is_well, assert_nothing_is_left
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.processes import Plant
from tests.support.stalls import Machine

REACTION = 2.0
"""Seconds after which a worker that was told to stop must no longer start anything."""
SECONDS = 10.0
"""What "within seconds" may mean at most."""
ORPHANED = 5.0
"""Seconds after which nothing is left of a worker whose supervisor was killed."""


def test_sigterm_finishes_what_runs_and_claims_no_more(plant: Plant, machine: Machine) -> None:
    """Running jobs end by themselves, waiting ones stay untouched, and the exit code is 0."""
    tree = plant.worker(concurrency=2)
    jobs = [receipt.job_id for receipt in plant.submit([a_note(script("sleep 0.2")) for _ in range(300)])]
    plant.wait_until(lambda: len(plant.marks("end")) >= 4, "some are done", tree)

    told_at = time.monotonic()
    assert tree.stop() == 0

    took, lost = time.monotonic() - told_at, machine.lost(told_at)
    assert took < SECONDS + lost
    assert [mark for mark in plant.marks("start") if mark.at > told_at + REACTION + lost] == []
    assert len(plant.marks("start")) == len(plant.marks("end")) == plant.count("status = 'done'")
    unharmed = plant.count("status = 'pending' AND retry_count = 0 AND crashes = 0 AND error_code IS NULL")
    assert unharmed == len(jobs) - len(plant.marks("end")) > 0
    assert plant.rows("SELECT * FROM queue_workers") == []
    assert_nothing_is_left(plant)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_job_longer_than_the_grace_goes_back_unspent(plant: Plant, number: int) -> None:
    """What cannot end within the grace is interrupted, handed back without a retry, and done by the next."""
    plant.choose(worker_grace="500ms")
    gate = plant.folder / "gate"
    job = plant.submit([a_note(script(f"until {gate}"))])[0].job_id
    tree = plant.worker()
    plant.wait_for_mark("start", job)

    tree.signal(number)

    assert tree.wait() == 0
    row = plant.job(job)
    assert (row["status"], row["retry_count"], row["crashes"], row["error_code"]) == ("pending", 0, 0, None)
    assert [mark.what for mark in plant.marks(job=job)] == ["start", "CancelledError"]
    assert "worker left; jobs handed back: 1" in tree.said()
    gate.touch()
    end_well_after_a_restart(plant, job)
    assert plant.job(job)["retry_count"] == 0


def test_second_sigterm_ends_at_once_and_hands_back(plant: Plant, machine: Machine) -> None:
    """Who asks again does not wait for the grace; the job is claimable and has lost nothing."""
    gate = plant.folder / "gate"
    job = plant.submit([a_note(script(f"until {gate}"))])[0].job_id
    tree = plant.worker()
    plant.wait_for_mark("start", job)

    tree.signal(signal.SIGTERM)
    time.sleep(1.0)  # a person's pace: signals of one kind that come together are one to the kernel
    again_at = time.monotonic()
    tree.signal(signal.SIGTERM)

    assert tree.wait() == 0
    assert time.monotonic() - again_at < SECONDS + machine.lost(again_at)
    row = plant.job(job)
    assert (row["status"], row["retry_count"], row["crashes"]) == ("pending", 0, 0)
    gate.touch()
    end_well_after_a_restart(plant, job)


def test_orphans_hand_back_and_go(plant: Plant, machine: Machine) -> None:
    """kill -9 of the supervisor: its children are gone within five seconds, their jobs free and unspent."""
    tree = plant.worker(count=2)
    gate = plant.folder / "gate"
    jobs = [receipt.job_id for receipt in plant.submit([a_note(script(f"until {gate}")) for _ in range(4)])]
    for job in jobs:
        plant.wait_for_mark("start", job)
    children = tree.children()

    killed_at = time.monotonic()
    tree.signal(signal.SIGKILL)
    tree.wait()

    plant.wait_until(lambda: not any(map(psutil.pid_exists, children)), "the orphans are gone")
    assert time.monotonic() - killed_at < ORPHANED + machine.lost(killed_at)
    rows = plant.rows("SELECT status, retry_count, crashes FROM unified_queue")
    assert rows == [{"status": "pending", "retry_count": 0, "crashes": 0}] * len(jobs)
    gate.touch()
    end_well_after_a_restart(plant, *jobs)


def test_orphan_with_a_stuck_event_loop_goes_too(plant: Plant, machine: Machine) -> None:
    """Nobody is left to end it but itself, and it needs no event loop for that; its job runs again."""
    tree = plant.worker()
    gate = plant.folder / "gate"
    job = plant.submit([a_note(script(f"first hold {gate}"))])[0].job_id
    plant.wait_for_mark("start", job)
    children = tree.children()

    killed_at = time.monotonic()
    tree.signal(signal.SIGKILL)
    tree.wait()

    plant.wait_until(lambda: not any(map(psutil.pid_exists, children)), "the orphan is gone")
    assert time.monotonic() - killed_at < ORPHANED + machine.lost(killed_at)
    end_well_after_a_restart(plant, job)


def end_well_after_a_restart(plant: Plant, *jobs: str) -> None:
    worker = plant.lone_worker()
    plant.drain()
    assert worker.stop() == 0
    assert_all_is_well(plant, jobs, free_runs=1)
    assert_nothing_is_left(plant)
