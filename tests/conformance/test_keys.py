"""Who holds a key: whoever waits; and nobody else is in the way of a row that comes to wait."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.engines.sqlite.connection import migrations, split
from penstock.engines.sqlite.statements import sql
from penstock.model.jobs import Accepted, Operation
from penstock.model.outcomes import DONE, RELEASE
from penstock.model.payloads import Rename
from penstock.model.rules import Rules
from tests.conformance.foreign import (
    Row,
    Unbound,
    a_removal,
    a_row,
    add,
    connect,
    dequeue,
    fail,
    insert,
    on_path,
    retry,
    statuses,
    stored,
    succeed,
)
from tests.conformance.steps import OURS, claim_one, drained
from tests.support.clock import START, FakeClock
from tests.support.jobs import a_job, a_job_about

KEY: Row = {"idempotency_key": "file:notes:0123456789abcdef"}
OTHER: Row = {"idempotency_key": "file:notes:fedcba9876543210"}
PATH = "/documents/once-and-again.txt"
LATER = "2099-01-01T00:00:00Z"
STEPPING_ASIDE = [
    "INSERT OR IGNORE",
    "INSERT ... ON CONFLICT DO NOTHING",
    "INSERT ... ON CONFLICT (idempotency_key, tenant_id) WHERE keyed DO NOTHING",
]
BEFORE = next(at for at, script in enumerate(migrations()) if "ADD COLUMN keyed" in script)
"""So many migrations know no `keyed`."""


def holders(db: sqlite3.Connection, key: Row = KEY) -> list[str]:
    """Who holds a key."""
    found = db.execute(
        "SELECT queue_id FROM unified_queue WHERE idempotency_key = ? AND keyed", (key["idempotency_key"],)
    )
    return [queue_id for (queue_id,) in found]


def keyless(db: sqlite3.Connection) -> list[str]:
    """Rows that wait without their key: there are none, ever."""
    found = db.execute("SELECT queue_id FROM unified_queue WHERE status = 'pending' AND NOT keyed")
    return [queue_id for (queue_id,) in found]


def running(db: sqlite3.Connection, queue_id: str, **given: Any) -> None:
    add(db, queue_id, **given)
    dequeue(db, queue_id, lease_until=LATER)


def written(db: sqlite3.Connection, verb: str, row: Row) -> int:
    """INSERT in one of its forms; how many rows it says it wrote."""
    names, marks = ", ".join(row), ", ".join("?" for _ in row)
    head, _, tail = verb.partition(" ... ")
    text = f"{head} INTO unified_queue ({names}) VALUES ({marks}) {tail}"
    return db.execute(text, list(row.values())).rowcount


def test_a_claim_leaves_the_index_of_keys_alone(table: sqlite3.Connection) -> None:
    """No row's key is written while it is claimed: the cost would grow with the table."""
    add(table, "row", **KEY)
    (root,) = table.execute(
        "SELECT rootpage FROM sqlite_master WHERE name = 'idx_unified_queue_idempotency'"
    ).fetchone()

    claim = opened_for_writing(table, sql("claim_take"))
    settle = opened_for_writing(table, sql("settle_done"))

    assert root not in claim
    assert root in settle


def opened_for_writing(db: sqlite3.Connection, statement: str) -> set[int]:
    """The roots of all trees a statement itself may write to: EXPLAIN tells of its triggers afterwards."""
    text = "\n".join(line for line in statement.splitlines() if not line.startswith("--"))
    steps = [(row[0], row[1], row[3]) for row in db.execute(f"EXPLAIN {text}", Unbound())]
    itself = [step for number, step in enumerate(steps) if step[0] == number]
    return {root for _, code, root in itself if code == "OpenWrite"}


@pytest.mark.parametrize("end", [succeed, fail])
def test_who_ends_lets_its_key_go(table: sqlite3.Connection, end: Any) -> None:
    """By raw SQL too, whether it ran or waited."""
    running(table, "ran", **KEY)
    add(table, "waited", **OTHER)

    end(table, "ran")
    end(table, "waited")

    assert holders(table) == holders(table, OTHER) == []


