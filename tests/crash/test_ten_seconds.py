"""At default settings a killed worker's job starts again within ten seconds, whoever is left to see to it."""

import os
import signal
import time

from tests.crash.invariants import assert_all_is_well
from tests.support.handlers_for_tests import Mark, script
from tests.support.jobs import a_note
from tests.support.processes import PATIENCE, Plant
from tests.support.stalls import Machine

PROMISED = 10.0


def test_killed_child_of_a_living_supervisor(plant: Plant, machine: Machine) -> None:
    """The supervisor hands the job back and starts a new child; the job comes before its backlog."""
    tree = plant.worker(concurrency=1)
    gate = plant.folder / "gate"
    job = plant.submit([a_note(script(f"until {gate}"))])[0].job_id
    first = plant.wait_for_mark("start", job)
    backlog = [receipt.job_id for receipt in plant.submit([a_note(script()) for _ in range(50)])]

    killed_at = time.monotonic()
    os.kill(first.pid, signal.SIGKILL)

    again = plant.wait_for_mark("start", job, times=2)
    assert again.at - killed_at < PROMISED + machine.lost(killed_at, again.at)
    assert again.pid in tree.children()
    assert {mark.job for mark in plant.marks("start")} == {job}
    gate.touch()
    end_well(plant, [job, *backlog])


def test_killed_tree_beside_another_worker(plant: Plant, machine: Machine) -> None:
    """A worker and its supervisor die together: another worker sees that they are gone and takes the job."""
    gate = plant.folder / "gate"
    job = plant.submit([a_note(script(f"until {gate}"))])[0].job_id
    tree = plant.worker()
    plant.wait_for_mark("start", job)
    other = plant.worker()

    killed_at = time.monotonic()
    tree.kill_tree()

    again = plant.wait_for_mark("start", job, times=2)
    assert again.at - killed_at < PROMISED + machine.lost(killed_at, again.at)
    assert again.pid in other.children()
    gate.touch()
    end_well(plant, [job])


def test_killed_tree_and_a_new_start(plant: Plant, machine: Machine) -> None:
    """Everything died and is started again: the job does not wait for a heartbeat to run out."""
    gate = plant.folder / "gate"
    job = plant.submit([a_note(script(f"until {gate}"))])[0].job_id
    tree = plant.worker()
    plant.wait_for_mark("start", job)

    killed_at = time.monotonic()
    tree.kill_tree()
    plant.worker()

    again = plant.wait_for_mark("start", job, times=2)
    assert again.at - killed_at < PROMISED + machine.lost(killed_at, again.at)
    gate.touch()
    end_well(plant, [job])


def test_silent_worker_whose_process_is_still_there(plant: Plant, machine: Machine) -> None:
    """A stopped process leaves nothing but its silence to go by: others take the job once that has lasted.

    That alone may be nine and a half of the ten seconds.
    """
    tree = plant.worker(count=2)
    gate = plant.folder / "gate"
    job = plant.submit([a_note(script(f"until {gate}"))])[0].job_id
    first = plant.wait_for_mark("start", job)

    silent_since = plant.freeze(first.pid)

    again = plant.wait_for_mark("start", job, times=2)
    assert again.at - silent_since < PROMISED + machine.lost(silent_since, again.at)
    assert again.pid in set(tree.children()) - {first.pid}
    assert still_stopped(first)
    gate.touch()
    plant.drain()
    os.kill(first.pid, signal.SIGCONT)
    end_well(plant, [job])


def still_stopped(mark: Mark) -> bool:
    """Has the process lived on, without a chance to do anything?"""
    with open(f"/proc/{mark.pid}/stat", encoding="ascii") as stat:
        return stat.read().rpartition(")")[2].split()[0] == "T"


def end_well(plant: Plant, jobs: list[str]) -> None:
    plant.drain()
    assert {process.stop(PATIENCE) for process in plant.started if process.code is None} == {0}
    assert_all_is_well(plant, jobs)
