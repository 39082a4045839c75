"""Starting workers with the real program."""

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import PATIENCE, Program
from tests.support.handlers_for_tests import HANDLERS, MARKS, script
from tests.support.jobs import a_job, a_note

TOP = Path(__file__).resolve().parents[2]


@pytest.fixture
def started(program: Program) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes a test starts; none outlives it."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=PATIENCE)


def wait_for(program: Program, status: str, count: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while [row[0] for row in program.rows("status")].count(status) < count:
        assert time.monotonic() < deadline, program.rows()
        time.sleep(0.05)


@pytest.mark.parametrize("words", [["worker", "--count", "1"], ["run", "--role=all"]])
def test_a_worker_is_seen_and_ends_when_told(
    program: Program, started: list[subprocess.Popen[str]], words: list[str]
) -> None:
    """Status names the living worker; SIGTERM ends it with 0 and it is forgotten."""
    program.submit(a_job(run_at=4e9))
    process = program.start(*words)
    started.append(process)
    deadline = time.monotonic() + PATIENCE
    while not (status := program.json("queue", "status"))["workers_alive"]:
        assert time.monotonic() < deadline, process.poll()

    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=PATIENCE)

    assert len(status["workers"]) == 1
    assert process.returncode == 0, err
    assert err.startswith(f"working on {program.data} with 1 process")
    assert program.json("queue", "status")["workers_alive"] == 0


def test_handlers_of_ones_own_run_jobs(program: Program, started: list[subprocess.Popen[str]]) -> None:
    """`--handlers` names what jobs are done with; a failed one is explained with its error."""
    done, refused = program.submit(a_note(script()), a_note(script("refuse")))
    env = {MARKS: str(program.folder / "marks"), "PYTHONPATH": str(TOP)}
    started.append(program.start("worker", "--handlers", HANDLERS, env=env))

    wait_for(program, "done", 1)
    wait_for(program, "failed", 1)

    assert program.json("queue", "show", done)["state"] == "done"
    assert "told to refuse (ERR_REFUSED)" in program("queue", "explain", refused).out


def test_a_worker_that_drains_is_not_said_to_take_a_job(
    program: Program, started: list[subprocess.Popen[str]]
) -> None:
    """Told to stop it ends what it runs; `explain` and `status` say so as long as it does."""
    gate = program.folder / "gate"
    program.submit(a_note(script(f"until {gate}")))
    env = {MARKS: str(program.folder / "marks"), "PYTHONPATH": str(TOP), "PENSTOCK_WORKER_GRACE": "10m"}
    process = program.start("worker", "--handlers", HANDLERS, env=env)
    started.append(process)
    wait_for(program, "in_progress", 1)

    process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE
    while not (seen := program.json("queue", "status")["workers"][0])["draining"]:
        assert time.monotonic() < deadline, seen
    (waiting,) = program.submit(a_note(script()))
    told = program("queue", "explain", waiting).out
    gate.touch()
    process.communicate(timeout=PATIENCE)

    assert told == "The only worker is draining and takes no more jobs; start one with: penstock worker.\n"
    assert (seen["alive"], seen["draining"], seen["running"]) == (True, True, 1)
    assert program("queue", "explain", waiting).out.startswith("No worker is alive")


def test_handlers_that_cannot_be_loaded_end_with_3(program: Program) -> None:
    """A mistake in the name is told at once, not by every process."""
    ran = program("worker", "--handlers", "nowhere:handlers")

    assert ran.code == 3
    assert "nowhere" in ran.err
    assert "(ERR_CONFIGURATION)" in ran.err