def test_a_superseded_row_lets_its_key_go(table: sqlite3.Connection) -> None:
    """A delete that ends what waits on its path frees that key, by the trigger that ends it."""
    add(table, "ingest", **(KEY | on_path("/x")))

    add(table, "removal", **(OTHER | a_removal("/x")))

    assert statuses(table) == {"ingest": "failed", "removal": "pending"}
    assert holders(table) == []


def test_who_runs_lets_a_successor_have_its_key(table: sqlite3.Connection) -> None:
    """An INSERT of the documented columns finds nobody in its way, and the next one finds it."""
    running(table, "first", **KEY)

    add(table, "second", **KEY)
    with pytest.raises(sqlite3.IntegrityError, match=r"UNIQUE constraint failed: .*idempotency_key"):
        add(table, "third", **KEY)

    assert statuses(table) == {"first": "in_progress", "second": "pending"}
    assert holders(table) == ["second"]


@pytest.mark.parametrize(
    "verb",
    [*STEPPING_ASIDE, "INSERT OR REPLACE"],
)
def test_a_successor_may_come_by_any_kind_of_insert(table: sqlite3.Connection, verb: str) -> None:
    """One that would step aside or push aside does neither: the row that runs stays as it is."""
    running(table, "first", **KEY)

    assert written(table, verb, a_row("second", **KEY)) == 1

    assert statuses(table) == {"first": "in_progress", "second": "pending"}


@pytest.mark.parametrize("verb", STEPPING_ASIDE)
def test_a_second_waiting_row_may_be_ignored(table: sqlite3.Connection, verb: str) -> None:
    """Who asks to be ignored is, and says so."""
    add(table, "first", **KEY)

    assert written(table, verb, a_row("second", **KEY)) == 0

    assert statuses(table) == {"first": "pending"}


def test_a_second_waiting_row_may_replace_the_first(table: sqlite3.Connection) -> None:
    """REPLACE does what it always did."""
    add(table, "first", **KEY)

    assert written(table, "INSERT OR REPLACE", a_row("second", **KEY)) == 1

    assert statuses(table) == {"second": "pending"}


@pytest.mark.parametrize("status", ["in_progress", "done", "failed"])
@pytest.mark.parametrize("verb", ["INSERT", *STEPPING_ASIDE, "INSERT OR REPLACE"])
def test_a_row_that_comes_late_and_one_that_waits_do_not_meet(
    table: sqlite3.Connection, status: str, verb: str
) -> None:
    """History may be written beside a waiting row of the same key, and a row may come to wait after it."""
    add(table, "waiting", **KEY)

    assert written(table, verb, a_row("early", status=status, **KEY)) == 1
    assert written(table, verb, a_row("earlier", status=status, **KEY)) == 1
    with pytest.raises(sqlite3.IntegrityError, match="idempotency_key"):
        add(table, "again", **KEY)
    succeed(table, "waiting")
    add(table, "next", **KEY)

    assert statuses(table) == {"waiting": "done", "early": status, "earlier": status, "next": "pending"}
    assert holders(table) == ["next"]


def test_a_whole_row_written_again_takes_nobody_away(table: sqlite3.Connection) -> None:
    """A program that ends its row by REPLACE leaves the successor that waits alone, and its key with it."""
    running(table, "first", **KEY)
    add(table, "second", **KEY)

    written(table, "INSERT OR REPLACE", a_row("first", status="done", **KEY))

    assert statuses(table) == {"first": "done", "second": "pending"}
    assert holders(table) == ["second"]


def test_who_waits_may_be_replaced_by_its_own_end(table: sqlite3.Connection) -> None:
    """The row that lends its key may be the one that goes: nothing is left to give back."""
    add(table, "only", **KEY)

    written(table, "INSERT OR REPLACE", a_row("only", status="done", **KEY))
    add(table, "next", **KEY)

    assert statuses(table) == {"only": "done", "next": "pending"}
    assert table.execute("SELECT count(*) FROM queue_lent").fetchone() == (0,)


