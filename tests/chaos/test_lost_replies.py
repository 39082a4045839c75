"""One command after the other of a job's whole life is lost, or its reply: the job ends once all the same."""

from __future__ import annotations

import pytest

from tests.chaos.judge import judge
from tests.chaos.scene import Scene
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.proxy import Loss

full = (pytest.mark.chaos_full, pytest.mark.timeout(900))


@pytest.mark.parametrize(
    ("loss", "every"),
    [
        (Loss.REPLY, 5),
        pytest.param(Loss.REPLY, 1, marks=full),
        pytest.param(Loss.REQUEST, 1, marks=full),
        pytest.param(Loss.SILENCE, 1, marks=full),
    ],
)
def test_a_loss_at_each_command(scene: Scene, loss: Loss, every: int) -> None:
    """Connecting, submitting, claiming, adopting, telling progress, renewing, settling: whatever comes by."""
    scene.choose(worker_heartbeat_interval="300ms")
    tree = scene.workers(1)
    jobs: list[str] = []

    def live() -> int:
        """Two whole lives, one by each way in; how many commands came by."""
        before = scene.way.commands
        both = [*scene.accept([a_note(script("progress 1 3", "sleep 0.4"))]), scene.push(scene.message())]
        scene.drained(both)
        jobs.extend(both)
        return scene.way.commands - before

    for nth in range(1, live() + 1, every):
        scene.way.lose(nth=nth, loss=loss)
        live()

    scene.way.pardon()
    assert tree.stop() == 0, tree.said()
    judge(scene, jobs)
