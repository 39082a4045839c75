"""Pruning beside a busy writer: nobody waits for its walk, and no batch outlives the job it was made for."""

import sqlite3
from contextlib import closing

import pytest

from penstock.engines.sqlite import SqliteStore, minding
from penstock.model.outcomes import DONE, RELEASE, Failed, Outcome
from tests.conformance.foreign import add, connect, statuses, succeed
from tests.conformance.steps import claim_one, stamp
from tests.support.clock import FakeClock
from tests.support.jobs import a_folder, an_error

DAY = 86_400.0


async def prune(store: SqliteStore, clock: FakeClock, *, limit: int = 1000) -> int:
    """What ended more than a day ago."""
    return await store.queue.prune(
        done_before=clock.now() - DAY, failed_before=clock.now() - DAY, limit=limit
    )


async def test_who_finds_nothing_to_prune_asks_for_no_turn_at_writing(
    store: SqliteStore, db: sqlite3.Connection, clock: FakeClock
) -> None:
    """Rows created long ago that ended just now are walked past while somebody else writes."""
    clock.advance(30 * DAY)
    for number in range(3):
        add(db, f"late-{number}", updated_at=stamp(30 * DAY))
        succeed(db, f"late-{number}")

    with closing(connect(store.path.parent)) as writing:
        writing.execute("BEGIN IMMEDIATE")
        assert await prune(store, clock) == 0

    assert set(statuses(db).values()) == {"done"}


async def test_a_row_put_back_between_the_look_and_the_removal_stays(
    store: SqliteStore, db: sqlite3.Connection, clock: FakeClock
) -> None:
    """What was found is removed only if it is still past its time."""
    for name in ("old", "again", "touched"):
        add(db, name)
        succeed(db, name)
    clock.advance(30 * DAY)
    before = {"done": clock.now() - DAY, "failed": clock.now() - DAY}
    found = await store.look(lambda reading: minding.prunable(reading, before, 1000, clock.now()))

    db.execute("UPDATE unified_queue SET status = 'pending' WHERE queue_id = 'again'")
    db.execute("UPDATE unified_queue SET updated_at = ? WHERE queue_id = 'touched'", (stamp(30 * DAY),))

    assert await store.change(lambda writing: minding.prune(writing, before, found, clock.now())) == 1
    assert statuses(db) == {"again": "pending", "touched": "done"}


@pytest.mark.parametrize(
    ("outcome", "kept"), [(DONE, False), (Failed(an_error()), False), (RELEASE, True)], ids=str
)
async def test_an_old_batch_goes_once_its_parent_has_ended(
    store: SqliteStore, clock: FakeClock, outcome: Outcome, kept: bool
) -> None:
    """One that was never sealed is kept only as long as somebody may still seal it."""
    (receipt,) = await store.queue.submit([a_folder()])
    lease = await claim_one(store.queue)
    batch = await store.batches.open_batch(receipt.job_id)
    await store.queue.settle([(lease, outcome)])
    await prune(store, clock)
    assert await store.batches.batch(batch) is not None

    clock.advance(2 * DAY)
    await prune(store, clock)

    assert (await store.batches.batch(batch) is not None) is kept
