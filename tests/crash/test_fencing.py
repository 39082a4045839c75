"""A worker that slept through the loss of its job changes nothing, in the queue or in what the job writes."""

import os
import signal
import time
from datetime import datetime

import pytest

from tests.crash.invariants import assert_all_is_well
from tests.support.handlers_for_tests import Mark, script
from tests.support.jobs import a_note
from tests.support.processes import Plant, Started


@pytest.fixture
def plant(plant: Plant) -> Plant:
    """The shortest silence and a lease that ends even before it."""
    plant.choose(worker_heartbeat_ttl="5s", worker_lease="3s")
    return plant


def test_handler_that_lost_its_job_is_cancelled_and_may_not_write(plant: Plant) -> None:
    """SIGSTOP past lease and silence, another finishes, SIGCONT: the first is stopped and told LeaseLost."""
    first, second, job, stopped = stopped_and_overtaken(plant, "first defend")

    os.kill(first.pid, signal.SIGCONT)

    plant.wait_for_mark("write refused", job, pid=first.pid)
    plant.wait_for_mark("progress refused", job, pid=first.pid)
    plant.wait_for_mark("CancelledError", job, pid=first.pid)
    assert_unchanged_and_working(plant, first, second, job, stopped)
    assert plant.rows("SELECT * FROM events WHERE user_id = ?", job) == []


def test_settle_after_another_has_finished_the_job_is_refused(plant: Plant) -> None:
    """SIGSTOP past lease and silence, another finishes, SIGCONT: the first's own end counts for nothing."""
    gate = plant.folder / "gate"
    first, second, job, stopped = stopped_and_overtaken(plant, f"first hold {gate}")

    gate.touch()
    os.kill(first.pid, signal.SIGCONT)

    plant.wait_for_mark("end", job, pid=first.pid)
    assert_unchanged_and_working(plant, first, second, job, stopped)


def test_settle_while_another_runs_the_job_is_refused(plant: Plant) -> None:
    """SIGSTOP past lease and silence, another is at it, SIGCONT: the first cannot end what another runs."""
    gate, finish = plant.folder / "gate", plant.folder / "finish"
    first = plant.lone_worker()
    job = plant.submit([a_note(script(f"first hold {gate}", f"later until {finish}"))])[0].job_id
    plant.wait_for_mark("start", job, pid=first.pid)
    second = plant.lone_worker()
    plant.freeze(first.pid)
    plant.wait_for_mark("start", job, pid=second.pid)

    gate.touch()
    os.kill(first.pid, signal.SIGCONT)

    plant.wait_for_mark("end", job, pid=first.pid)
    further = works_again(plant, first)
    assert plant.holder_of(job) == second.pid
    finish.touch()
    plant.drain()
    assert {first.stop(), second.stop()} == {0}
    assert_all_is_well(plant, [job, *further])


def test_what_is_claimed_after_a_silence_is_nobodys_to_take(plant: Plant) -> None:
    """SIGSTOP past silence with empty hands, SIGCONT: it is seen alive before it is seen to hold a job."""
    gate = plant.folder / "gate"
    tree = plant.worker(count=2, concurrency=4)
    away, awake = tree.children()
    plant.freeze(away)
    held = [a_note(script(f"until {gate}")) for _ in range(4)]
    plant.submit(held)
    for note in held:
        plant.wait_for_mark("start", note.id, pid=awake)
    plant.wait_until(lambda: silence_of(plant, away) > 6.0, "it has been silent for longer than its time")
    late = [a_note(script("sleep 2")) for _ in range(4)]
    plant.submit(late)

    os.kill(away, signal.SIGCONT)

    for note in late:
        plant.wait_for_mark("end", note.id, pid=away)
    gate.touch()
    plant.drain()
    assert tree.stop() == 0
    runs = [(len(plant.marks("start", note.id)), plant.job(note.id)["crashes"]) for note in late]
    assert runs == [(1, 0)] * len(late)
    assert_all_is_well(plant, [note.id for note in (*held, *late)])


def silence_of(plant: Plant, pid: int) -> float:
    """Seconds since a process has last beaten."""
    (row,) = plant.rows("SELECT beat_at FROM queue_workers WHERE pid = ?", pid)
    return time.time() - datetime.fromisoformat(row["beat_at"]).timestamp()


def works_again(plant: Plant, worker: Started) -> list[str]:
    """Give out jobs until one was done by that worker, whose earlier results are settled by then."""
    further: list[str] = []

    def has_done_one() -> bool:
        further.append(plant.submit([a_note(script())])[0].job_id)
        return plant.wait_for_mark("end", further[-1]).pid == worker.pid

    plant.wait_until(has_done_one, "the worker works again", worker)
    return further


def stopped_and_overtaken(plant: Plant, step: str) -> tuple[Started, Started, str, Mark]:
    """Two workers: the first was stopped in the middle of a job, the second has done it since."""
    first = plant.lone_worker()
    job = plant.submit([a_note(script(step))])[0].job_id
    stopped = plant.wait_for_mark("start", job)
    second = plant.lone_worker()
    plant.freeze(first.pid)
    ended = plant.wait_for_mark("end", job)
    assert (stopped.pid, ended.pid) == (first.pid, second.pid)
    plant.drain()
    return first, second, job, stopped


def assert_unchanged_and_working(
    plant: Plant, first: Started, second: Started, job: str, stopped: Mark
) -> None:
    """The job ended once, by the second; and the first does what comes next."""
    row = plant.job(job)
    assert second.stop() == 0
    further = plant.submit([a_note(script())])[0].job_id
    assert plant.wait_for_mark("end", further).pid == first.pid
    plant.drain()
    assert first.stop() == 0
    assert plant.job(job) == row
    done = [change for change in plant.changes() if change.job == job and change.new == "done"]
    assert [change.token > stopped.token for change in done] == [True]
    assert_all_is_well(plant, [job, further])
