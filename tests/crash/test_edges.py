"""kill -9 exactly before and exactly after every durable edge; then a restart, and everything ends well."""

import signal
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from penstock.model.ids import new_job_id
from tests.crash.invariants import assert_all_is_well, assert_nothing_is_left
from tests.support.doomed import Doom
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.processes import Plant

KILLED = -signal.SIGKILL


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A worker's durable edge: what leads there, how the row stands on either side, and what follows."""

    name: str
    steps: tuple[str, ...] = ()
    before: dict[str, Any]
    after: dict[str, Any]
    runs_before: int
    """How often the job is started in all, if the worker dies before the commit."""
    runs_after: int
    code: str | None = None
    """With which code the job ends; None if it is done."""


WORKER_EDGES = [
    Edge(
        name="claim",
        before={"status": "pending", "worker_id": None},
        after={"status": "in_progress", "error_code": None},
        runs_before=1,
        runs_after=1,
    ),
    Edge(
        name="progress",
        steps=("progress 3 10",),
        before={"status": "in_progress", "progress_done": None},
        after={"status": "in_progress", "progress_done": 3, "progress_total": 10},
        runs_before=2,
        runs_after=2,
    ),
    Edge(
        name="settle",
        before={"status": "in_progress", "finished_at": None},
        after={"status": "done", "lease_until": None},
        runs_before=2,
        runs_after=1,
    ),
    Edge(
        name="settle",
        steps=("finish",),
        before={"status": "in_progress", "finished_at": None},
        after={"status": "done", "lease_until": None},
        runs_before=2,
        runs_after=1,
    ),
    Edge(
        name="verdict",
        steps=("fail 1",),
        before={"status": "in_progress", "retry_count": 0, "error_code": None},
        after={"status": "pending", "retry_count": 1, "error_code": "ERR_HANDLER_FAILED"},
        runs_before=2,
        runs_after=2,
    ),
    Edge(
        name="verdict",
        steps=("refuse",),
        before={"status": "in_progress", "error_code": None},
        after={"status": "failed", "error_code": "ERR_REFUSED"},
        runs_before=2,
        runs_after=1,
        code="ERR_REFUSED",
    ),
    Edge(
        name="extend",
        steps=("sleep 1.5",),
        before={"status": "in_progress"},
        after={"status": "in_progress"},
        runs_before=2,
        runs_after=2,
    ),
]

both_sides = pytest.mark.parametrize("after", [False, True], ids=["before", "after"])


@pytest.fixture
def plant(plant: Plant) -> Plant:
    """Retries come at once, so that a test need not wait for them."""
    plant.choose(worker_retry_delays="0s")
    return plant


@both_sides
@pytest.mark.parametrize("edge", WORKER_EDGES, ids=lambda edge: "-".join((edge.name, *edge.steps)))
def test_worker_killed_at_an_edge(plant: Plant, edge: Edge, after: bool) -> None:
    """A worker dies on either side of a commit: the row tells which side, and the job still ends once."""
    job = plant.submit([a_note(script(*edge.steps))])[0].job_id

    assert plant.doomed(Doom(edge=edge.name, after=after)).wait() == KILLED
    found = plant.job(job)

    expected = edge.after if after else edge.before
    assert {column: found[column] for column in expected} == expected
    restart_and_end_well(plant, [job], failed={job: edge.code} if edge.code else None)
    runs = edge.runs_after if after else edge.runs_before
    assert len(plant.marks("start")) == runs
    assert plant.job(job)["retry_count"] == runs - 1, "a death spends a retry if the handler had begun"
    effects = plant.rows("SELECT count(*) AS n FROM events WHERE user_id = ?", job)
    assert effects == [{"n": int("finish" in edge.steps)}]


@pytest.mark.parametrize("steps", [("die 1",), ("sleep 0.05", "die 1")], ids=["first-step", "last-step"])
def test_worker_killed_inside_a_handler(plant: Plant, steps: tuple[str, ...]) -> None:
    """A worker dies as its handler begins, or when its work is done but not settled: the job runs again."""
    job = plant.submit([a_note(script(*steps))])[0].job_id

    assert plant.doomed(Doom()).wait() == KILLED

    assert plant.job(job)["status"] == "in_progress"
    restart_and_end_well(plant, [job])
    assert [mark.attempt for mark in plant.marks("start")] == [1, 2]
    assert (plant.job(job)["retry_count"], plant.job(job)["crashes"]) == (1, 1)


