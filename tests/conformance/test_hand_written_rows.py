"""Rows no program of ours would write: each is refused by the table or harms nobody but itself."""

import sqlite3
from typing import Any

import pytest

from penstock.engines.sqlite import SqliteStore
from penstock.engines.sqlite.times import iso, seconds
from penstock.model.errors import Refused
from penstock.model.jobs import JobId
from penstock.model.outcomes import DONE, Failed
from penstock.ports.desk import Wanted
from tests.conformance.foreign import a_farewell, add, on_path, statuses, stored
from tests.conformance.steps import OURS, claim_one, claimed, drained, stamp
from tests.support.clock import FakeClock
from tests.support.jobs import an_error

DEEP = '{"content": "x", "extra": ' + "[" * 5000 + "]" * 5000 + "}"
NO_TEXT = "CAST(x'7bff7d' AS TEXT)"
"""Braces around a byte that UTF-8 does not know."""


@pytest.mark.parametrize("status", ["done", "failed"])
async def test_history_inserted_by_hand_blocks_no_line(
    store: SqliteStore, db: sqlite3.Connection, status: str
) -> None:
    """A row that was born ended is no unfinished work on its path."""
    add(db, "history", status=status, **on_path("/x"))
    add(db, "new", idempotency_key="new", **on_path("/x"))

    assert await drained(store.queue) == ["new"]


@pytest.mark.parametrize("status", ["done", "failed"])
async def test_history_inserted_by_hand_holds_no_tenant_deletion_up(
    store: SqliteStore, db: sqlite3.Connection, status: str
) -> None:
    """The deletion of a tenant does not wait for a row that was born ended."""
    add(db, "history", status=status)
    add(db, "farewell", **a_farewell())

    assert await drained(store.queue) == ["farewell"]


