"""What happens to a job while it runs: a cancel reaches it, its time limit ends it, its progress is kept."""

import os
import signal
import time

from tests.crash.invariants import assert_all_is_well
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.processes import Plant
from tests.support.stalls import Machine

CANCEL_SECONDS = 2.0


def test_cancel_takes_effect_within_two_seconds(plant: Plant, machine: Machine) -> None:
    """A running job that is cancelled by another process is interrupted and fails as cancelled."""
    tree = plant.worker()
    gate = plant.folder / "gate"
    job, other = (
        receipt.job_id for receipt in plant.submit([a_note(script(f"until {gate}")) for _ in range(2)])
    )
    plant.wait_for_mark("start", job)
    plant.wait_for_mark("start", other)

    assert plant.cancel([job]) == [True]
    told_at = time.monotonic()

    plant.wait_until(lambda: plant.job(job)["status"] == "failed", "it has failed", tree)
    ended_at = time.monotonic()
    allowed = CANCEL_SECONDS + machine.lost(told_at, ended_at)
    assert ended_at - told_at < allowed
    assert plant.wait_for_mark("CancelledError", job).at - told_at < allowed
    assert plant.job(other)["status"] == "in_progress"
    gate.touch()
    plant.drain()
    assert tree.stop() == 0
    assert_all_is_well(plant, [job, other], failed={job: "ERR_CANCELLED"})


def test_time_limit_of_its_type_ends_each_attempt(plant: Plant) -> None:
    """Each attempt is interrupted at its limit and retried; after the last the job fails with ERR_TIMEOUT."""
    plant.choose(worker_timeouts='{"content": "800ms"}', worker_retry_delays="100ms")
    tree = plant.worker()

    job = plant.submit([a_note(script("progress 3 10", "sleep 60"))])[0].job_id

    plant.drain()
    assert tree.stop() == 0
    assert_all_is_well(plant, [job], failed={job: "ERR_TIMEOUT"})
    marks = plant.marks(job=job)
    assert [mark.what for mark in marks] == ["start", "progress 3", "CancelledError"] * 4
    spans = [end.at - start.at for start, end in zip(marks[::3], marks[2::3], strict=True)]
    assert min(spans) >= 0.8
    row = plant.job(job)
    assert (row["retry_count"], row["progress_done"], row["progress_total"]) == (3, 3, 10)


def test_dependency_that_is_down_costs_no_attempt(plant: Plant) -> None:
    """A job that meets an outage waits as long as it was asked to, as often as it must, and is then done."""
    tree = plant.worker()
    gate = plant.folder / "gate"

    job = plant.submit([a_note(script(f"park 0.05 {gate}"))])[0].job_id
    plant.wait_for_mark("Unavailable", job, times=6)
    gate.touch()

    plant.drain()
    assert tree.stop() == 0
    runs = len(plant.marks("start", job))
    assert runs >= 7
    assert_all_is_well(plant, [job], free_runs=runs - 1)
    assert (plant.job(job)["retry_count"], plant.job(job)["parked_since"]) == (0, None)


def test_progress_is_seen_while_it_runs_and_survives_its_worker(plant: Plant) -> None:
    """n of m is there for everyone as soon as it is told, and still there when the worker is dead."""
    gate = plant.folder / "gate"
    job = plant.submit([a_note(script("progress 3 10", f"until {gate}", "progress 10 10"))])[0].job_id
    worker = plant.lone_worker()
    plant.wait_for_mark("progress 3", job)
    seen = plant.job(job)

    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    left = plant.job(job)
    gate.touch()
    plant.lone_worker()
    plant.drain()
    kept = plant.job(job)

    progress = ("status", "progress_done", "progress_total")
    assert [seen[name] for name in progress] == ["in_progress", 3, 10]
    assert [left[name] for name in progress] == ["in_progress", 3, 10]
    assert [kept[name] for name in progress] == ["done", 10, 10]
    assert_all_is_well(plant, [job])
