"""The first start on an empty folder: together with others, or interrupted again and again."""

import os
import random
import signal
import time

import pytest

from penstock.engines.sqlite.connection import migrations
from penstock.model.ids import new_job_id
from tests.crash.invariants import assert_all_is_well
from tests.support.doomed import Doom
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.processes import Plant

SEED = 20_260_201
SCHEMA = len(migrations())


def test_processes_that_start_together_make_one_database(plant: Plant) -> None:
    """Four processes meet an empty folder at the same moment: all of them work, on the same jobs."""
    plant.data = plant.folder / "bare"
    workers = [plant.doomed(Doom()) for _ in range(4)]
    plant.wait_until(lambda: schema_of(plant) >= SCHEMA, "the database is made")
    plant.audit()

    jobs = [receipt.job_id for receipt in plant.submit([a_note(script()) for _ in range(100)])]

    plant.drain()
    pids = [worker.pid for worker in workers]
    plant.wait_until(lambda: len(plant.beating(pids)) == len(pids), "all of them beat")
    assert {worker.stop() for worker in workers} == {0}
    assert_all_is_well(plant, jobs)
    assert len(plant.marks("start")) == len(jobs)


@pytest.mark.crash_full
@pytest.mark.timeout(300)
def test_first_start_killed_while_it_makes_the_database(plant: Plant) -> None:
    """However far the first start came, the next one finishes what it began and accepts work."""
    print(f"seed {SEED}")
    chance = random.Random(SEED)
    seen = set()
    for number in range(30):
        plant.data = plant.folder / f"bare-{number}"
        first = plant.doomed(Doom())
        plant.wait_until(plant.data.exists, "it has begun", first)
        time.sleep(chance.uniform(0.0, 0.03))  # anywhere in the making
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
        seen.add(schema_of(plant))

        job = new_job_id()
        assert plant.doomed(Doom(), "submit", job_id=job, text=script()).wait() == 0

        assert [row["queue_id"] for row in plant.rows("SELECT queue_id FROM unified_queue")] == [job]
        assert plant.rows("PRAGMA integrity_check") == [{"integrity_check": "ok"}]
        assert schema_of(plant) == SCHEMA
    print(f"schemas met: {sorted(seen)}")


def schema_of(plant: Plant) -> int:
    """The number of the last migration applied; 0 if there is nothing yet."""
    if not plant.database.exists():
        return 0
    return int(plant.rows("PRAGMA user_version")[0]["user_version"])