async def test_pruning_gives_back_what_was_lent_in_vain(store: SqliteStore, db: sqlite3.Connection) -> None:
    """A row that IGNORE kept out had the waiting one's key for a moment, and could not give it back."""
    add(db, "old", **OTHER)
    succeed(db, "old")
    add(db, "waiting", **KEY)
    assert written(db, "INSERT OR IGNORE", a_row("old", status="done", **KEY)) == 0

    await store.queue.prune(done_before=START - 3600, failed_before=START - 3600)

    assert holders(db) == ["waiting"]
    assert db.execute("SELECT count(*) FROM queue_lent").fetchone() == (0,)


def test_what_was_lent_in_vain_pushes_nobody_aside(table: sqlite3.Connection) -> None:
    """The next who comes gives it back, even one that replaces and has another key."""
    add(table, "old", **OTHER)
    succeed(table, "old")
    add(table, "waiting", **KEY)
    written(table, "INSERT OR IGNORE", a_row("old", status="done", **KEY))

    written(table, "INSERT OR REPLACE", a_row("history", status="done"))

    assert statuses(table) == {"old": "done", "waiting": "pending", "history": "done"}
    assert holders(table) == ["waiting"]


@pytest.mark.parametrize(
    "verb",
    [
        "INSERT ... ON CONFLICT (queue_id) DO UPDATE SET status = excluded.status",
        "INSERT ... ON CONFLICT (queue_id) DO UPDATE SET lease_until = excluded.lease_until",
        "INSERT OR IGNORE",
    ],
)
@pytest.mark.parametrize("status", ["in_progress", "done"])
def test_a_whole_row_written_over_itself_lets_no_second_one_wait(
    table: sqlite3.Connection, verb: str, status: str
) -> None:
    """Who waits lends its key for nothing then, and whoever comes to wait next finds it all the same."""
    running(table, "first", **KEY)
    add(table, "second", **KEY)

    written(table, verb, a_row("first", status=status, lease_until=LATER, **KEY))
    with pytest.raises(sqlite3.IntegrityError, match="idempotency_key"):
        add(table, "third", **KEY)
    written(table, verb, a_row("first", status=status, lease_until=LATER, **KEY))
    with pytest.raises(sqlite3.IntegrityError, match="idempotency_key"):
        retry(table, "first")
    written(table, verb, a_row("first", status=status, lease_until=LATER, **KEY))
    add(table, "fourth", **OTHER)
    with pytest.raises(sqlite3.IntegrityError, match="idempotency_key"):
        table.execute(
            "UPDATE unified_queue SET idempotency_key = ? WHERE queue_id = 'fourth'", tuple(KEY.values())
        )

    assert holders(table) == ["second"]


