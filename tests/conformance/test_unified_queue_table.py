"""The table as the page documents it, seen by a plain sqlite3."""

import re
import sqlite3
from importlib.resources import files
from typing import Any

import pytest

from tests.conformance.foreign import (
    PAYLOADS,
    a_row,
    add,
    an_operation,
    chosen,
    insert,
    pairs,
    plan,
    statuses,
    stored,
)

# Name, type, NOT NULL, PRIMARY KEY; in the page's order.
COLUMNS = [
    ("queue_id", "TEXT", True, True),
    ("item_type", "TEXT", True, False),
    ("op", "TEXT", True, False),
    ("tenant_id", "TEXT", True, False),
    ("collection", "TEXT", True, False),
    ("priority", "INTEGER", True, False),
    ("status", "TEXT", True, False),
    ("created_at", "TEXT", True, False),
    ("updated_at", "TEXT", True, False),
    ("lease_until", "TEXT", False, False),
    ("worker_id", "TEXT", False, False),
    ("idempotency_key", "TEXT", True, False),
    ("payload_json", "TEXT", True, False),
    ("retry_count", "INTEGER", True, False),
    ("max_retries", "INTEGER", True, False),
    ("error_message", "TEXT", False, False),
    ("last_error_at", "TEXT", False, False),
    ("branch", "TEXT", False, False),
    ("metadata", "TEXT", False, False),
]
DEFAULTS: dict[str, Any] = {"retry_count": 0, "max_retries": 3, "branch": "main", "metadata": "{}"}
NOT_NULL = [name for name, _, not_null, _ in COLUMNS if not_null]
OPTIONAL = ["priority", "status", *DEFAULTS]
"""May be left out: the documented defaults, and 5 and pending, which the page names as the usual ones."""

# Name, columns in order (DESC marked), unique, the rows a partial one covers.
INDEXES = [
    ("idx_unified_queue_dequeue", ["status", "priority DESC", "created_at"], False, None),
    ("idx_unified_queue_idempotency", ["idempotency_key", "tenant_id"], True, "keyed"),
    ("idx_unified_queue_lease_expiry", ["lease_until"], False, "status = 'in_progress'"),
    ("idx_unified_queue_collection_tenant", ["collection", "tenant_id"], False, None),
    ("idx_unified_queue_item_type", ["item_type", "status"], False, None),
    ("idx_unified_queue_failed", ["status", "last_error_at"], False, "status = 'failed'"),
    ("idx_unified_queue_worker", ["worker_id", "status"], False, "status = 'in_progress'"),
]

OTHER_COLUMNS = {
    "lease_until": "2025-06-15T12:05:00Z",
    "worker_id": "worker-1",
    "retry_count": 1,
    "max_retries": 5,
    "error_message": "the last error",
    "last_error_at": "2025-06-15T11:59:00Z",
    "branch": "feature/x",
    "metadata": '{"note": "mine"}',
}


def test_documented_columns_stand_first_with_their_types(table: sqlite3.Connection) -> None:
    """Name, type, NOT NULL and PRIMARY KEY of every documented column are as the page says, in its order."""
    found = table.execute("PRAGMA table_info(unified_queue)").fetchall()

    assert [(row[1], row[2], bool(row[3]), bool(row[5])) for row in found[: len(COLUMNS)]] == COLUMNS


def test_documented_defaults(table: sqlite3.Connection) -> None:
    """Columns left out of an INSERT take the documented defaults; the others that may be NULL are NULL."""
    add(table, "plain")

    assert stored(table, "plain", *DEFAULTS) == tuple(DEFAULTS.values())
    assert stored(table, "plain", "lease_until", "worker_id", "error_message", "last_error_at") == (None,) * 4


def test_only_what_has_a_usual_value_may_be_left_out(table: sqlite3.Connection) -> None:
    """A default that the page does not know would hide a forgotten column."""
    found = {row[1]: row[4] for row in table.execute("PRAGMA table_info(unified_queue)")}

    assert {name for name, *_ in COLUMNS if found[name] is not None} == set(OPTIONAL)


