"""Rows that other programs write by raw SQL, as the page describes, and their turn in our queue."""

import asyncio
import json
import random
import sqlite3
from collections.abc import Callable

import pytest

from penstock.engines.sqlite import SqliteStore
from penstock.engines.system.clock import SystemClock
from penstock.model.jobs import JobId
from penstock.model.outcomes import DONE, Retry
from penstock.model.payloads import ItemType
from penstock.work.crew import run_crew
from penstock.work.handlers import Handlers, Run
from penstock.work.pace import Pace
from penstock.work.worker import Worker
from tests.conformance.foreign import (
    NOON,
    PAYLOADS,
    a_farewell,
    a_removal,
    a_rename,
    add,
    an_operation,
    chosen,
    dequeue,
    dequeue_order,
    fail,
    on_path,
    pairs,
    statuses,
    stored,
    succeed,
)
from tests.conformance.steps import LEASE, OURS, STAMPS, claim_one, claimed, drained, stamp
from tests.support.clock import START, FakeClock
from tests.support.jobs import a_delete, a_job, an_error

Ending = Callable[[sqlite3.Connection, str], None]


async def test_a_running_worker_processes_raw_rows_of_every_type(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """Each of the eight types, inserted while the worker sleeps, is run with its payload and ends done."""
    ran: dict[str, Run] = {}
    all_ran = asyncio.Event()
    handlers = Handlers()

    async def handle(run: Run) -> None:
        ran[run.lease.job_id] = run
        if len(ran) == len(PAYLOADS):
            all_ran.set()

    for item_type in ItemType:
        handlers.on(item_type)(handle)
    clock, pace = SystemClock(), Pace(grace=5.0)
    worker = Worker(store.queue, handlers, worker_id=OURS, concurrency=4, clock=clock, pace=pace)
    crew = asyncio.create_task(run_crew(worker, store.queue, store, clock, pace))
    try:
        for number, kind in enumerate(PAYLOADS):
            # A tenant each: the deletion of one must not end the others.
            add(
                db,
                kind,
                item_type=kind,
                op=an_operation(kind),
                tenant_id="acme" if kind == "delete_tenant" else f"tenant-{kind}",
                created_at=stamp(number, STAMPS[number % len(STAMPS)]),
                payload_json=chosen(kind),
            )
        async with asyncio.timeout(20.0):
            await all_ran.wait()
    finally:
        worker.stop()
        await crew

    assert statuses(db) == dict.fromkeys(PAYLOADS, "done")
    for kind, run in ran.items():
        assert run.lease.item_type == kind
        given = json.loads(chosen(kind))
        got = {name: getattr(run.payload, name) for name in given}
        assert json.loads(json.dumps(got)) == given


@pytest.mark.parametrize("kind", PAYLOADS)
async def test_a_raw_row_is_handed_out_as_it_stands(
    store: SqliteStore, db: sqlite3.Connection, kind: str
) -> None:
    """Priority, branch, metadata and retries of the row reach the worker, and done is written back."""
    op = an_operation(kind)
    add(
        db,
        kind,
        item_type=kind,
        op=op,
        priority=7,
        payload_json=chosen(kind),
        branch="feature/x",
        metadata='{"a": 1}',
        retry_count=1,
    )
    await store.queue.promote()

    lease = await claim_one(store.queue)

    assert (lease.job_id, lease.op, lease.priority, lease.branch) == (kind, op, 7, "feature/x")
    assert (json.loads(lease.metadata_json), lease.attempt) == ({"a": 1}, 2)
    assert stored(db, kind, "status", "worker_id") == ("in_progress", "ours")
    assert await store.queue.settle([(lease, DONE)]) == [True]
    assert stored(db, kind, "status", "lease_until", "worker_id") == ("done", None, None)


async def test_columns_that_may_be_null_may_be_null(store: SqliteStore, db: sqlite3.Connection) -> None:
    """An explicit NULL for branch and metadata means the same as leaving them out."""
    add(db, "row", branch=None, metadata=None)

    lease = await claim_one(store.queue)

    assert (lease.branch, lease.metadata_json) == ("main", "{}")


async def test_a_lease_of_ours_is_readable_by_others(
    store: SqliteStore, db: sqlite3.Connection, clock: FakeClock
) -> None:
    """lease_until is five minutes ahead and compares as text and as time, as stale detection needs it."""
    add(db, "row")
    await store.queue.claim(OURS, 1)

    def stale(seconds: float) -> list[tuple[str]]:
        return db.execute(
            "SELECT queue_id FROM unified_queue WHERE status='in_progress' AND lease_until < ?",
            (stamp(seconds),),
        ).fetchall()

    assert stale(LEASE - 1) == []
    assert stale(LEASE + 1) == [("row",)]
    (ahead,) = db.execute(
        "SELECT strftime('%s', lease_until) - ? FROM unified_queue", (int(START),)
    ).fetchone()
    assert ahead == LEASE


@pytest.mark.parametrize("form", STAMPS)
async def test_order_is_priority_then_age(store: SqliteStore, db: sqlite3.Connection, form: str) -> None:
    """Higher priorities go first and older rows before newer ones, in whatever form the times are written."""
    add(db, "low", priority=1, created_at=stamp(0, form))
    add(db, "newer", created_at=stamp(20, form))
    add(db, "older", created_at=stamp(10, form))
    add(db, "high", priority=9, created_at=stamp(30, form))

    assert await drained(store.queue) == ["high", "older", "newer", "low"]


async def test_forms_mixed_in_one_table_keep_the_order_of_the_documented_query(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """The page orders by the text of created_at, and so do we."""
    for number in range(30):
        add(db, f"row-{number}", created_at=stamp(number * 7 % 30, STAMPS[number % len(STAMPS)]))
    expected = dequeue_order(db)

    assert await drained(store.queue) == expected


@pytest.mark.parametrize("batch", [1, 7, 300])
async def test_three_hundred_random_rows_come_in_the_documented_order(
    store: SqliteStore, db: sqlite3.Connection, batch: int
) -> None:
    """With one tenant and the tenth-claim rule off a claim is exactly priority DESC, created_at ASC."""
    draw = random.Random(batch)
    legal = [(kind, op) for kind, op, is_legal in pairs() if is_legal and kind != "delete_tenant"]
    db.execute("BEGIN")
    for number in range(300):
        kind, op = draw.choice(legal)
        add(
            db,
            f"row-{number}",
            item_type=kind,
            op=op,
            priority=10 if op == "delete" else draw.randint(0, 10),  # a delete counts as 10
            created_at=stamp(draw.randint(0, 200)),
            payload_json=_own(kind, number),
        )
    db.execute("COMMIT")
    expected = dequeue_order(db)

    got: list[str] = []
    while ids := await claimed(store.queue, batch):
        got += ids

    assert len(expected) == 300
    assert got == expected


def _own(kind: str, number: int) -> str:
    """A payload about an object nobody else names."""
    return {
        "content": f'{{"content": "note {number}"}}',
        "file": f'{{"file_path": "/f/{number}"}}',
        "folder": f'{{"folder_path": "/d/{number}"}}',
        "project": f'{{"project_root": "/p/{number}"}}',
        "library": f'{{"library_name": "lib-{number}", "library_version": "1"}}',
        "delete_document": f'{{"document_id": "doc-{number}"}}',
        "rename": f'{{"old_path": "/r/{number}", "new_path": "/s/{number}"}}',
    }[kind]


async def test_a_raw_delete_counts_as_ten(store: SqliteStore, db: sqlite3.Connection) -> None:
    """Whatever its priority says, it goes before everything but older tens."""
    add(db, "urgent", priority=9)
    add(db, "removal", priority=0, created_at=stamp(60), **a_removal("/gone"))

    assert await drained(store.queue) == ["removal", "urgent"]


async def test_raw_rows_and_submits_share_one_order(
    store: SqliteStore, db: sqlite3.Connection, clock: FakeClock
) -> None:
    """Who wrote a row makes no difference to its turn."""
    add(db, "first", created_at=stamp(0))
    clock.advance(10)
    (second,) = await store.queue.submit([a_job()])
    add(db, "third", created_at=stamp(20))
    (high,) = await store.queue.submit([a_job(priority=9)])

    assert await drained(store.queue) == [high.job_id, "first", second.job_id, "third"]


async def test_rows_on_one_path_run_one_at_a_time_in_insert_order(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """A later row waits for the earlier one on its path, though its priority is higher and its time older."""
    add(db, "ingest", created_at=stamp(50), **on_path("/x"))
    add(db, "rename", priority=10, created_at=stamp(0), **a_rename("/x"))
    add(db, "other", priority=0, **on_path("/y"))

    assert await claimed(store.queue) == ["ingest", "other"]
    assert await claimed(store.queue) == []
    succeed(db, "ingest")
    assert await claimed(store.queue) == ["rename"]


async def test_the_same_path_elsewhere_is_another_object(store: SqliteStore, db: sqlite3.Connection) -> None:
    """Neither another tenant nor another collection waits."""
    add(db, "mine", **on_path("/x"))
    add(db, "theirs", tenant_id="globex", **on_path("/x"))
    add(db, "archive", collection="archive", **on_path("/x"))

    assert set(await claimed(store.queue)) == {"mine", "theirs", "archive"}


async def test_a_submit_joins_the_line_of_a_raw_row(store: SqliteStore, db: sqlite3.Connection) -> None:
    """A job of ours on the path of a raw row waits for it."""
    add(db, "rename", **a_rename("/x"))
    (receipt,) = await store.queue.submit([a_job("/x", priority=10)])

    assert await drained(store.queue) == ["rename", receipt.job_id]


async def test_a_raw_delete_ends_what_waits_before_it(store: SqliteStore, db: sqlite3.Connection) -> None:
    """Earlier rows on the object end as superseded; later ones and other objects are not touched."""
    add(db, "ingest", **on_path("/x"))
    add(db, "other", **on_path("/y"))
    add(db, "removal", **a_removal("/x"))
    add(db, "again", **on_path("/x"), idempotency_key="again")

    assert stored(db, "ingest", "status", "error_code") == ("failed", "ERR_SUPERSEDED")
    assert await drained(store.queue) == ["removal", "other", "again"]


async def test_a_raw_delete_tells_what_runs_to_stop(store: SqliteStore, db: sqlite3.Connection) -> None:
    """The running attempt is told at its next renewal, cannot go on to retry, and the delete follows it."""
    add(db, "ingest", **on_path("/x"))
    lease = await claim_one(store.queue)
    add(db, "removal", **a_removal("/x"))

    (renewal,) = await store.queue.extend([lease])
    assert (renewal.held, renewal.cancel_code) == (True, "ERR_SUPERSEDED")
    assert await claimed(store.queue) == []
    assert await store.queue.settle([(lease, Retry(an_error()))]) == [True]

    assert stored(db, "ingest", "status", "error_code") == ("failed", "ERR_SUPERSEDED")
    assert await drained(store.queue) == ["removal"]


async def test_a_raw_tenant_deletion_is_a_barrier(store: SqliteStore, db: sqlite3.Connection) -> None:
    """What its tenant had waiting ends, what comes later waits, and other tenants go on."""
    add(db, "before")
    add(db, "farewell", created_at=stamp(1), **a_farewell())
    add(db, "after", priority=10)
    add(db, "globex", tenant_id="globex")
    await store.queue.promote()

    assert stored(db, "before", "status", "error_code") == ("failed", "ERR_SUPERSEDED")
    assert set(await claimed(store.queue)) == {"farewell", "globex"}
    assert await claimed(store.queue) == []
    succeed(db, "farewell")
    assert await drained(store.queue) == ["after"]


async def test_a_raw_tenant_deletion_waits_for_what_runs(store: SqliteStore, db: sqlite3.Connection) -> None:
    """It is not handed out while a row of its tenant runs, even in a foreign worker."""
    add(db, "theirs")
    dequeue(db, "theirs", lease_until=stamp(LEASE))
    add(db, "farewell", **a_farewell())
    await store.queue.promote()

    assert await claimed(store.queue) == []
    succeed(db, "theirs")
    assert await drained(store.queue) == ["farewell"]


@pytest.mark.parametrize("end", [succeed, fail])
async def test_a_tenant_opens_again_however_a_foreign_worker_ends_its_deletion(
    store: SqliteStore, db: sqlite3.Connection, end: Ending
) -> None:
    """Done or failed, nobody waits for a deletion that is over."""
    add(db, "farewell", **a_farewell())
    add(db, "after")
    await store.queue.promote()
    dequeue(db, "farewell", lease_until=stamp(LEASE))
    assert await claimed(store.queue) == []

    end(db, "farewell")

    assert await drained(store.queue) == ["after"]


@pytest.mark.parametrize("removed", ["first", "second"])
async def test_removing_an_unfinished_row_lets_its_line_go_on(
    store: SqliteStore, db: sqlite3.Connection, removed: str
) -> None:
    """The head or the middle of a line may vanish; the others keep their order."""
    add(db, "first", **on_path("/x"))
    add(db, "second", **a_rename("/x"))
    add(db, "third", **on_path("/x"), idempotency_key="third")

    db.execute("DELETE FROM unified_queue WHERE queue_id = ?", (removed,))

    assert await drained(store.queue) == [row for row in ("first", "second", "third") if row != removed]


async def test_removing_a_running_row_frees_its_line_and_fences_its_attempt(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """The attempt has nothing left to settle, and brings nothing back."""
    add(db, "first", **on_path("/x"))
    add(db, "second", **a_rename("/x"))
    lease = await claim_one(store.queue)

    db.execute("DELETE FROM unified_queue WHERE queue_id = 'first'")

    assert await store.queue.settle([(lease, DONE)]) == [False]
    assert await drained(store.queue) == ["second"]
    assert statuses(db) == {"second": "done"}


async def test_removing_a_tenant_deletion_opens_the_tenant(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """A barrier that is no longer there holds nobody back."""
    add(db, "farewell", **a_farewell())
    add(db, "after")
    await store.queue.promote()

    db.execute("DELETE FROM unified_queue WHERE queue_id = 'farewell'")

    assert await drained(store.queue) == ["after"]


async def test_removing_everything_leaves_a_queue_that_works(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """DELETE without a condition leaves nothing behind that a new row could stumble over."""
    add(db, "first", **on_path("/x"))
    add(db, "second", **a_rename("/x"))
    add(db, "farewell", **a_farewell("globex"))
    await store.queue.claim(OURS, 1)

    db.execute("DELETE FROM unified_queue")
    add(db, "fresh", **on_path("/x"))
    add(db, "globex", tenant_id="globex")

    assert set(await drained(store.queue)) == {"fresh", "globex"}


async def test_removing_a_row_lets_a_tenant_deletion_go_on(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """A deletion waits for what runs before it, and no longer once that row is gone."""
    add(db, "running")
    dequeue(db, "running", lease_until=stamp(LEASE))
    add(db, "farewell", **a_farewell())
    await store.queue.promote()
    assert await claimed(store.queue) == []

    db.execute("DELETE FROM unified_queue WHERE queue_id = 'running'")

    assert await drained(store.queue) == ["farewell"]


async def test_our_delete_ends_a_raw_row_that_waits(store: SqliteStore, db: sqlite3.Connection) -> None:
    """A submitted delete of the path supersedes the raw row, whatever key that was given."""
    add(db, "theirs", **on_path("/x"), idempotency_key="some other form")
    (receipt,) = await store.queue.submit([a_delete("/x")])

    assert stored(db, "theirs", "status", "error_code") == ("failed", "ERR_SUPERSEDED")
    assert await drained(store.queue) == [receipt.job_id]


async def test_the_desk_shows_and_cancels_raw_rows(store: SqliteStore, db: sqlite3.Connection) -> None:
    """An operator finds a raw row by its id, with its times in any form, and can cancel it."""
    add(db, "my row #1", created_at=stamp(0, STAMPS[2]), updated_at=stamp(5, STAMPS[1]))

    job = await store.desk.find(JobId("my row #1"))

    assert job is not None
    assert (job.created_at, job.updated_at) == (START, START + 5)
    assert await store.desk.cancel([JobId("my row #1")]) == [True]
    assert stored(db, "my row #1", "status", "error_code") == ("failed", "ERR_CANCELLED")


async def test_a_raw_change_wakes_a_waiting_worker(store: SqliteStore, db: sqlite3.Connection) -> None:
    """Nobody rings for a raw row, and still the wait for work ends soon after it was written."""
    assert await store.queue.arrival(0.2) is False

    waiting = asyncio.create_task(store.queue.arrival(60.0))
    await asyncio.sleep(0)
    add(db, "row", created_at=NOON)

    async with asyncio.timeout(20.0):
        assert await waiting is True
