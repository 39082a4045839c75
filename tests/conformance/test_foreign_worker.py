"""A worker of somebody else, on the same table: the documented lifecycle, done by raw SQL."""

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from penstock.engines.sqlite import SqliteStore
from penstock.model.outcomes import DONE, Retry
from tests.conformance.foreign import (
    a_rename,
    add,
    dequeue,
    fail,
    on_path,
    retry,
    stored,
    succeed,
)
from tests.conformance.steps import FORMS, LEASE, claim_one, claimed, drained, stamp
from tests.support.clock import START, FakeClock
from tests.support.jobs import a_note, an_error

Ending = Callable[[sqlite3.Connection, str], None]


async def test_what_a_foreign_worker_took_is_not_handed_out(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """A row in progress elsewhere is left alone, and so is the line behind it."""
    add(db, "theirs", **on_path("/x"))
    add(db, "next", **a_rename("/x"))
    add(db, "free")
    dequeue(db, "theirs", lease_until=stamp(LEASE))

    assert await claimed(store.queue) == ["free"]
    assert await store.queue.rescue() == []
    assert stored(db, "theirs", "status", "worker_id") == ("in_progress", "foreign-1")


@pytest.mark.parametrize("end", [succeed, fail])
async def test_the_line_goes_on_after_a_foreign_end(
    store: SqliteStore, db: sqlite3.Connection, end: Ending
) -> None:
    """The next of the line is claimable as soon as a foreign worker has written done or failed."""
    add(db, "theirs", **on_path("/x"))
    add(db, "next", **a_rename("/x"))
    dequeue(db, "theirs", lease_until=stamp(LEASE))

    end(db, "theirs")

    assert await drained(store.queue) == ["next"]


async def test_a_foreign_retry_is_claimable_again_before_its_backlog(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """The row keeps its place and the retries the foreign worker counted; its line still waits for it."""
    add(db, "theirs", created_at=stamp(0), **on_path("/x"))
    add(db, "backlog", created_at=stamp(1))
    add(db, "next", created_at=stamp(2), **a_rename("/x"))
    dequeue(db, "theirs", lease_until=stamp(LEASE))
    retry(db, "theirs")

    lease = await claim_one(store.queue)

    assert (lease.job_id, lease.attempt) == ("theirs", 2)
    assert await claimed(store.queue) == ["backlog"]
    assert await store.queue.settle([(lease, DONE)]) == [True]
    assert await drained(store.queue) == ["next"]


async def test_a_row_ended_in_mid_line_hands_its_place_on(store: SqliteStore, db: sqlite3.Connection) -> None:
    """Ending a waiting row by hand lets nobody pass the row before it."""
    add(db, "first", **on_path("/x"))
    add(db, "second", **a_rename("/x"))
    add(db, "third", **on_path("/x"), idempotency_key="third")
    fail(db, "second")

    assert await claimed(store.queue) == ["first"]
    assert await claimed(store.queue) == []
    succeed(db, "first")
    assert await claimed(store.queue) == ["third"]


async def test_a_row_a_foreign_worker_took_out_of_turn_keeps_the_line(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """The page's dequeue knows no lines; whatever it takes first, nothing is lost or stuck afterwards."""
    for queue_id, what in (("first", on_path("/x")), ("second", a_rename("/x"))):
        add(db, queue_id, **what)
    add(db, "third", **on_path("/x"), idempotency_key="third")
    dequeue(db, "second", lease_until=stamp(LEASE))

    first = await claim_one(store.queue)
    assert await claimed(store.queue) == []
    assert await store.queue.settle([(first, DONE)]) == [True]
    assert await claimed(store.queue) == []
    retry(db, "second")

    assert await drained(store.queue) == ["second", "third"]


@pytest.mark.parametrize("end", [succeed, fail, retry])
async def test_our_lease_is_fenced_once_somebody_else_moved_the_row(
    store: SqliteStore, db: sqlite3.Connection, end: Ending
) -> None:
    """After a raw done, failed or pending our attempt can neither renew nor settle, and changes nothing."""
    add(db, "row")
    lease = await claim_one(store.queue)
    end(db, "row")
    before = db.execute("SELECT * FROM unified_queue").fetchall()

    (renewal,) = await store.queue.extend([lease])

    assert not renewal.held
    assert await store.queue.settle([(lease, DONE)]) == [False]
    assert await store.queue.settle([(lease, Retry(an_error()))]) == [False]
    assert db.execute("SELECT * FROM unified_queue").fetchall() == before


async def test_our_old_lease_stays_fenced_when_the_row_runs_again(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """Requeued by hand and claimed again, even by the same worker, only the new attempt may settle."""
    add(db, "row")
    old = await claim_one(store.queue)
    retry(db, "row")
    new = await claim_one(store.queue)

    assert await store.queue.settle([(old, DONE)]) == [False]
    assert stored(db, "row", "status") == ("in_progress",)
    assert await store.queue.settle([(new, DONE)]) == [True]


async def test_a_foreign_attempt_is_not_settled_by_our_old_lease(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """A row that a foreign worker holds now cannot be ended by our attempt of before."""
    add(db, "row")
    old = await claim_one(store.queue)
    retry(db, "row")
    dequeue(db, "row", lease_until=stamp(LEASE))

    assert await store.queue.settle([(old, DONE)]) == [False]
    assert stored(db, "row", "status", "worker_id") == ("in_progress", "foreign-1")


async def test_a_batch_counts_what_a_foreign_worker_ended(store: SqliteStore, db: sqlite3.Connection) -> None:
    """Children ended by raw SQL count, and the batch ends with the last of them."""
    batch = await store.batches.open_batch()
    receipts = await store.queue.submit([a_note(), a_note(), a_note()], batch=batch)
    await store.batches.seal_batch(batch)
    one, two, three = [receipt.job_id for receipt in receipts]

    dequeue(db, one, lease_until=stamp(LEASE))
    succeed(db, one)
    fail(db, two)
    halfway = await store.batches.batch(batch)
    retry(db, three)
    succeed(db, three)
    ended = await store.batches.batch(batch)

    assert halfway is not None
    assert ended is not None
    assert (halfway.done, halfway.failed, halfway.ended_at) == (1, 1, None)
    assert (ended.done, ended.failed, ended.state) == (2, 1, "partly_failed")
    assert ended.ended_at is not None


async def test_a_successor_waits_for_a_foreign_attempt(
    store: SqliteStore, db: sqlite3.Connection, clock: FakeClock
) -> None:
    """A new intent waits; the foreign worker's own requeue is refused, and its lease's end frees the line."""
    add(db, "theirs", **on_path("/x"), idempotency_key="file:notes:same")
    dequeue(db, "theirs", lease_until=stamp(LEASE))
    add(db, "later", **on_path("/x"), idempotency_key="file:notes:same")
    assert await claimed(store.queue) == []

    with pytest.raises(sqlite3.IntegrityError, match="idempotency_key"):
        retry(db, "theirs")
    clock.advance(LEASE + 1)
    assert await store.queue.rescue() == ["theirs"]

    assert stored(db, "theirs", "status", "error_code") == ("failed", "ERR_SUPERSEDED")
    assert await drained(store.queue) == ["later"]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
async def test_a_foreign_lease_is_respected_until_it_ran_out(
    store: SqliteStore, db: sqlite3.Connection, clock: FakeClock, form: str
) -> None:
    """However its end is written, a foreign attempt is left alone before it and taken back after it."""
    add(db, "row")
    dequeue(db, "row", lease_until=stamp(LEASE, form))

    clock.advance(LEASE - 61)
    assert await store.queue.rescue() == []
    assert await claimed(store.queue) == []
    clock.advance(122)
    assert await store.queue.rescue() == ["row"]

    assert await claimed(store.queue) == ["row"]


async def test_a_lease_with_another_offset_ends_at_the_same_moment(
    store: SqliteStore, db: sqlite3.Connection, clock: FakeClock
) -> None:
    """Times are compared as moments: 14:00+02:00 is noon."""
    for hours in (-5, 2, 9):
        there = datetime.fromtimestamp(START + LEASE, UTC) + timedelta(hours=hours)
        add(db, f"row{hours}")
        dequeue(db, f"row{hours}", lease_until=f"{there:%Y-%m-%dT%H:%M:%S}{hours:+03d}:00")

    clock.advance(LEASE - 1)
    assert await store.queue.rescue() == []
    clock.advance(2)
    assert len(await store.queue.rescue()) == 3


@pytest.mark.parametrize("lease_until", [None, "", "soon"])
async def test_an_attempt_without_a_lease_is_taken_back(
    store: SqliteStore, db: sqlite3.Connection, lease_until: str | None
) -> None:
    """A row in progress that names no end could otherwise stay so for ever."""
    add(db, "row", status="in_progress", worker_id="foreign-1", lease_until=lease_until)

    assert await store.queue.rescue() == ["row"]
    assert await claimed(store.queue) == ["row"]


async def test_a_renewed_foreign_lease_holds(
    store: SqliteStore, db: sqlite3.Connection, clock: FakeClock
) -> None:
    """A foreign worker that renews keeps its row."""
    add(db, "row")
    dequeue(db, "row", lease_until=stamp(LEASE))
    clock.advance(LEASE - 10)
    db.execute("UPDATE unified_queue SET lease_until = ?", (stamp(2 * LEASE),))
    clock.advance(20)

    assert await store.queue.rescue() == []


async def test_the_line_waits_for_a_rescued_foreign_row(
    store: SqliteStore, db: sqlite3.Connection, clock: FakeClock
) -> None:
    """A rescue hands back the row itself, ahead of its line and of the backlog."""
    add(db, "theirs", **on_path("/x"))
    add(db, "next", created_at=stamp(-60), **a_rename("/x"))
    add(db, "backlog", created_at=stamp(60))
    dequeue(db, "theirs", lease_until=stamp(LEASE))
    clock.advance(LEASE + 1)
    await store.queue.rescue()

    assert await drained(store.queue) == ["theirs", "next", "backlog"]