def test_columns_beyond_the_page_ask_nothing_of_an_insert(table: sqlite3.Connection) -> None:
    """Every column of ours is generated, has a default or may be NULL."""
    documented = {name for name, *_ in COLUMNS}
    # The sixth value of table_xinfo tells generated columns apart.
    ours = [row for row in table.execute("PRAGMA table_xinfo(unified_queue)") if row[1] not in documented]

    assert [row[1] for row in ours if row[6] == 0 and row[3] and row[4] is None] == []


@pytest.mark.parametrize(("kind", "op", "legal"), pairs())
def test_the_database_keeps_the_matrix(table: sqlite3.Connection, kind: str, op: str, legal: bool) -> None:
    """A pair marked Y is accepted and a pair marked N is refused, by the table itself."""
    row = a_row("pair", item_type=kind, op=op, payload_json=PAYLOADS[kind])

    if legal:
        insert(table, row)
    else:
        with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
            insert(table, row)

    assert statuses(table) == ({"pair": "pending"} if legal else {})


def test_the_matrix_has_all_pairs() -> None:
    """Eight item types by four operations, eighteen of them legal."""
    assert len(pairs()) == 32
    assert sum(legal for _, _, legal in pairs()) == 18


@pytest.mark.parametrize("priority", range(11))
def test_priorities_from_0_to_10(table: sqlite3.Connection, priority: int) -> None:
    """Every documented priority is accepted and kept."""
    add(table, "row", priority=priority)

    assert stored(table, "row", "priority") == (priority,)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("priority", -1),
        ("priority", 11),
        ("priority", "x"),
        ("priority", 5.5),
        ("priority", "5.5"),
        ("priority", ""),
        ("priority", b"5"),
        ("status", "running"),
        ("status", "PENDING"),
        ("status", "pending "),
        ("status", ""),
        ("status", 1),
        ("item_type", "scratchbook"),
        ("item_type", "File"),
        ("item_type", ""),
        ("op", "ingested"),
        ("op", "INGEST"),
        ("op", ""),
        *((column, None) for column in NOT_NULL),
    ],
)
def test_an_illegal_value_is_refused(table: sqlite3.Connection, column: str, value: Any) -> None:
    """Neither an INSERT nor an UPDATE can bring a value that the page rules out."""
    add(table, "before")

    with pytest.raises(sqlite3.IntegrityError):
        insert(table, a_row("row") | {column: value})
    with pytest.raises(sqlite3.IntegrityError):
        table.execute(f"UPDATE unified_queue SET {column} = ?", (value,))  # noqa: S608 -- names of the list above

    assert statuses(table) == {"before": "pending"}


def test_an_update_cannot_leave_the_matrix(table: sqlite3.Connection) -> None:
    """A legal row cannot be turned into an illegal pair."""
    add(table, "row")

    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        table.execute("UPDATE unified_queue SET op = 'scan'")

    assert stored(table, "row", "op") == ("ingest",)


def test_one_row_per_queue_id(table: sqlite3.Connection) -> None:
    """The id is the primary key."""
    add(table, "row")

    with pytest.raises(sqlite3.IntegrityError, match="queue_id"):
        add(table, "row", idempotency_key="another", payload_json='{"file_path": "/other"}')


@pytest.mark.parametrize(("name", "columns", "unique", "rows"), INDEXES, ids=[index[0] for index in INDEXES])
def test_documented_indexes(
    table: sqlite3.Connection, name: str, columns: list[str], unique: bool, rows: str | None
) -> None:
    """Each index has its documented name, columns, order and partial condition, and only one is unique."""
    listed = {
        row[1]: (bool(row[2]), bool(row[4])) for row in table.execute("PRAGMA index_list(unified_queue)")
    }
    keys = [row for row in table.execute(f"PRAGMA index_xinfo({name})") if row[5]]
    (text,) = table.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    condition = re.search(r"\bWHERE\b(.*)", text, re.DOTALL)

    assert listed[name] == (unique, rows is not None)
    assert [f"{row[2]} DESC" if row[3] else row[2] for row in keys] == columns
    assert (" ".join(condition.group(1).split()) if condition else None) == rows


