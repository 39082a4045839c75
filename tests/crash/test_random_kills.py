"""Processes are killed at random while jobs of every kind drain: none is lost, none takes effect twice."""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Sequence

import psutil
import pytest

from penstock.model.jobs import NewJob
from tests.crash.invariants import assert_all_is_well, assert_nothing_is_left
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.processes import Plant, Row, Started

SEED = 20_260_131
BULK = 10_000

IN_HAND = (
    "SELECT 1 FROM unified_queue q JOIN queue_workers w USING (worker_id)"
    " WHERE q.status = 'in_progress' AND w.pid = ?"
)
ENDS = {
    "plain": {"done"},
    "finish": {"done"},
    "delayed": {"done"},
    "retried": {"done"},
    "hopeless": {"ERR_HANDLER_FAILED"},
    "refused": {"ERR_REFUSED"},
    "cancelled": {"done", "ERR_CANCELLED"},
}
"""Each kind of job and what it may end with."""


@pytest.mark.parametrize(
    ("count", "kills"),
    [
        (2_500, 4),
        pytest.param(20_000, 50, marks=[pytest.mark.crash_full, pytest.mark.timeout(900)]),
    ],
)
def test_random_kills_under_load(plant: Plant, count: int, kills: int) -> None:
    """After so many kills of random processes at random moments the books balance, job by job."""
    print(f"seed {SEED}")
    chance = random.Random(SEED)
    plant.choose(worker_retry_delays="200ms")
    kinds, notes = zip(*(a_random_job(chance) for _ in range(count)), strict=True)
    kind_of = {note.id: kind for kind, note in zip(kinds, notes, strict=True)}
    cancels = [note.id for note in notes if kind_of[note.id] == "cancelled"]
    crew = Crew(plant, chance)  # first: jobs that mostly sleep may all be done before the last of it is there
    for at in range(0, count, BULK):
        plant.submit(notes[at : at + BULK])

    for number in range(kills):
        wait_until_ended(plant, int(count * 0.9 * (number + chance.random()) / kills))
        plant.cancel(cancels[number::kills])
        crew.kill_one(at_work=number == 0)

    plant.drain(300.0)
    crew.stop()
    jobs = plant.rows("SELECT * FROM unified_queue")
    assert [row["queue_id"] for row in jobs if not is_explained(row, kind_of[row["queue_id"]])] == []
    assert sum(row["crashes"] for row in jobs) > 0, "no kill hit a running job"
    failed = {row["queue_id"]: row["error_code"] for row in jobs if row["status"] == "failed"}
    assert_all_is_well(plant, list(kind_of), failed=failed, free_runs=kills)
    assert_effects_happened_once(plant, jobs, kind_of)
    assert_nothing_is_left(plant)


class Crew:
    """A supervisor with two children and two workers without one; whoever was killed is replaced."""

    def __init__(self, plant: Plant, chance: random.Random) -> None:
        self._plant = plant
        self._chance = chance
        self._workers = [plant.worker(count=2), plant.lone_worker(), plant.lone_worker()]

    def kill_one(self, *, at_work: bool = False) -> None:
        """SIGKILL for any of the processes, a supervisor, a child of one or a lone worker."""
        time.sleep(self._chance.uniform(0.0, 0.05))  # any moment between two commits is as good
        place, pid = self._one_at_work() if at_work else self._any()
        os.kill(pid, signal.SIGKILL)
        if pid == self._workers[place].pid:
            self._workers[place].wait()
            self._workers[place] = self._another(place)

    def _any(self) -> tuple[int, int]:
        victims = [(place, pid) for place, each in enumerate(self._workers) for pid in family(each)]
        return self._chance.choice(victims)

    def _one_at_work(self) -> tuple[int, int]:
        """One that is stopped before it is looked at: what it has in hand then, it dies with."""
        found: list[tuple[int, int]] = []

        def is_at_work() -> bool:
            found[:] = [self._any()]
            process = psutil.Process(found[0][1])
            process.suspend()
            self._plant.wait_until(lambda: process.status() == psutil.STATUS_STOPPED, "it stands still")
            if self._plant.rows(IN_HAND, process.pid):
                return True
            process.resume()
            return False

        self._plant.wait_until(is_at_work, "one is at work")
        return found[0]

    def stop(self) -> None:
        """All of them end in good order."""
        assert {worker.stop() for worker in self._workers} == {0}

    def _another(self, place: int) -> Started:
        if place == 0:
            return self._plant.worker(count=2)
        return self._plant.lone_worker()


def a_random_job(chance: random.Random) -> tuple[str, NewJob]:
    """A kind and a job of that kind, with a random priority, tenant and length."""
    (kind,) = chance.choices(list(ENDS), weights=[60, 10, 8, 8, 4, 4, 6])
    steps = {
        "finish": ["finish"],
        "retried": ["fail 1"],
        "hopeless": ["fail 9"],
        "refused": ["refuse"],
    }.get(kind, [])
    note = a_note(
        script(f"sleep {chance.uniform(0.0, 0.1):.3f}", *steps),
        tenant=chance.choice(["acme", "globex", "initech"]),
        priority=chance.choice([1, 5, 5, 9]),
        run_at=time.time() + chance.uniform(0.0, 8.0) if kind == "delayed" else None,
    )
    return kind, note


def family(started: Started) -> list[int]:
    """A process and its children."""
    return [started.pid, *started.children()]


def wait_until_ended(plant: Plant, wanted: int) -> None:
    plant.wait_until(
        lambda: plant.count("status IN ('done', 'failed')") >= wanted, f"{wanted} ended", seconds=120.0
    )


def is_explained(row: Row, kind: str) -> bool:
    """Did it end as its kind must, or was it in so many killed processes that its attempts were used up?"""
    end = row["error_code"] if row["status"] == "failed" else row["status"]
    if end == "ERR_POISON":
        return bool(row["crashes"] == 3)
    if end == "ERR_WORKER_DIED":
        return bool(row["crashes"] >= 1 and row["retry_count"] == row["max_retries"])
    return end in ENDS[kind]


def assert_effects_happened_once(plant: Plant, jobs: Sequence[Row], kind_of: dict[str, str]) -> None:
    """An effect written together with the end of its job is there once if that is done, else not at all."""
    effects = Counter(row["user_id"] for row in plant.rows("SELECT user_id FROM events"))
    done = {row["queue_id"] for row in jobs if row["status"] == "done"}
    assert effects == {job: 1 for job, kind in kind_of.items() if kind == "finish" and job in done}
