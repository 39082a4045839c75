"""On Redis too, a death counts against what had begun, not against what was claimed beside it."""

from __future__ import annotations

from tests.chaos.scene import Scene
from tests.support.handlers_for_tests import HANDLERS, script
from tests.support.jobs import a_note


def test_a_job_that_kills_its_worker_is_charged_alone(scene: Scene) -> None:
    """Its worker had claimed eight together; seven go back free, in the book and in Redis."""
    killer, *others = scene.accept([a_note(script("die 1")), *(a_note(script()) for _ in range(7))])

    tree = scene.workers(1, handlers=HANDLERS, concurrency=16)

    scene.drained([killer, *others])
    assert tree.stop() == 0
    assert (scene.job(killer)["retry_count"], scene.job(killer)["crashes"]) == (1, 1)
    assert scene.count("retry_count > 0 OR crashes > 0") == 1
    assert [mark.attempt for mark in scene.marks("start", killer)] == [1, 2]
