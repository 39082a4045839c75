"""A disk that one process waits for longer than the dead are silent: it is alive, and keeps its jobs."""

import time

from tests.crash.invariants import assert_all_is_well
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.processes import Plant

SILENCE = 5.0
STALLED = 12.0
"""Longer than the silence of the dead, and than a fetch loop may stand still before that silence begins."""


def test_disk_that_stands_still_longer_than_the_silence_of_the_dead(plant: Plant) -> None:
    """Its beats go on while its claim waits for the disk, so nobody takes its running job."""
    plant.choose(worker_heartbeat_ttl=f"{SILENCE:g}s")
    stalled, gate = plant.folder / "stalled", plant.folder / "gate"
    slow = plant.start("-m", "tests.support.slow_disk", str(stalled))
    job = plant.submit([a_note(script(f"until {gate}"))])[0].job_id
    assert plant.wait_for_mark("start", job).pid == slow.pid
    other = plant.lone_worker()
    time.sleep(SILENCE + 1.0)  # from now on it may take silence for death

    stalled.touch()
    further = plant.submit([a_note(script())])[0].job_id  # wakes the slow one too: its claim is synced
    time.sleep(STALLED)
    stalled.unlink()
    plant.wait_until(lambda: plant.job(further)["status"] == "done", "the other job is done", slow)
    gate.touch()

    plant.drain()
    assert (slow.stop(), other.stop()) == (0, 0)
    assert [mark.pid for mark in plant.marks("start", job)] == [slow.pid]
    assert (plant.job(job)["retry_count"], plant.job(job)["crashes"]) == (0, 0)
    assert_all_is_well(plant, [job, further])