async def test_a_key_lent_in_vain_is_found_by_our_own_verbs(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """A submit joins the job that waits, and a job that is handed back yields to it."""
    await store.queue.submit([a_job(PATH)])
    lease = await claim_one(store.queue)
    (second,) = await store.queue.submit([a_job(PATH)])
    (key,) = stored(db, second.job_id, "idempotency_key")
    again = a_row(lease.job_id, status="in_progress", idempotency_key=key)

    written(db, "INSERT OR IGNORE", again)
    (third,) = await store.queue.submit([a_job(PATH)])
    written(db, "INSERT OR IGNORE", again)
    assert await store.queue.settle([(lease, RELEASE)]) == [True]

    assert (third.job_id, third.how) == (second.job_id, Accepted.COALESCED)
    assert statuses(db) == {lease.job_id: "failed", second.job_id: "pending"}


@pytest.mark.parametrize("end", [succeed, fail])
def test_a_requeued_row_takes_its_key_again(table: sqlite3.Connection, end: Any) -> None:
    """From then on it waits like any other, and no second one may."""
    running(table, "first", **KEY)
    end(table, "first")

    retry(table, "first")

    assert holders(table) == ["first"]
    with pytest.raises(sqlite3.IntegrityError, match="idempotency_key"):
        add(table, "second", **KEY)


@pytest.mark.parametrize("policy", ["", "OR IGNORE ", "OR FAIL ", "OR ROLLBACK "])
@pytest.mark.parametrize("end", [None, succeed, fail], ids=["running", "done", "failed"])
def test_going_back_to_wait_is_refused_where_a_successor_waits(
    table: sqlite3.Connection, end: Any, policy: str
) -> None:
    """Whatever the statement says of conflicts, two rows of one key never wait."""
    running(table, "first", **KEY)
    if end is not None:
        end(table, "first")
    add(table, "second", **KEY)
    before = stored(table, "first", "status", "token", "keyed")

    with pytest.raises(sqlite3.IntegrityError, match=r"UNIQUE constraint failed: .*idempotency_key"):
        table.execute(f"UPDATE {policy}unified_queue SET status = 'pending' WHERE queue_id = 'first'")  # noqa: S608 -- from the list above

    assert stored(table, "first", "status", "token", "keyed") == before
    assert holders(table) == ["second"]


def test_going_back_to_wait_one_that_runs_is_not_in_the_way(table: sqlite3.Connection) -> None:
    """Two rows of one key and of two subjects may run at once; either may wait again."""
    running(table, "first", document_id="one", **KEY)
    running(table, "second", document_id="two", **KEY)

    retry(table, "first")

    assert statuses(table) == {"first": "pending", "second": "in_progress"}
    assert holders(table) == ["first"]


def test_another_key_meets_only_who_waits(table: sqlite3.Connection) -> None:
    """A row that is given a key by hand is refused if both wait, and else in nobody's way."""
    running(table, "running", **KEY)
    add(table, "waiting", **OTHER)
    add(table, "third")

    table.execute(
        "UPDATE unified_queue SET idempotency_key = ? WHERE queue_id = 'third'", tuple(KEY.values())
    )
    assert holders(table) == ["third"]
    table.execute(
        "UPDATE unified_queue SET idempotency_key = ? WHERE queue_id = 'running'", tuple(OTHER.values())
    )
    assert holders(table, OTHER) == ["waiting"]
    with pytest.raises(sqlite3.IntegrityError, match=r"UNIQUE constraint failed: .*idempotency_key"):
        table.execute(
            "UPDATE unified_queue SET idempotency_key = ? WHERE queue_id = 'third'", tuple(OTHER.values())
        )
    assert keyless(table) == []


def test_a_running_row_lends_a_key_to_none_when_it_is_given_one_that_waits(table: sqlite3.Connection) -> None:
    """It held a key of its own when it came; the waiting one has its own back afterwards."""
    running(table, "running", **KEY)
    add(table, "waiting", **OTHER)
    assert holders(table) == ["running"]

    table.execute(
        "UPDATE unified_queue SET idempotency_key = ? WHERE queue_id = 'running'", tuple(OTHER.values())
    )

    assert holders(table, OTHER) == ["waiting"]
    assert stored(table, "running", "status", "keyed") == ("in_progress", 0)
    assert table.execute("SELECT count(*) FROM queue_lent").fetchone() == (0,)


def test_tenants_have_keys_of_their_own(table: sqlite3.Connection) -> None:
    """What runs for one tenant lets nothing go for another's newcomer."""
    running(table, "ours", **KEY)

    add(table, "theirs", tenant_id="globex", **KEY)

    assert sorted(holders(table)) == ["ours", "theirs"]


async def test_a_successor_of_ours_and_a_running_row(store: SqliteStore, db: sqlite3.Connection) -> None:
    """Submitted while the first runs it is a job of its own; handed back, the first yields to it."""
    (first,) = await store.queue.submit([a_job(PATH)])
    lease = await claim_one(store.queue)
    (second,) = await store.queue.submit([a_job(PATH)])
    assert second.how is Accepted.CREATED
    assert keyless(db) == []

    assert await store.queue.settle([(lease, RELEASE)]) == [True]

    assert statuses(db) == {first.job_id: "failed", second.job_id: "pending"}
    assert await drained(store.queue) == [second.job_id]


async def test_a_job_handed_back_takes_its_key_again(store: SqliteStore, db: sqlite3.Connection) -> None:
    """Also if a successor had taken it and is gone: the next submit joins the job that waits."""
    (first,) = await store.queue.submit([a_job(PATH)])
    lease = await claim_one(store.queue)
    (second,) = await store.queue.submit([a_job(PATH)])
    assert await store.desk.cancel([second.job_id]) == [True]
    assert stored(db, first.job_id, "keyed") == (0,)

    assert await store.queue.settle([(lease, RELEASE)]) == [True]
    (third,) = await store.queue.submit([a_job(PATH)])

    assert third.how is Accepted.COALESCED
    assert third.job_id == first.job_id
    assert keyless(db) == []


async def test_many_submits_keep_their_order_beside_one_that_runs(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """One list names the object of a running job first and renames it then: so they stand in line."""
    await store.queue.submit([a_job(PATH)])
    lease = await claim_one(store.queue)
    again = a_job(PATH)
    rename = a_job_about(Rename(old_path=PATH, new_path=f"{PATH}.new"), op=Operation.UPDATE)

    receipts = await store.queue.submit([again, rename])

    assert [receipt.how for receipt in receipts] == [Accepted.CREATED] * 2
    assert await store.queue.settle([(lease, DONE)]) == [True]
    assert await drained(store.queue) == [receipt.job_id for receipt in receipts]
    assert keyless(db) == []


async def test_every_end_of_ours_lets_the_key_go(store: SqliteStore, db: sqlite3.Connection) -> None:
    """Done, cancelled, superseded: none holds what it does not need."""
    await store.queue.submit([a_job(PATH)])
    assert await store.queue.settle([(await claim_one(store.queue), DONE)]) == [True]
    (cancelled,) = await store.queue.submit([a_job(PATH)])
    assert await store.desk.cancel([cancelled.job_id]) == [True]
    await store.queue.submit([a_job(PATH)])
    await store.queue.claim(OURS, 1)
    await store.queue.leave(OURS, died=True)

    assert db.execute(
        "SELECT count(*) FROM unified_queue WHERE finished_at IS NOT NULL AND keyed"
    ).fetchone() == (0,)
    assert keyless(db) == []


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A folder with the database of a program that knew no `keyed`; its keys came again and again."""
    with closing(connect(tmp_path)) as db:
        for script in migrations()[:BEFORE]:
            for statement in split(script):
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {BEFORE}")
        for number in range(3):
            add(db, f"done-{number}", **KEY)
            succeed(db, f"done-{number}")
        running(db, "running", **KEY)
        add(db, "waiting", **KEY)
        running(db, "alone", **OTHER)
    return tmp_path


async def test_an_older_database_is_brought_over(older: Path) -> None:
    """Who waits holds its key, nobody else does, and all go on as they would have."""
    store = await open_sqlite(older, rules=Rules(), clock=FakeClock())
    with closing(connect(older)) as db:
        held = holders(db), holders(db, OTHER)
        with pytest.raises(sqlite3.IntegrityError, match="idempotency_key"):
            add(db, "too many", **KEY)
        insert(db, a_row("successor", **OTHER))
        with pytest.raises(sqlite3.IntegrityError, match="idempotency_key"):
            retry(db, "alone")
        found = statuses(db)
    await store.close()

    assert held == (["waiting"], [])
    assert found == {
        "done-0": "done",
        "done-1": "done",
        "done-2": "done",
        "running": "in_progress",
        "waiting": "pending",
        "alone": "in_progress",
        "successor": "pending",
    }
