"""A full disk: nothing is parked or failed for it, nothing is lost, and work goes on when there is room."""

import resource

from tests.crash.invariants import assert_all_is_well, assert_nothing_is_left
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.processes import Plant, Started

SPARE = 16 * 1024
"""Bytes the log of the database may still grow."""


def test_work_goes_on_where_it_stopped_once_there_is_room(plant: Plant) -> None:
    """Results wait in the worker while the store cannot take them; no attempt is spent, none is repeated."""
    tree, jobs = working_when_the_disk_fills(plant)
    met = "SELECT DISTINCT status, retry_count, crashes, next_run_at, error_code FROM unified_queue"
    during = [tuple(row.values()) for row in plant.rows(met)]
    make_room(tree)

    plant.drain(60.0)
    assert tree.stop() == 0
    assert {status for status, *_ in during} - {"in_progress"} == {"pending", "done"}
    assert {tuple(spent) for _, *spent in during} == {(0, 0, None, None)}
    assert_all_is_well(plant, jobs)
    assert len(plant.marks("start")) == len(jobs)
    assert plant.count("retry_count > 0 OR crashes > 0") == 0
    assert_nothing_is_left(plant)


def test_restart_after_a_full_disk(plant: Plant) -> None:
    """A worker stopped while the disk is full ends in time; the next one does everything that is left."""
    plant.choose(worker_grace="1s")
    tree, jobs = working_when_the_disk_fills(plant)

    assert tree.stop() == 0
    assert plant.unfinished() > 0
    again = plant.worker()
    plant.drain(60.0)

    assert again.stop() == 0
    assert_all_is_well(plant, jobs)
    assert_nothing_is_left(plant)


def working_when_the_disk_fills(plant: Plant) -> tuple[Started, list[str]]:
    """A worker in the middle of many jobs that has just met the full disk."""
    tree = plant.worker(concurrency=8)
    notes = [a_note(script("sleep 0.05")) for _ in range(400)]
    jobs = [str(receipt.job_id) for receipt in plant.submit(notes)]
    plant.wait_until(lambda: plant.count("status = 'done'") >= 10, "some are done", tree)
    files = [plant.database, plant.database.with_name(f"{plant.database.name}-wal")]
    limit(tree, max(file.stat().st_size for file in files) + SPARE)
    plant.wait_until(lambda: "the disk is full" in tree.said(), "the worker meets the full disk", tree)
    return tree, jobs


def make_room(tree: Started) -> None:
    limit(tree, resource.RLIM_INFINITY)


def limit(tree: Started, size: int) -> None:
    for pid in (tree.pid, *tree.children()):
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))
