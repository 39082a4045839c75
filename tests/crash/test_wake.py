"""Work that comes from another process is started at once, whoever wrote it."""

import json
import operator
import sqlite3
import statistics
import time
from contextlib import closing

from penstock.model.rules import JITTER
from tests.crash.invariants import assert_all_is_well
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.processes import Plant
from tests.support.stalls import Machine

RETRY_LATE_MAX = 0.3
"""Seconds a job may start after its due time, as a rule."""

DOCUMENTED = """
INSERT INTO unified_queue (queue_id, item_type, op, tenant_id, collection, priority, status, created_at,
  updated_at, idempotency_key, payload_json, retry_count, max_retries, branch, metadata)
VALUES (:id, 'content', 'ingest', 'acme', 'notes', 5, 'pending', :now,
  :now, :key, :payload, 0, 3, 'main', '{}')
"""


def test_submit_from_another_process_starts_at_once(plant: Plant, machine: Machine) -> None:
    """An idle worker is woken by a submit elsewhere; a few milliseconds as a rule, a second at most."""
    tree = plant.worker()
    jobs, waits = [], []

    for _ in range(10):
        job = plant.submit([a_note(script())])[0].job_id
        submitted_at = time.monotonic()
        started_at = plant.wait_for_mark("start", job).at
        waits.append(started_at - submitted_at - machine.lost(submitted_at, started_at))
        jobs.append(job)
        plant.drain()

    print(f"pickup after the submit returned: median {statistics.median(waits) * 1000:.1f} ms")
    assert max(waits) < 1.0
    assert tree.stop() == 0
    assert_all_is_well(plant, jobs)


def test_row_written_by_raw_sql_is_processed(plant: Plant) -> None:
    """A row that names only the documented columns is a whole job to a worker that already runs."""
    tree = plant.worker()
    text = script()
    row = {
        "id": "raw-1",
        "key": "content:notes:0123456789abcdef",
        "payload": json.dumps({"content": text, "source_type": "scratchbook"}),
        "now": "2026-01-31T08:00:00.000Z",
    }

    with closing(sqlite3.connect(plant.database)) as db, db:
        db.execute(DOCUMENTED, row)

    plant.wait_for_mark("end", "raw-1")
    plant.drain()
    assert tree.stop() == 0
    assert_all_is_well(plant, ["raw-1"])


def test_retry_starts_when_it_is_due(plant: Plant, machine: Machine) -> None:
    """A retry that is due before the next look at due times is started then, not at that look."""
    plant.choose(worker_retry_delays="300ms")
    tree = plant.worker()
    jobs, waits, lost = [], [], []

    for _ in range(9):
        job = plant.submit([a_note(script("fail 1"))])[0].job_id
        failed = plant.wait_for_mark("RuntimeError", job)
        again = plant.wait_for_mark("start", job, times=2)
        waits.append(again.at - failed.at)
        lost.append(machine.lost(failed.at, again.at))
        jobs.append(job)
        plant.drain()

    late = statistics.median(map(operator.sub, waits, lost)) - 0.3 * (1 + JITTER)
    print(f"a retry after 300 ms started {late * 1000:.0f} ms late")
    assert min(waits) >= 0.3
    assert late < RETRY_LATE_MAX
    assert tree.stop() == 0
    assert_all_is_well(plant, jobs)


def test_schedule_of_another_process_starts_when_it_is_due(plant: Plant, machine: Machine) -> None:
    """A submit elsewhere that names a time within the second is started then."""
    tree = plant.worker()
    jobs, late, lost = [], [], []

    for _ in range(9):
        due = time.monotonic() + 0.4
        job = plant.submit([a_note(script(), run_at=time.time() + 0.4)])[0].job_id
        started_at = plant.wait_for_mark("start", job).at
        late.append(started_at - due)
        lost.append(machine.lost(due - 0.4, started_at))
        jobs.append(job)
        plant.drain()

    assert min(late) > -0.01
    assert statistics.median(map(operator.sub, late, lost)) < RETRY_LATE_MAX
    assert tree.stop() == 0
    assert_all_is_well(plant, jobs)
