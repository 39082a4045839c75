"""The long campaigns: every edge under load, and workers that freeze and come back in the middle of it."""

import os
import random
import signal
import time
from collections import Counter

import pytest

from tests.crash.invariants import assert_all_is_well, assert_nothing_is_left
from tests.support.doomed import Doom
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.processes import Plant

pytestmark = pytest.mark.crash_full

SEED = 20_260_202
STEPS = ((), ("progress 1 3",), ("fail 1",), ("finish",), ("refuse",))
EDGES = ("claim", "progress", "settle", "verdict", "promote", "extend", "beat")
NTH = 3


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("edge", EDGES)
def test_edge_under_load(plant: Plant, edge: str, after: bool) -> None:
    """Workers die at such a commit in the middle of a drain, with others' work in the same group."""
    plant.choose(worker_retry_delays="100ms", worker_heartbeat_ttl="5s", worker_heartbeat_interval="200ms")
    doomed = [plant.doomed(Doom(edge=edge, after=after, nth=NTH)) for _ in range(2)]
    notes = [a_note(script("sleep 0.4", *STEPS[number % len(STEPS)])) for number in range(300)]
    refused: dict[str, str] = {note.id: "ERR_REFUSED" for note in notes if "refuse" in str(note.payload)}

    jobs = [receipt.job_id for receipt in plant.submit(notes)]
    plant.worker(count=2)

    plant.drain(90.0)
    codes = Counter(process.stop() if process.code is None else process.code for process in doomed)
    assert codes[-signal.SIGKILL] >= 1
    assert plant.started[-1].stop() == 0
    assert_all_is_well(plant, jobs, failed=refused)
    effects = Counter(row["user_id"] for row in plant.rows("SELECT user_id FROM events"))
    assert effects == {note.id: 1 for note in notes if "finish" in str(note.payload)}
    assert_nothing_is_left(plant)


@pytest.mark.timeout(300)
def test_workers_freeze_and_come_back_under_load(plant: Plant) -> None:
    """Workers stopped past their heartbeat and continued, over and over: nothing takes effect twice."""
    print(f"seed {SEED}")
    chance = random.Random(SEED)
    plant.choose(worker_heartbeat_ttl="5s", worker_lease="3s", worker_retry_delays="100ms")
    tree = plant.worker(count=4, concurrency=4)
    notes = [
        a_note(script(f"sleep {chance.uniform(0.05, 0.5):.3f}", *chance.choice(STEPS[:4])))
        for _ in range(1_200)
    ]
    jobs = [receipt.job_id for receipt in plant.submit(notes)]
    thawed = 0

    while plant.unfinished() > 200:
        pids = chance.sample(tree.children(), 2)
        for pid in pids:
            plant.freeze(pid)
        time.sleep(chance.uniform(5.0, 8.0))  # how long they are frozen is the fault itself
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
            thawed += 1

    plant.drain(90.0)
    assert tree.stop() == 0
    assert thawed >= 4
    assert_all_is_well(plant, jobs)
    assert_nothing_is_left(plant)
