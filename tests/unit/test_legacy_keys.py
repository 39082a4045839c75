"""Legacy rows and the keys of jobs that are there already."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from penstock.engines.sqlite.adopting import adopt
from penstock.engines.sqlite.connection import DATABASE, connect, migrate, migrations, split
from penstock.engines.sqlite.rehearsing import Rehearsal
from penstock.model.jobs import NewJob, TenantId
from penstock.model.legacy import Adoption, LegacyJob
from penstock.model.payloads import File
from penstock.model.states import State
from tests.conformance.foreign import add, dequeue, statuses, stored

THEN = 1_700_000_000.0
KEY = "file:notes:0123456789abcdef"
BEFORE = next(at for at, script in enumerate(migrations()) if "ADD COLUMN keyed" in script)
"""So many migrations know no `keyed`."""


def a_row(state: State) -> LegacyJob:
    """A legacy row of the key everything here is about."""
    return LegacyJob(
        row="1",
        job=NewJob(tenant=TenantId("acme"), collection="notes", payload=File(file_path="/a.txt")),
        was="pending" if state is State.READY else state.value,
        state=state,
        key=KEY,
        payload_json='{"file_path": "/a.txt"}',
        metadata_json="{}",
        retry_count=0,
        error_message=None,
        error_code=None,
        created_at=THEN,
        updated_at=THEN,
        started_at=None,
        finished_at=None if state is State.READY else THEN,
        last_error_at=None,
    )


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect(tmp_path / DATABASE)) as db:
        migrate(db)
        yield db


def test_history_is_taken_over_beside_a_job_that_waits(db: sqlite3.Connection) -> None:
    """Rows that have ended ask for no key, however many there are of one."""
    add(db, "waiting", idempotency_key=KEY)
    rows = [a_row(State.DONE), a_row(State.FAILED), a_row(State.FAILED)]

    assert [how for how, _ in adopt(db, rows, THEN)] == [Adoption.TAKEN] * 3

    assert sorted(statuses(db).values()) == ["done", "failed", "failed", "pending"]
    assert stored(db, "waiting", "keyed") != (0,)


def test_a_waiting_row_is_taken_over_beside_a_job_that_runs(db: sqlite3.Connection) -> None:
    """It is a successor like any other, and the next one like it is content with it."""
    add(db, "running", idempotency_key=KEY)
    dequeue(db, "running", lease_until="2099-01-01T00:00:00Z")
    first, second = a_row(State.READY), a_row(State.READY)

    found = adopt(db, [first, second], THEN)

    assert [how for how, _ in found] == [Adoption.TAKEN, Adoption.WAITING]
    assert statuses(db) == {"running": "in_progress", first.job.id: "pending"}
    assert stored(db, "running", "keyed") == (0,)


@pytest.mark.parametrize("number", [BEFORE, None], ids=["older", "of now"])
def test_a_rehearsal_finds_the_job_that_waits(tmp_path: Path, number: int | None) -> None:
    """In a file of an older program too, which it may not change."""
    with closing(connect(tmp_path / DATABASE)) as db:
        scripts = migrations()[:number]
        for script in scripts:
            for statement in split(script):
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {len(scripts)}")
        add(db, "waiting", idempotency_key=KEY)

    with Rehearsal(tmp_path, busy_seconds=1.0) as rehearsal:
        found = rehearsal.adopt([a_row(State.READY), a_row(State.DONE)])

    assert found == [(Adoption.WAITING, "job waiting waits for the same"), (Adoption.TAKEN, "")]
