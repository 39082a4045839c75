"""Rows replaced, requeued, removed or taken over by raw SQL: lines, batches and leases stay true."""

import sqlite3
from collections.abc import Callable

import pytest

from penstock.engines.sqlite import SqliteStore
from penstock.model.outcomes import DONE
from tests.conformance.foreign import (
    Row,
    a_farewell,
    a_rename,
    a_row,
    add,
    dequeue,
    fail,
    on_path,
    statuses,
    stored,
    succeed,
)
from tests.conformance.steps import LEASE, claim_one, claimed, drained, stamp
from tests.support.clock import START, FakeClock
from tests.support.jobs import a_job, a_note

Ending = Callable[[sqlite3.Connection, str], None]


async def test_pruning_mends_the_line_of_a_replaced_row(store: SqliteStore, db: sqlite3.Connection) -> None:
    """REPLACE removes a row without a word; the next round of pruning lets those behind it go on in order."""
    add(db, "old", idempotency_key="same", **on_path("/x"))
    add(db, "next", **a_rename("/x"))
    replace(db, a_row("new", idempotency_key="same", **on_path("/x")))
    assert statuses(db) == {"next": "pending", "new": "pending"}

    await store.queue.prune(done_before=START - 3600, failed_before=START - 3600)

    assert await drained(store.queue) == ["next", "new"]


