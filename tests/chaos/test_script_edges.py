"""kill -9 exactly before and exactly after calls of scripts: another worker brings everything to its end."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass

import pytest

from penstock.model.ids import new_job_id
from penstock.model.jobs import JobId
from tests.chaos.doomed_scripts import ScriptDoom
from tests.chaos.judge import judge
from tests.chaos.scene import QUEUE, Scene
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note

KILLED = -signal.SIGKILL
GHOST = "jobqueue:worker:ghost:processing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A call of a script in a worker's life, and what leads to it."""

    script: str
    steps: tuple[str, ...] | None = ()
    """Of a note; None for a message pushed by another program."""
    nth: int = 1
    wait: float = 0.0
    """The note is due so much later."""
    failed: str | None = None
    quick: tuple[bool, ...] = ()
    """Which sides, before or after, every run of the tests looks at; the campaign looks at both."""


EDGES = (
    Edge(script="beat", nth=2),
    Edge(script="claim", quick=(True,)),
    Edge(script="claim", steps=None),
    Edge(script="adopt", steps=None, quick=(False, True)),
    Edge(script="progress", steps=("progress 1 3",)),
    Edge(script="extend", steps=("sleep 1.5",)),
    Edge(script="settle", quick=(False, True)),
    Edge(script="settle", steps=None),
    Edge(script="settle", steps=("fail 1",)),
    Edge(script="settle", steps=("fail 1",), nth=2),
    Edge(script="settle", steps=("refuse",), failed="ERR_REFUSED", quick=(False,)),
    Edge(script="attempts", steps=("fail 1",)),
    Edge(script="promote", wait=0.3, nth=2),
)


def both_sides(edge: Edge) -> list[object]:
    name = "-".join((edge.script, *(("pushed",) if edge.steps is None else edge.steps), str(edge.nth)))
    return [
        pytest.param(
            edge,
            after,
            id=f"{name}-{'after' if after else 'before'}",
            marks=() if after in edge.quick else pytest.mark.chaos_full,
        )
        for after in (False, True)
    ]


@pytest.fixture
def scene(scene: Scene) -> Scene:
    """Workers look after their jobs, and through all keys, often enough to be met at it."""
    scene.choose(worker_heartbeat_interval="500ms", reaper_interval="100ms")
    return scene


@pytest.mark.parametrize(("edge", "after"), [case for edge in EDGES for case in both_sides(edge)])
def test_worker_killed_at_a_script(scene: Scene, edge: Edge, after: bool) -> None:
    """The job ends once, as it must."""
    if edge.steps is None:
        job = scene.push(scene.message())
    else:
        due = time.time() + edge.wait if edge.wait else None
        (job,) = scene.accept([a_note(script(*edge.steps), run_at=due)])

    doomed = scene.fated(ScriptDoom(script=edge.script, after=after, nth=edge.nth))

    assert doomed.wait() == KILLED
    end_well(scene, [job], failed={job: edge.failed} if edge.failed else None)


@pytest.mark.chaos_full
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("name", ["lost", "settle"])
def test_rescuer_killed(scene: Scene, name: str, after: bool) -> None:
    """A worker dies while it takes a dead one's job back."""
    (job,) = scene.accept([a_note(script("die 1"))])
    assert scene.fated().wait() == KILLED

    assert scene.fated(ScriptDoom(script=name, after=after)).wait() == KILLED

    end_well(scene, [job])
    assert scene.job(job)["crashes"] >= 1


@pytest.mark.chaos_full
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("name", ["held", "settle", "leave"])
def test_worker_killed_while_it_leaves(scene: Scene, name: str, after: bool) -> None:
    """What it could not finish runs again elsewhere."""
    scene.choose(worker_grace="0s")
    gate = scene.folder / "gate"
    (job,) = scene.accept([a_note(script(f"until {gate}"))])
    leaver = scene.fated(ScriptDoom(script=name, after=after))
    scene.wait_for_mark("start", job)

    assert leaver.stop() == KILLED

    gate.touch()
    end_well(scene, [job])


@pytest.mark.parametrize(
    "after", [pytest.param(False, id="before", marks=pytest.mark.chaos_full), pytest.param(True, id="after")]
)
def test_submitter_killed_as_it_tells_redis(scene: Scene, after: bool) -> None:
    """The job is booked: a worker tells Redis of it, again if need be."""
    job = new_job_id()

    assert scene.fated(ScriptDoom(script="submit", after=after), "submit", job).wait() == KILLED

    end_well(scene, [job])


@pytest.mark.chaos_full
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_relay_killed(scene: Scene, after: bool) -> None:
    """A worker dies while it tells Redis of what others booked."""
    job = new_job_id()
    assert scene.fated(ScriptDoom(script="submit"), "submit", job).wait() == KILLED

    assert scene.fated(ScriptDoom(script="submit", after=after)).wait() == KILLED

    end_well(scene, [job])


@pytest.mark.chaos_full
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_canceller_killed(scene: Scene, after: bool) -> None:
    """It is cancelled in the book; Redis hears of it when the job's turn comes."""
    job = scene.submit([a_note(script())])[0].job_id

    assert scene.fated(ScriptDoom(script="cancel", after=after), "cancel", job).wait() == KILLED

    end_well(scene, [job], failed={job: "ERR_CANCELLED"})


@pytest.mark.chaos_full
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_reaper_killed(scene: Scene, after: bool) -> None:
    """What a worker of another make left in its list is found, though the first who found it died."""
    job = scene.push(scene.message())
    scene.ask("RPOPLPUSH", QUEUE, GHOST)

    assert scene.fated(ScriptDoom(script="reap", after=after)).wait() == KILLED

    end_well(scene, [job])


@pytest.mark.chaos_full
def test_a_job_that_is_over_is_never_taken_for_poison(scene: Scene) -> None:
    """It ended in the book; three workers die before one of them can tell Redis."""
    (job,) = scene.accept([a_note(script())])
    for nth in (1, 2, 2):  # the second and the third take it back first
        assert scene.fated(ScriptDoom(script="settle", nth=nth)).wait() == KILLED

    end_well(scene, [job])
    assert (scene.job(job)["crashes"], len(scene.marks("start"))) == (0, 1)


def end_well(scene: Scene, jobs: list[str] | list[JobId], *, failed: dict[str, str] | None = None) -> None:
    """A new worker brings everything to its end and goes when it is told to."""
    last = scene.fated()
    scene.wait_until(lambda: bool(scene.beating([last.pid])), "the worker beats", last)
    scene.drained(jobs)
    assert last.stop() == 0, last.said()
    assert {process.code for process in scene.started} <= {0, KILLED}
    judge(scene, jobs, failed=failed)