def test_a_pending_key_is_unique_within_its_tenant(table: sqlite3.Connection) -> None:
    """Two waiting rows with one key and tenant are refused; another tenant may use the same key."""
    key = {"idempotency_key": "file:notes:0123456789abcdef"}
    add(table, "first", **key)

    with pytest.raises(sqlite3.IntegrityError, match="idempotency_key"):
        add(table, "second", **key)
    add(table, "elsewhere", tenant_id="globex", **key)

    assert statuses(table) == {"first": "pending", "elsewhere": "pending"}


@pytest.mark.parametrize("status", ["in_progress", "done", "failed"])
def test_a_key_may_come_again_once_it_no_longer_waits(table: sqlite3.Connection, status: str) -> None:
    """A row that runs or has ended does not block its key, so a document can be ingested again."""
    key = {"idempotency_key": "file:notes:0123456789abcdef"}
    add(table, "first", **key)
    table.execute("UPDATE unified_queue SET status = ?", (status,))

    add(table, "second", **key)

    assert statuses(table) == {"first": status, "second": "pending"}


def test_many_ended_rows_share_a_key(table: sqlite3.Connection) -> None:
    """History never refuses a row."""
    for number in range(3):
        add(table, f"job-{number}", idempotency_key="file:notes:0123456789abcdef")
        table.execute("UPDATE unified_queue SET status = 'done'")

    assert set(statuses(table).values()) == {"done"}


@pytest.mark.parametrize("kind", PAYLOADS)
def test_the_documented_columns_make_a_row(table: sqlite3.Connection, kind: str) -> None:
    """An INSERT that names all documented columns and no others is kept as given, the example payload too."""
    row = a_row("row", item_type=kind, op=an_operation(kind), payload_json=PAYLOADS[kind]) | OTHER_COLUMNS
    assert set(row) == {name for name, *_ in COLUMNS}

    insert(table, row)

    assert stored(table, "row", *row) == tuple(row.values())


@pytest.mark.parametrize("kind", PAYLOADS)
def test_columns_with_a_usual_value_may_be_left_out(table: sqlite3.Connection, kind: str) -> None:
    """The shortest INSERT the page allows makes a waiting row of the default priority."""
    row = a_row("row", item_type=kind, op=an_operation(kind), payload_json=chosen(kind))
    for name in OPTIONAL:
        row.pop(name, None)

    insert(table, row)

    assert stored(table, "row", "status", "priority", *DEFAULTS) == ("pending", 5, *DEFAULTS.values())


# How the claim finds rows: the statement's name and the index it must walk, for each it has.
CLAIM = {
    "claim_lane": "queue_ready",
    "claim_lane_packed": "queue_ready",
    "claim_rank": "queue_ready",
    "claim_ring": "queue_ready",
    "claim_heads": "queue_ready",
    "claim_oldest": "queue_oldest",
    "claim_suspect": "queue_suspects",
    "claim_barriers": "sqlite_autoindex_unified_queue_1",
    "claim_running": "idx_unified_queue_worker",
}
BY_NUMBER = ("claim_take", "claim_park", "claim_row")
IN_PROGRESS_ONLY = {"claim_running"}
"""May sort: a partial index of running rows holds no more than the workers can run."""


def claim_statements() -> dict[str, str]:
    """The claim's statements that look at the queue, by name."""
    folder = files("penstock.engines.sqlite").joinpath("statements")
    texts = {
        entry.name.removesuffix(".sql"): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.startswith("claim_")
    }
    return {
        name: text for name, text in texts.items() if re.search(r"(FROM|JOIN|UPDATE) unified_queue", text)
    }


def test_every_claim_statement_is_looked_at() -> None:
    """A statement that joins the claim must say here which index it walks, or that it goes by row number."""
    assert set(claim_statements()) == {*CLAIM, "claim_state", *BY_NUMBER}


@pytest.mark.parametrize("name", CLAIM)
def test_the_claim_looks_only_at_claimable_rows(table: sqlite3.Connection, name: str) -> None:
    """Each statement walks its index and sorts nothing, however many rows there are."""
    fill(table)

    steps = plan(table, claim_statements()[name])
    on_queue = [step for step in steps if re.match(r"(SCAN|SEARCH) (unified_queue|q)\b", step)]

    assert on_queue
    assert [step for step in on_queue if CLAIM[name] not in step] == []
    assert name in IN_PROGRESS_ONLY or not any("TEMP B-TREE" in step for step in steps)