async def test_pruning_opens_the_tenant_of_a_replaced_deletion(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """A deletion that REPLACE has removed closes its tenant only until the next round of pruning."""
    add(db, "farewell", **(a_farewell() | {"idempotency_key": "same"}))
    add(db, "after", **on_path("/x"))
    await store.queue.promote()
    replace(db, a_row("new", idempotency_key="same", **on_path("/y")))
    assert await drained(store.queue) == []

    await store.queue.prune(done_before=START - 3600, failed_before=START - 3600)

    assert sorted(await drained(store.queue)) == ["after", "new"]


async def test_a_requeued_row_joins_its_line(store: SqliteStore, db: sqlite3.Connection) -> None:
    """A failed row put back to pending waits for what runs on its path meanwhile."""
    add(db, "first", idempotency_key="same", **on_path("/x"))
    fail(db, "first")
    add(db, "second", idempotency_key="same", **on_path("/x"))
    second = await claim_one(store.queue)

    requeue(db, "first")

    assert await claimed(store.queue) == []
    assert await store.queue.settle([(second, DONE)]) == [True]
    assert await drained(store.queue) == ["first"]


async def test_a_requeued_tenant_deletion_is_a_barrier_again(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """A row that came after it waits for its end, whatever its priority."""
    add(db, "farewell", **a_farewell())
    fail(db, "farewell")
    requeue(db, "farewell")
    add(db, "after", priority=10)
    await store.queue.promote()

    assert await claimed(store.queue) == ["farewell"]


@pytest.mark.parametrize(
    ("payload", "code"),
    [(a_farewell("globex")["payload_json"], "ERR_TENANT_INVALID"), ("no JSON", "ERR_PAYLOAD_INVALID")],
    ids=["another tenant", "nobody"],
)
async def test_a_requeued_deletion_that_does_not_name_its_tenant_ends_nothing(
    store: SqliteStore, db: sqlite3.Connection, payload: str, code: str
) -> None:
    """It fails by itself, and the waiting jobs of the tenant whose row it is go on."""
    add(db, "farewell", **(a_farewell() | {"payload_json": payload}))
    fail(db, "farewell")
    add(db, "waiting")

    requeue(db, "farewell")
    await store.queue.promote()

    assert statuses(db) == {"farewell": "pending", "waiting": "pending"}
    assert await claimed(store.queue) == ["waiting"]
    assert stored(db, "farewell", "status", "error_code") == ("failed", code)


async def test_a_requeued_child_counts_once(store: SqliteStore, db: sqlite3.Connection) -> None:
    """A batch forgets the end that was taken back and counts the last one only."""
    batch = await store.batches.open_batch()
    (receipt,) = await store.queue.submit([a_note()], batch=batch)
    await store.batches.seal_batch(batch)

    fail(db, receipt.job_id)
    requeue(db, receipt.job_id)
    meanwhile = await store.batches.batch(batch)
    succeed(db, receipt.job_id)
    ended = await store.batches.batch(batch)

    assert meanwhile is not None
    assert (meanwhile.done, meanwhile.failed, meanwhile.ended_at) == (0, 0, None)
    assert ended is not None
    assert (ended.done, ended.failed) == (1, 0)
    assert ended.ended_at is not None


@pytest.mark.parametrize("end", [succeed, fail])
async def test_an_ended_row_taken_up_by_hand_is_unfinished_again(
    store: SqliteStore, db: sqlite3.Connection, end: Ending
) -> None:
    """What waits on its path waits for it; its batch forgets the first end and counts the last."""
    batch = await store.batches.open_batch()
    (receipt,) = await store.queue.submit([a_job("/x")], batch=batch)
    await store.batches.seal_batch(batch)
    end(db, receipt.job_id)
    add(db, "next", **on_path("/x"))
    add(db, "last", **a_rename("/x"))

    take_up(db, receipt.job_id)
    meanwhile = await store.batches.batch(batch)
    assert await claimed(store.queue) == []
    succeed(db, receipt.job_id)
    ended = await store.batches.batch(batch)

    assert meanwhile is not None
    assert (meanwhile.done, meanwhile.failed, meanwhile.ended_at) == (0, 0, None)
    assert ended is not None
    assert (ended.done, ended.failed) == (1, 0)
    assert await drained(store.queue) == ["next", "last"]


async def test_a_batch_ends_though_a_child_was_removed(store: SqliteStore, db: sqlite3.Connection) -> None:
    """Removing the last unfinished child by hand ends the batch, for nothing is left to wait for."""
    batch = await store.batches.open_batch()
    kept, removed = await store.queue.submit([a_note(), a_note()], batch=batch)
    await store.batches.seal_batch(batch)
    succeed(db, kept.job_id)

    db.execute("DELETE FROM unified_queue WHERE queue_id = ?", (removed.job_id,))

    found = await store.batches.batch(batch)
    assert found is not None
    assert found.ended_at is not None


@pytest.mark.parametrize(
    ("kept", "counts"), [(True, (1, 1, 0)), (False, (1, 0, 1))], ids=["ended anew", "removed"]
)
async def test_pruning_mends_the_batch_of_a_replaced_child(
    store: SqliteStore, db: sqlite3.Connection, kept: bool, counts: tuple[int, int, int]
) -> None:
    """REPLACE takes a child away without a word; after the next round of pruning nobody waits for it."""
    batch = await store.batches.open_batch()
    ours, theirs = await store.queue.submit([a_note(), a_note()], batch=batch)
    running = await store.batches.open_batch()
    await store.queue.submit([a_note()], batch=running)
    for each in (batch, running):
        await store.batches.seal_batch(each)
    (key,) = stored(db, theirs.job_id, "idempotency_key")
    replace(
        db, a_row(theirs.job_id if kept else "new", idempotency_key=key, status="done" if kept else "pending")
    )
    (succeed if kept else fail)(db, ours.job_id)

    await store.queue.prune(done_before=START - 3600, failed_before=START - 3600)

    found = await store.batches.batch(batch)
    assert found is not None
    assert (found.total, found.done, found.failed) == counts
    assert found.ended_at is not None
    left_alone = await store.batches.batch(running)
    assert left_alone is not None
    assert (left_alone.total, left_alone.ended_at) == (1, None)


@pytest.mark.parametrize(
    "form",
    ["%Y-%m-%dT%H:%M:%S+0000", "%Y%m%dT%H%M%SZ", "%Y-%m-%dT%H:%M:%S,500Z"],
    ids=["an offset without a colon", "the basic format", "a decimal comma"],
)
async def test_a_lease_in_any_iso_form_is_respected(
    store: SqliteStore, db: sqlite3.Connection, clock: FakeClock, form: str
) -> None:
    """However ISO 8601 lets its end be written, a foreign attempt is left alone until then and no longer."""
    add(db, "row")
    dequeue(db, "row", lease_until=stamp(LEASE, form))

    clock.advance(LEASE - 1)
    assert await store.queue.rescue() == []
    clock.advance(2)
    assert await store.queue.rescue() == ["row"]


async def test_a_lease_taken_over_by_hand_fences_the_old_one(
    store: SqliteStore, db: sqlite3.Connection, clock: FakeClock
) -> None:
    """Once a foreign worker has put its name on a running row, our attempt can no longer end it."""
    add(db, "row")
    lease = await claim_one(store.queue)
    clock.advance(LEASE + 1)
    db.execute("UPDATE unified_queue SET worker_id = 'foreign-1', lease_until = ?", (stamp(3 * LEASE),))

    assert await store.queue.settle([(lease, DONE)]) == [False]
    assert stored(db, "row", "status", "worker_id") == ("in_progress", "foreign-1")


def requeue(db: sqlite3.Connection, queue_id: str) -> None:
    """Put an ended row back by hand."""
    db.execute("UPDATE unified_queue SET status = 'pending' WHERE queue_id = ?", (queue_id,))


def take_up(db: sqlite3.Connection, queue_id: str) -> None:
    """Work on a row whatever its status is."""
    db.execute(
        "UPDATE unified_queue SET status = 'in_progress', worker_id = 'foreign-1', lease_until = '2099-01-01'"
        " WHERE queue_id = ?",
        (queue_id,),
    )


def replace(db: sqlite3.Connection, row: Row) -> None:
    """Write a row over whatever has its id or its key."""
    names, marks = ", ".join(row), ", ".join("?" for _ in row)
    db.execute(
        f"INSERT OR REPLACE INTO unified_queue ({names}) VALUES ({marks})",  # noqa: S608 -- names of a_row
        list(row.values()),
    )
