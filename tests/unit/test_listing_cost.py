"""What a listing costs does not depend on the jobs it does not show."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.engines.sqlite import listing
from penstock.engines.sqlite.connection import connect, migrate
from penstock.engines.sqlite.statements import sql
from penstock.model.catalogue import LOCAL_WORKSPACE
from penstock.model.states import SQL_STATUS, State
from penstock.ports.desk import Wanted

MANY = 20_000
INSERT = """
WITH RECURSIVE numbers (n) AS (SELECT :first UNION ALL SELECT n + 1 FROM numbers WHERE n < :last)
INSERT INTO unified_queue (queue_id, item_type, op, tenant_id, collection, status, created_at, updated_at,
  finished_at, idempotency_key, payload_json, next_run_at)
SELECT 'job-' || n, 'file', 'ingest', :tenant, 'notes', :status, :noon, :noon,
  CASE WHEN :status IN ('pending', 'in_progress') THEN NULL ELSE :noon END, 'file:notes:' || n,
  '{"file_path": "/' || n || '"}', :due
FROM numbers
"""


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect(tmp_path / "penstock.db")) as db:
        migrate(db)
        yield db


def insert(
    db: sqlite3.Connection,
    first: int,
    count: int,
    status: str,
    due: str | None = None,
    *,
    tenant: str = "acme",
) -> None:
    where = {"first": first, "last": first + count - 1, "status": status, "due": due, "tenant": tenant}
    db.execute(INSERT, {**where, "noon": "2025-06-15T12:00:00Z"})


def steps_of(db: sqlite3.Connection, wanted: Wanted, *, page: int = 10) -> int:
    """Instructions SQLite takes to list what must be one page of so many."""
    return counted(db, lambda: listing.jobs(db, wanted), page)


def counted(db: sqlite3.Connection, listed: Callable[[], Sequence[object]], page: int) -> int:
    """Instructions SQLite takes for what lists so many."""
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    db.set_progress_handler(step, 1)
    assert len(listed()) == page
    db.set_progress_handler(None, 1)
    return steps


@pytest.mark.parametrize(
    ("state", "status", "due", "others"),
    [
        (State.FAILED, "failed", None, "done"),
        (State.LEASED, "in_progress", None, "pending"),
        (State.DONE, "done", None, "pending"),
        (State.READY, "pending", None, "done"),
        (State.DELAYED, "pending", "2035-01-01T00:00:00Z", "pending"),
    ],
)
def test_a_listing_by_state_does_not_meet_the_others(
    db: sqlite3.Connection, state: State, status: str, due: str | None, others: str
) -> None:
    """Ten old jobs in a state cost the same with twenty thousand newer ones in another as with none."""
    insert(db, 0, 10, status, due)
    wanted = Wanted(state=state, limit=10)
    alone = steps_of(db, wanted)

    insert(db, 10, MANY, others)

    assert steps_of(db, wanted) <= alone + 100


STATUSES = ("pending", "in_progress", "done", "failed")


@pytest.mark.parametrize("state", [None, State.READY, State.DELAYED, State.LEASED, State.DONE, State.FAILED])
def test_a_tenants_listing_does_not_meet_other_tenants(db: sqlite3.Connection, state: State | None) -> None:
    """Ten jobs of a tenant cost the same with thousands of another's in every state as with none."""
    own = "pending" if state is None else SQL_STATUS[state]
    insert(db, 0, 10, own, "2035-01-01T00:00:00Z" if state is State.DELAYED else None)
    wanted = Wanted(state=state, tenants=["acme"], limit=10)
    alone = steps_of(db, wanted)

    for number, status in enumerate(STATUSES, start=1):
        due = "2035-01-01T00:00:00Z" if status == "pending" else None
        insert(db, number * MANY, MANY // 4, status, due, tenant="other")

    assert steps_of(db, wanted) <= alone + 100
    assert steps_of(db, replace(wanted, tenants=["nobody"]), page=0) < alone


FAILED = """
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)
INSERT INTO documents (document_id, workspace_id, tenant_id, collection_id, source, identity, name, state,
  error_code, created_at, updated_at)
SELECT :code || n, :workspace, 'acme', :collection, 'file', printf('/%s/%06d', :code, n), 'x', 'error',
  :code, :noon, :noon
FROM numbers
"""


@pytest.mark.parametrize("others", ["a", "z"], ids=["before", "behind"])
def test_documents_in_error_of_a_code_do_not_meet_the_others(db: sqlite3.Connection, others: str) -> None:
    """A page of one code costs the same beside thousands of another, wherever those stand."""
    noon = "2025-06-15T12:00:00Z"
    (collection,) = db.execute(
        "INSERT INTO collections (workspace_id, name, created_at) VALUES (?, 'notes', ?)"
        " RETURNING collection_id",
        (LOCAL_WORKSPACE, noon),
    ).fetchone()
    known = {"workspace": LOCAL_WORKSPACE, "collection": collection, "noon": noon}
    db.execute(FAILED, {**known, "code": "m", "count": 20})
    page = {
        **{"workspace": LOCAL_WORKSPACE, "collection": None, "code": "m", "limit": 10},
        **{"after": "m10", "after_collection": "notes", "after_identity": "/m/000010"},
    }

    def cost() -> int:
        return counted(db, lambda: db.execute(sql("browse_failed_code"), page).fetchall(), 10)

    alone = cost()
    db.execute(FAILED, {**known, "code": others, "count": MANY // 4})

    assert cost() <= alone + 100


@pytest.mark.parametrize("state", [State.DONE, State.FAILED])
def test_a_tenants_ended_jobs_do_not_meet_its_others(db: sqlite3.Connection, state: State) -> None:
    """Ten that failed, or succeeded, cost the same beside thousands of one's own that did not."""
    insert(db, 0, 10, SQL_STATUS[state])
    wanted = Wanted(state=state, tenants=["acme"], limit=10)
    alone = steps_of(db, wanted)

    insert(db, 10, MANY, "failed" if state is State.DONE else "done")

    assert steps_of(db, wanted) <= alone + 100