def test_the_claim_begins_with_the_ends_of_its_indexes(table: sqlite3.Connection) -> None:
    """What a claim asks first is answered by single entries of the claimable rows' indexes."""
    fill(table)

    steps = [step for step in plan(table, claim_statements()["claim_state"]) if "unified_queue" in step]

    assert sorted(set(steps)) == [
        "SCAN unified_queue USING INDEX queue_ready",
        "SCAN unified_queue USING INDEX queue_suspects",
    ]


@pytest.mark.parametrize("name", BY_NUMBER)
def test_the_claim_touches_rows_by_their_number(table: sqlite3.Connection, name: str) -> None:
    """Leasing, setting aside and reading by place touch the chosen rows and look at no others."""
    fill(table)

    steps = plan(table, claim_statements()[name])

    assert "SEARCH unified_queue USING INTEGER PRIMARY KEY (rowid=?)" in steps
    assert not any(step.startswith("SCAN unified_queue") for step in steps)


DOCUMENTED_LOOKS = {
    "idx_unified_queue_dequeue": (
        "SELECT * FROM unified_queue WHERE status='pending' ORDER BY priority DESC, created_at ASC LIMIT 10"
    ),
    "idx_unified_queue_idempotency": (
        "SELECT queue_id FROM unified_queue"
        " WHERE idempotency_key = ? AND tenant_id = ? AND keyed AND status = 'pending'"
    ),
    "idx_unified_queue_lease_expiry": (
        "SELECT queue_id FROM unified_queue WHERE status='in_progress' AND lease_until < ?"
    ),
    "idx_unified_queue_collection_tenant": (
        "SELECT * FROM unified_queue WHERE collection = ? AND tenant_id = ?"
    ),
    "idx_unified_queue_item_type": "SELECT item_type, status, count(*) FROM unified_queue GROUP BY 1, 2",
    "idx_unified_queue_failed": (
        "SELECT * FROM unified_queue WHERE status = 'failed' ORDER BY last_error_at DESC LIMIT 10"
    ),
    "idx_unified_queue_worker": (
        "SELECT queue_id FROM unified_queue WHERE worker_id = ? AND status = 'in_progress'"
    ),
}


@pytest.mark.parametrize("name", DOCUMENTED_LOOKS)
def test_a_documented_index_serves_its_purpose(table: sqlite3.Connection, name: str) -> None:
    """The query each index is documented for uses it and sorts nothing."""
    fill(table)
    table.execute("ANALYZE")  # SQLite prefers a partial index only once it knows how few rows it covers

    (step,) = plan(table, DOCUMENTED_LOOKS[name])

    assert re.search(rf"USING (COVERING )?INDEX {name}\b", step)


@pytest.mark.parametrize("limit", [1, 10, 1000])
def test_the_documented_dequeue_needs_no_statistics(table: sqlite3.Connection, limit: int) -> None:
    """Its index gives the rows in order, however many are asked for."""
    fill(table)
    text = DOCUMENTED_LOOKS["idx_unified_queue_dequeue"].replace("LIMIT 10", f"LIMIT {limit}")

    assert plan(table, text) == ["SEARCH unified_queue USING INDEX idx_unified_queue_dequeue (status=?)"]


def fill(table: sqlite3.Connection) -> None:
    """A few hundred rows in every status."""
    table.execute("BEGIN")
    for number in range(400):
        add(table, f"job-{number}", priority=number % 11, tenant_id=f"tenant-{number % 7}")
    for status in ("in_progress", "done", "failed"):
        table.execute(
            "UPDATE unified_queue SET status = ?, worker_id = 'w' || (rowid % 5), lease_until = created_at"
            " WHERE rowid IN (SELECT rowid FROM unified_queue WHERE status = 'pending' LIMIT 100)",
            (status,),
        )
    table.execute("COMMIT")