@pytest.mark.parametrize(
    "time", ["9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "soon", b"soon", ""]
)
async def test_a_time_beyond_all_times_can_be_told_again(
    store: SqliteStore, db: sqlite3.Connection, time: object
) -> None:
    """Whatever stands there, the job is listed with a time that can be written."""
    add(db, "odd", created_at=time, updated_at=time)

    (job,) = await store.desk.jobs(Wanted())

    assert seconds(iso(job.created_at)) == job.created_at == job.updated_at


@pytest.mark.parametrize("count", ["half", -1, 1e30, b"3"])
async def test_progress_that_is_no_count_is_not_shown(
    store: SqliteStore, db: sqlite3.Connection, count: object
) -> None:
    """The job is listed all the same, as one that has told nothing yet."""
    add(db, "odd")
    db.execute("UPDATE unified_queue SET progress_done = ?, progress_total = 9", (count,))

    (job,) = await store.desk.jobs(Wanted())

    assert (job.id, job.progress) == ("odd", None)


async def test_a_payload_nested_too_deep_fails_alone(store: SqliteStore, db: sqlite3.Connection) -> None:
    """A payload that exhausts the reader ends its own row and leaves the rest of the claim whole."""
    add(db, "good")
    add(db, "bad", item_type="content", payload_json=DEEP)

    assert await claimed(store.queue) == ["good"]
    assert stored(db, "bad", "status", "error_code") == ("failed", "ERR_PAYLOAD_INVALID")


async def test_a_payload_that_is_no_text_fails_alone(store: SqliteStore, db: sqlite3.Connection) -> None:
    """A payload with bytes that are no UTF-8 ends its own row and leaves the rest of the claim whole."""
    add(db, "good", tenant_id="good")
    add(db, "bad", item_type="content", payload_json='{"content": "x"}', tenant_id="bad")
    spoil(db, "payload_json")

    assert await claimed(store.queue) == ["good"]
    assert stored(db, "bad", "status", "error_code") == ("failed", "ERR_PAYLOAD_INVALID")


@pytest.mark.parametrize("column", ["metadata", "branch", "collection"])
async def test_a_column_that_is_no_text_stops_nobody(
    store: SqliteStore, db: sqlite3.Connection, column: str
) -> None:
    """Bytes that are no UTF-8 beside a sound payload keep neither this row nor its neighbour from its end."""
    add(db, "good", tenant_id="good")
    add(db, "bad", item_type="content", payload_json='{"content": "x"}', tenant_id="bad")
    spoil(db, column)

    leases = await store.queue.claim(OURS, 10)

    assert {lease.job_id for lease in leases} == {"good", "bad"}
    assert await store.queue.settle([(lease, DONE) for lease in leases]) == [True, True]
    assert statuses(db) == {"good": "done", "bad": "done"}


@pytest.mark.parametrize(
    ("column", "value"), [("retry_count", "x"), ("max_retries", "x"), ("queue_id", b"x")]
)
async def test_a_value_of_another_type_is_refused(
    store: SqliteStore, db: sqlite3.Connection, column: str, value: Any
) -> None:
    """The table turns such a change away, and the row runs as it was."""
    add(db, "row")

    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        db.execute(f"UPDATE unified_queue SET {column} = ?", (value,))  # noqa: S608 -- names of the list above

    assert await drained(store.queue) == ["row"]
    assert statuses(db) == {"row": "done"}


def test_an_empty_tenant_is_refused(table: sqlite3.Connection) -> None:
    """A row without an owner would wait for ever, so the table does not take it."""
    with pytest.raises(sqlite3.IntegrityError, match="tenant_id"):
        add(table, "row", tenant_id="")

    assert statuses(table) == {}


async def test_a_tenant_deletes_only_itself(store: SqliteStore, db: sqlite3.Connection) -> None:
    """A deletion that names another tenant than its own fails, and neither tenant loses anything."""
    add(db, "mine")
    add(db, "theirs", tenant_id="globex")
    add(db, "farewell", **(a_farewell("globex") | {"tenant_id": "acme"}))
    await store.queue.promote()

    assert sorted(await claimed(store.queue)) == ["mine", "theirs"]
    assert stored(db, "farewell", "status", "error_code") == ("failed", "ERR_TENANT_INVALID")


async def test_a_tenant_deletion_that_cannot_be_read_ends_nothing(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """A torn deletion fails alone; what its tenant has waiting goes on."""
    add(db, "mine")
    add(db, "farewell", **(a_farewell() | {"payload_json": "{torn"}))
    await store.queue.promote()

    assert await claimed(store.queue) == ["mine"]
    assert stored(db, "mine", "status", "error_code") == ("in_progress", None)
    assert stored(db, "farewell", "status", "error_code") == ("failed", "ERR_PAYLOAD_INVALID")


@pytest.mark.parametrize("metadata", ["not json", "[]", DEEP])
async def test_replaying_a_row_with_unreadable_metadata_is_refused(
    store: SqliteStore, db: sqlite3.Connection, metadata: str
) -> None:
    """What cannot be read cannot be submitted anew, and the desk says so in its own words."""
    add(db, "row", metadata=metadata)
    lease = await claim_one(store.queue)
    assert await store.queue.settle([(lease, Failed(an_error()))]) == [True]

    with pytest.raises(Refused):
        await store.desk.replay([JobId("row")])

    assert statuses(db) == {"row": "failed"}


async def test_prune_reads_times_in_any_form(
    store: SqliteStore, db: sqlite3.Connection, clock: FakeClock
) -> None:
    """A row ended a minute ago is kept for its hour, though its times are written with a space."""
    form = "%Y-%m-%d %H:%M:%S"
    add(db, "row", created_at=stamp(-120, form))
    db.execute("UPDATE unified_queue SET status = 'done', updated_at = ?", (stamp(-60, form),))
    hour_ago = clock.now() - 3600

    assert await store.queue.prune(done_before=hour_ago, failed_before=hour_ago) == 0
    clock.advance(3600)
    hour_ago = clock.now() - 3600
    assert await store.queue.prune(done_before=hour_ago, failed_before=hour_ago) == 1


def spoil(db: sqlite3.Connection, column: str) -> None:
    """Put bytes that are no text into a column of the row named bad."""
    db.execute(f"UPDATE unified_queue SET {column} = {NO_TEXT} WHERE queue_id = 'bad'")  # noqa: S608 -- names from the test itself
