"""Rows with bytes in place of text, as a program with file names in Latin-1 writes them: they stop nobody."""

import sqlite3

import pytest

from penstock.engines.sqlite import SqliteStore
from penstock.model.errors import Refused
from penstock.model.jobs import JobId
from penstock.model.outcomes import DONE, Retry
from penstock.model.rules import Rules
from penstock.ports.desk import Wanted
from tests.conformance.foreign import add, on_path, statuses, stored
from tests.conformance.steps import OURS, drained, stamp
from tests.support.clock import START, FakeClock
from tests.support.jobs import an_error

LATIN = "CAST(x'636166e9' AS TEXT)"
"""What is no UTF-8, though its type says text."""
BLOB = "x'636166e9'"
CHECKED = ["tenant_id", "created_at", "collection", "idempotency_key", "branch", "metadata"]
HELD = ["tenant_id", "idempotency_key", "worker_id", "lease_until", "started_at", "error_message"]


@pytest.mark.parametrize("spelling", [LATIN, BLOB])
async def test_waiting_rows_of_bytes_come_to_their_turn(
    store: SqliteStore, db: sqlite3.Connection, spelling: str
) -> None:
    """They and their neighbours are all handed out, whichever column cannot be read."""
    add(db, "good", **on_path("/good"))
    add(db, "other", tenant_id="other", **on_path("/good"))
    for column in CHECKED:
        add(db, column, **on_path(f"/{column}"))
        spoil(db, column, column, spelling)

    everything = sorted(["good", "other", *CHECKED])
    assert sorted(job.id for job in await store.desk.jobs(Wanted())) == everything
    assert sorted(await drained(store.queue)) == everything


@pytest.mark.parametrize("rules", [Rules(longest_waiting_every=2)])
async def test_the_longest_waiting_row_of_bytes_is_text_to_its_worker(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """Whichever way a claim takes to it, what is handed out is text."""
    for number in range(12):
        add(db, f"row-{number}", tenant_id=f"tenant-{number % 2}", metadata=b"{}", **on_path(f"/{number}"))

    leases = [lease for _ in range(12) for lease in await store.queue.claim(OURS, 1)]

    assert [lease.metadata_json for lease in leases] == ["{}"] * 12


async def test_an_id_of_bytes_is_written_again(store: SqliteStore, db: sqlite3.Connection) -> None:
    """Its job can be named from then on, also where another has the same name already."""
    add(db, "caf\N{REPLACEMENT CHARACTER}", **on_path("/taken"))
    add(db, "bad", **on_path("/bad"))
    spoil(db, "bad", "queue_id", LATIN)

    leases = await store.queue.claim(OURS, 10)
    assert await store.queue.leave(OURS) == 2

    assert len(leases) == 2
    assert set(statuses(db)) == {"caf\N{REPLACEMENT CHARACTER}", "caf\N{REPLACEMENT CHARACTER}-2"}
    assert len(await drained(store.queue)) == 2


@pytest.mark.parametrize("spelling", [LATIN, BLOB])
async def test_rows_of_bytes_hold_no_rescue_up(
    store: SqliteStore, db: sqlite3.Connection, spelling: str
) -> None:
    """Every run-out lease is taken back, though many of the rows cannot be read."""
    held = {"status": "in_progress", "worker_id": "theirs", "lease_until": stamp(-60)}
    add(db, "good", **held, **on_path("/good"))
    for column in HELD:
        add(db, column, **held, **on_path(f"/{column}"))
        spoil(db, column, column, spelling)

    assert sorted(await store.queue.rescue()) == sorted(["good", *HELD])
    assert set(statuses(db).values()) == {"pending"}


@pytest.mark.parametrize(
    ("spelling", "code"),
    [("x'4552525f43414e43454c4c4544'", "ERR_CANCELLED"), (BLOB, "caf\N{REPLACEMENT CHARACTER}")],
)
@pytest.mark.parametrize("way", ["settle", "leave", "rescue"])
async def test_a_job_told_to_stop_by_bytes_stops(
    store: SqliteStore, db: sqlite3.Connection, spelling: str, code: str, way: str
) -> None:
    """Its worker is told in text, and it ends with that reason however its attempt does."""
    add(db, "row", **on_path("/row"))
    (lease,) = await store.queue.claim(OURS, 1)
    spoil(db, "row", "cancel_code", spelling)

    (renewal,) = await store.queue.extend([lease])
    if way == "settle":
        spoil(db, "row", "cancel_code", spelling)
        assert await store.queue.settle([(lease, Retry(an_error()))]) == [True]
    elif way == "leave":
        spoil(db, "row", "cancel_code", spelling)
        assert await store.queue.leave(OURS) == 1
    else:
        db.execute("UPDATE unified_queue SET lease_until = ?", (stamp(-60),))
        spoil(db, "row", "cancel_code", spelling)
        assert await store.queue.rescue() == ["row"]

    assert renewal.cancel_code == code
    assert stored(db, "row", "status", "error_code") == ("failed", code)


async def test_a_row_of_bytes_holds_no_pruning_up(
    store: SqliteStore, db: sqlite3.Connection, clock: FakeClock
) -> None:
    """Old rows go, also one whose id cannot be read."""
    old = {"status": "done", "created_at": stamp(-7200), "updated_at": stamp(-7200)}
    add(db, "bad", **old, **on_path("/bad"))
    add(db, "good", **old, **on_path("/good"))
    spoil(db, "bad", "queue_id", LATIN)

    assert await store.queue.prune(done_before=START - 3600, failed_before=START - 3600) == 2


async def test_half_of_a_surrogate_pair_in_a_path_fails_alone(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """As JSON written from a file name in another encoding has it; the list shows it with all the others."""
    add(db, "bad", payload_json='{"file_path": "/caf\\udce9"}')
    add(db, "good", **on_path("/good"))

    (lease,) = await store.queue.claim(OURS, 10)
    assert await store.queue.settle([(lease, DONE)]) == [True]

    assert statuses(db) == {"bad": "failed", "good": "done"}
    assert stored(db, "bad", "error_code", "error_message") == (
        "ERR_PAYLOAD_INVALID",
        "file payload: it holds bytes that are no text",
    )
    assert [job.id for job in await store.desk.jobs(Wanted())] == ["good", "bad"]
    assert await store.desk.find(JobId("bad")) is not None
    with pytest.raises(Refused, match="no text"):
        await store.desk.replay([JobId("bad")])


def spoil(db: sqlite3.Connection, row: str, column: str, spelling: str) -> None:
    """Put bytes into a column of a row."""
    db.execute(f"UPDATE unified_queue SET {column} = {spelling} WHERE queue_id = ?", (row,))  # noqa: S608 -- names from the test itself
