"""On Redis too, at default settings, a dead worker's job runs again within ten seconds (I8)."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.chaos.judge import judge
from tests.chaos.scene import Scene
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.stalls import Machine

PROMISED = 10.0


@pytest.mark.parametrize(
    "how", ["killed", pytest.param("tree killed", marks=pytest.mark.chaos_full), "silent"]
)
def test_a_dead_workers_job_runs_again(scene: Scene, machine: Machine, how: str) -> None:
    """Its supervisor sees it, or a worker of another one, or nothing tells of it but its silence."""
    first = scene.workers(1, concurrency=1)
    gate = scene.folder / "gate"
    (job,) = scene.accept([a_note(script(f"until {gate}"))])
    began = scene.wait_for_mark("start", job)
    backlog = scene.accept([a_note(script()) for _ in range(20)])

    at = time.monotonic()
    if how == "killed":
        os.kill(began.pid, signal.SIGKILL)
    elif how == "silent":
        scene.workers(1, concurrency=2)
        at = scene.freeze(began.pid)
    else:
        scene.workers(1, concurrency=2)
        at = time.monotonic()
        first.kill_tree()

    again = scene.wait_for_mark("start", job, times=2)
    assert again.at - at < PROMISED + machine.lost(at, again.at)
    if how == "killed":
        assert {mark.job for mark in scene.marks("start")} == {job}, "its backlog came first"
    gate.touch()
    if how == "silent":
        os.kill(began.pid, signal.SIGCONT)
    scene.drained([job, *backlog])
    assert {process.stop() for process in scene.started if process.code is None} == {0}
    judge(scene, [job, *backlog])