def test_worker_killed_by_the_first_of_many_it_claimed(plant: Plant) -> None:
    """What it had claimed and not begun goes back free; the one that killed it is charged."""
    plant.choose(worker_concurrency="16")
    notes = [a_note(script("die 1")), *(a_note(script()) for _ in range(7))]
    killer, *others = (receipt.job_id for receipt in plant.submit(notes))

    assert plant.doomed(Doom()).wait() == KILLED

    assert plant.count("status = 'in_progress'") == 8
    restart_and_end_well(plant, [killer, *others])
    assert (plant.job(killer)["retry_count"], plant.job(killer)["crashes"]) == (1, 1)
    assert plant.count("retry_count > 0 OR crashes > 0") == 1
    rolls = list(plant.database.parent.glob("run/*.roll"))
    assert len(rolls) == len(plant.rows("SELECT * FROM queue_workers")) == 1, (
        "kept as long as who died is shown"
    )


@both_sides
def test_submitter_killed_at_the_commit(plant: Plant, after: bool) -> None:
    """A submit whose reply was lost is sent again: there is one job, and it runs once."""
    job, text = new_job_id(), script()

    assert plant.doomed(Doom(edge="submit", after=after), "submit", job_id=job, text=text).wait() == KILLED

    assert plant.count("true") == int(after)
    assert plant.doomed(Doom(), "submit", job_id=job, text=text).wait() == 0
    restart_and_end_well(plant, [job])
    assert len(plant.marks("start")) == 1


@both_sides
def test_worker_killed_while_it_promotes(plant: Plant, after: bool) -> None:
    """A delayed job whose time had come as the promoter died is run by the next worker, once."""
    job = plant.submit([a_note(script(), run_at=time.time() + 0.3)])[0].job_id

    assert plant.doomed(Doom(edge="promote", after=after)).wait() == KILLED

    assert (plant.job(job)["next_run_at"] is None) == after
    restart_and_end_well(plant, [job])
    assert len(plant.marks("start")) == 1


@both_sides
def test_rescuer_killed_while_it_rescues(plant: Plant, after: bool) -> None:
    """A death is counted once, though the worker that counted it died at the commit."""
    job = plant.submit([a_note(script("die 1"))])[0].job_id
    assert plant.doomed(Doom()).wait() == KILLED

    assert plant.doomed(Doom(edge="rescue", after=after)).wait() == KILLED

    assert plant.job(job)["crashes"] == int(after)
    restart_and_end_well(plant, [job])
    assert (plant.job(job)["retry_count"], plant.job(job)["crashes"]) == (1, 1)


@both_sides
def test_supervisor_killed_while_it_hands_back(plant: Plant, after: bool) -> None:
    """A supervisor that dies while it hands back a dead child's job counts that death once, or leaves it."""
    job = plant.submit([a_note(script("die 1"))])[0].job_id

    assert plant.doomed(Doom(edge="rescue", after=after), "supervisor").wait() == KILLED

    assert plant.job(job)["crashes"] == int(after)
    restart_and_end_well(plant, [job])
    assert (plant.job(job)["retry_count"], plant.job(job)["crashes"]) == (1, 1)


@both_sides
def test_worker_killed_while_it_leaves(plant: Plant, after: bool) -> None:
    """A worker told to stop that dies at its last commit: what it could not finish runs again, unspent."""
    plant.choose(worker_grace="0s")
    gate = plant.folder / "gate"
    job = plant.submit([a_note(script(f"until {gate}"))])[0].job_id
    leaver = plant.doomed(Doom(edge="leave", after=after))
    plant.wait_for_mark("start", job)

    assert leaver.stop() == KILLED

    assert plant.job(job)["status"] == "pending"
    assert len(plant.beating([leaver.pid])) == int(not after)
    gate.touch()
    restart_and_end_well(plant, [job], free_runs=1)
    assert (plant.job(job)["retry_count"], plant.job(job)["crashes"]) == (0, 0)


@both_sides
@pytest.mark.parametrize("running", [False, True], ids=["waiting", "running"])
def test_canceller_killed_at_the_commit(plant: Plant, running: bool, after: bool) -> None:
    """A cancel whose sender died is either wholly there or not at all."""
    gate = plant.folder / "gate"
    job = plant.submit([a_note(script(f"until {gate}"))])[0].job_id
    if running:
        plant.lone_worker()
        plant.wait_for_mark("start", job)

    doom = Doom(edge="tell" if running else "cancel", after=after)
    assert plant.doomed(doom, "cancel", job_id=job).wait() == KILLED

    if not after:
        gate.touch()
    restart_and_end_well(plant, [job], failed={job: "ERR_CANCELLED"} if after else None)
    assert len(plant.marks("start")) == (0 if after and not running else 1)


def restart_and_end_well(
    plant: Plant, jobs: Collection[str], *, failed: Mapping[str, str] | None = None, free_runs: int = 0
) -> None:
    """A new worker brings everything to its end, goes when it is told to, and nothing is left."""
    plant.lone_worker()
    plant.drain()
    assert [process.stop() for process in plant.started if process.code is None] != []
    assert {process.code for process in plant.started} <= {0, KILLED}
    assert_all_is_well(plant, jobs, failed=failed, free_runs=free_runs)
    assert_nothing_is_left(plant)
