"""From a legacy queue to Penstock, with the real program: layouts, repeats, rehearsals, crashes, the drop."""

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from penstock.engines.sqlite import open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.jobs import WorkerId
from penstock.model.legacy_report import LegacyReport
from penstock.model.rules import Rules
from penstock.settings import load
from penstock.wiring.legacy import Wish, migrate_legacy
from tests.support.jobs import a_job
from tests.support.legacy_files import (
    BY_NUMBER,
    BY_PATH,
    BY_TWO_COLUMNS,
    change,
    legacy_file,
    rows_of,
)

MIGRATE = [sys.executable, "-m", "penstock", "migrate", "legacy"]
DAY = 86_400.0

Ran = subprocess.CompletedProcess[str]
Program = Callable[..., Ran]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def queue(data: Path) -> Path:
    """The database the program makes in its data folder."""
    return data / "penstock.db"


@pytest.fixture
def migrate(data: Path, tmp_path: Path) -> Program:
    """Run `penstock migrate legacy --from FILE …`."""

    def run(file: Path, *options: str) -> Ran:
        return subprocess.run(
            [*MIGRATE, "--data", data, "--from", file, *options],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            encoding="utf-8",
            timeout=100,
            check=False,
        )

    return run


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}


def report(ran: Ran) -> dict[str, dict[str, Any]]:
    """The tables of a report that was asked for as JSON, by name."""
    return {table["table"]: table for table in json.loads(ran.stdout)["tables"]}


def reasons(tallies: list[dict[str, Any]]) -> dict[str, int]:
    return {tally["reason"]: tally["rows"] for tally in tallies}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def around(path: Path) -> dict[str, str]:
    """Every file of a folder and what is in it."""
    return {str(each): digest(each) for each in sorted(path.parent.glob("**/*")) if each.is_file()}


def by_path(tmp_path: Path) -> Path:
    return legacy_file(
        tmp_path / "old.db",
        BY_PATH,
        messages=[{"id": 7, "error_message": "cannot parse"}],
        ingestion_queue=[
            {"file_absolute_path": "/a.txt", "collection_name": "docs", "tenant_id": "acme", "priority": 9},
            {
                "file_absolute_path": "/b.txt",
                "collection_name": "docs",
                "retry_count": 2,
                "error_message_id": 7,
            },
            {"file_absolute_path": "c.txt", "collection_name": "docs"},
            {"file_absolute_path": "/d.txt", "collection_name": "docs", "operation": "explode"},
        ],
        content_ingestion_queue=[
            {"queue_id": "q1", "content": "one", "collection": "notes", "status": "in_progress"},
            {
                "queue_id": "q2",
                "content": "two",
                "collection": "notes",
                "status": "failed",
                "retry_count": 3,
                "error_message": "no room",
                "updated_at": "2024-03-02 08:00:00",
            },
            {"queue_id": "q3", "content": "", "collection": "notes"},
        ],
        missing_metadata_queue=[{"queue_id": "m1", "file_absolute_path": "/m.txt"}],
    )


def test_rows_known_by_their_path_become_jobs(tmp_path: Path, queue: Path, migrate: Program) -> None:
    """Presence means pending, errors told by reference are kept, what is illegal is skipped and told."""
    ran = migrate(by_path(tmp_path), "--json", "--verify")

    assert ran.returncode == 0, ran.stderr
    found = report(ran)
    files, texts = found["ingestion_queue"], found["content_ingestion_queue"]
    assert (files["mapped"], reasons(files["skipped"])) == (
        2,
        {"ERR_PATH_INVALID": 1, "ERR_OPERATION_INVALID": 1},
    )
    assert files["skipped"][0]["examples"] == [
        {"row": "c.txt", "detail": "file_path 'c.txt' is not absolute"}
    ]
    assert files["ignored_columns"] == ["collection_type"]
    assert (texts["mapped"], texts["skipped_rows"]) == (2, 1)
    assert reasons(texts["notes"]) == {"was running, waits again": 1}
    assert (found["missing_metadata_queue"]["rows"], found["missing_metadata_queue"]["mapped"]) == (1, 0)
    jobs = rows_of(
        queue,
        "SELECT json_extract(payload_json, '$.file_path', '$.content') AS what, item_type, op, tenant_id,"
        " collection, priority, status, retry_count, error_message, created_at, finished_at"
        " FROM unified_queue ORDER BY rowid",
    )
    assert [(job["what"], job["item_type"], job["status"]) for job in jobs] == [
        ('["/a.txt",null]', "file", "pending"),
        ('["/b.txt",null]', "file", "pending"),
        ('[null,"one"]', "content", "pending"),
        ('[null,"two"]', "content", "failed"),
    ]
    assert (jobs[0]["tenant_id"], jobs[0]["priority"]) == ("acme", 9)
    assert jobs[0]["created_at"] == "2024-03-01T10:00:00.000000Z"
    assert (jobs[1]["tenant_id"], jobs[1]["retry_count"], jobs[1]["error_message"]) == (
        "default",
        2,
        "cannot parse",
    )
    assert (jobs[3]["tenant_id"], jobs[3]["retry_count"], jobs[3]["error_message"]) == ("local", 3, "no room")
    assert jobs[3]["finished_at"] == "2024-03-02T08:00:00.000000Z"


def test_rows_known_by_their_number_become_jobs(tmp_path: Path, queue: Path, migrate: Program) -> None:
    """Words for states and priorities, other names of columns, times as counts."""
    file = legacy_file(
        tmp_path / "old.db",
        BY_NUMBER,
        ingestion_queue=[
            {"file_path": "/a", "collection": "c", "project_id": "p", "op": "add", "priority": "urgent"},
            {
                "file_path": "/b",
                "collection": "c",
                "project_id": "p",
                "op": "remove",
                "priority": "low",
                "status": "completed",
                "attempts": 1,
                "created_at": 1_709_287_200,
                "updated_at": 1_709_287_300,
            },
            {"file_path": "/c", "collection": "c", "project_id": "p", "priority": 77, "status": "error"},
            {"file_path": "/d", "collection": "c", "project_id": "p", "status": "lost"},
        ],
        content_ingestion_queue=[{"text": "t", "collection_name": "n", "tenant": "p", "queued_at": 1.7e9}],
        processing_queue=[{"file_path": "/x"}, {"file_path": "/y"}],
    )

    found = report(migrate(file, "--json", "--verify"))

    assert reasons(found["ingestion_queue"]["skipped"]) == {"unknown status": 1}
    assert reasons(found["ingestion_queue"]["notes"]) == {"priority put right": 1}
    assert [found[name]["rows"] for name in ("processing_queue", "cumulative_deletions_queue")] == [2, 0]
    jobs = rows_of(
        queue, "SELECT op, priority, status, retry_count, created_at FROM unified_queue ORDER BY rowid"
    )
    assert [(job["op"], job["priority"], job["status"]) for job in jobs] == [
        ("ingest", 10, "pending"),
        ("delete", 1, "done"),
        ("ingest", 10, "failed"),
        ("ingest", 5, "pending"),
    ]
    assert jobs[1]["created_at"] == "2024-03-01T10:00:00.000000Z"


def test_rows_without_numbers_or_keys_become_jobs(tmp_path: Path, queue: Path, migrate: Program) -> None:
    """A table without row numbers is walked through by its key, one without a key by its row numbers."""
    file = legacy_file(
        tmp_path / "old.db",
        BY_TWO_COLUMNS,
        ingestion_queue=[
            {
                "filePath": f"/{n}",
                "tenantId": tenant,
                "collectionName": "c",
                "opType": "update",
                "createdAt": at,
            }
            for n, at in ((1, 1_709_287_200_000), (2, 1_709_287_260_000))
            for tenant in ("acme", "globex")
        ],
        content_ingestion_queue=[{"contentText": "same", "Status": "done"}, {"contentText": "same"}],
    )

    found = report(migrate(file, "--json", "--verify"))
    again = report(migrate(file, "--json", "--verify"))

    assert [table["mapped"] for table in found.values()] == [4, 2]
    assert [(table["mapped"], table["already_there"]) for table in again.values()] == [(0, 4), (0, 2)]
    times = rows_of(
        queue, "SELECT created_at FROM unified_queue WHERE item_type = 'file' ORDER BY created_at"
    )
    assert times[-1]["created_at"] == "2024-03-01T10:01:00.000000Z"


def test_a_second_run_maps_nothing_and_says_so(tmp_path: Path, queue: Path, migrate: Program) -> None:
    """Whatever the jobs have become in between, none is made twice."""
    file = by_path(tmp_path)
    migrate(file)
    before = rows_of(queue, "SELECT * FROM unified_queue ORDER BY rowid")
    marks = rows_of(file, "SELECT * FROM legacy_tables_deprecated ORDER BY table_name")

    ran = migrate(file)

    assert ran.returncode == 0
    assert "nothing new: 4 rows were taken over before" in ran.stderr
    assert rows_of(queue, "SELECT * FROM unified_queue ORDER BY rowid") == before
    assert rows_of(file, "SELECT * FROM legacy_tables_deprecated ORDER BY table_name") == marks
    assert [(mark["table_name"], mark["migrated_rows"], mark["skipped_rows"]) for mark in marks] == [
        ("content_ingestion_queue", 2, 1),
        ("ingestion_queue", 2, 2),
        ("missing_metadata_queue", 0, 1),
    ]


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_rehearsal_leaves_no_trace(tmp_path: Path, data: Path, migrate: Program, mode: str) -> None:
    """Source and queue are the same bytes afterwards, nothing lies beside them, and the forecast is right."""
    file = by_path(tmp_path)
    change(file, f"PRAGMA journal_mode = {mode}")
    migrate(legacy_file(tmp_path / "other.db", BY_PATH))
    before = around(file)

    rehearsal = report(migrate(file, "--dry-run", "--json"))

    assert around(file) == before
    really = report(migrate(file, "--json"))
    for table in really.values():
        assert table.pop("deprecated") is True
        assert rehearsal[table["table"]].pop("deprecated") is False
    assert rehearsal == really


def test_a_rehearsal_makes_no_data_folder(tmp_path: Path, data: Path, migrate: Program) -> None:
    """To look is not to begin."""
    ran = migrate(by_path(tmp_path), "--dry-run")

    assert ran.returncode == 0
    assert not data.exists()
    assert "4 rows would become jobs" in ran.stderr


def test_rows_that_meet_a_waiting_job_are_content_with_it(
    tmp_path: Path, queue: Path, migrate: Program
) -> None:
    """One waiting job per key, a later row hands its operation on, and none comes back once it has ended."""
    row = {"file_path": "/a", "collection": "c", "project_id": "p"}
    file = legacy_file(
        tmp_path / "old.db",
        BY_NUMBER,
        ingestion_queue=[
            {**row, "op": "ingest", "created_at": 1_709_287_200},
            {**row, "op": "delete", "created_at": 1_709_287_201},
            {**row, "op": "update", "created_at": 1_600_000_000},
        ],
    )

    rehearsal = report(migrate(file, "--json", "--dry-run"))["ingestion_queue"]
    found = report(migrate(file, "--json", "--verify"))["ingestion_queue"]

    assert (found["mapped"], reasons(found["skipped"])) == (1, {"already waiting": 2})
    assert (rehearsal["mapped"], reasons(rehearsal["skipped"])) == (1, {"already waiting": 2})
    assert [job["op"] for job in rows_of(queue, "SELECT op FROM unified_queue")] == ["delete"]
    change(queue, "UPDATE unified_queue SET status = 'done', updated_at = '2025-01-01T00:00:00Z'")
    again = report(migrate(file, "--json", "--verify"))["ingestion_queue"]
    assert (again["mapped"], again["already_there"], again["verification"]["agrees"]) == (0, 3, True)


def test_legacy_tables_may_stand_in_the_queues_own_database(
    tmp_path: Path, data: Path, queue: Path, migrate: Program
) -> None:
    """Side by side in one file, down to the drop."""
    migrate(legacy_file(tmp_path / "empty.db", BY_PATH))
    legacy_file(
        queue, BY_NUMBER, ingestion_queue=[{"file_path": f"/{n}", "collection": "c"} for n in range(1500)]
    )

    assert migrate(queue, "--dry-run", "--verify").returncode == 1
    ran = migrate(queue, "--verify", "--drop", "--yes")

    assert ran.returncode == 0, ran.stderr
    assert rows_of(queue, "SELECT count(*) AS n FROM unified_queue")[0]["n"] == 1500
    names = {row["name"] for row in rows_of(queue, "SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert "legacy_tables_deprecated" in names
    assert not {"ingestion_queue", "content_ingestion_queue", "processing_queue"} & names


def test_a_killed_migration_is_finished_by_the_next(
    tmp_path: Path, data: Path, queue: Path, migrate: Program
) -> None:
    """kill -9 in mid-migration loses nothing and doubles nothing."""
    rows = 20_000
    file = legacy_file(tmp_path / "old.db", BY_NUMBER)
    with closing(sqlite3.connect(file)) as db, db:
        db.executemany(
            "INSERT INTO ingestion_queue (file_path, collection, status) VALUES (?, 'c', ?)",
            ((f"/{n}.txt", ("queued", "done", "failed", "running")[n % 4]) for n in range(rows)),
        )
    process = subprocess.Popen(
        [*MIGRATE, "--data", data, "--from", file], cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL
    )
    wait_for_rows(queue, 2_000)
    process.send_signal(signal.SIGKILL)

    assert process.wait(30) == -signal.SIGKILL
    taken = rows_of(queue, "SELECT count(*) AS n FROM unified_queue")[0]["n"]
    assert 2_000 <= taken < rows
    assert not rows_of(file, "SELECT name FROM sqlite_master WHERE name = 'legacy_tables_deprecated'")
    ran = migrate(file, "--json", "--verify")

    assert ran.returncode == 0, ran.stderr
    table = report(ran)["ingestion_queue"]
    assert (table["already_there"], table["mapped"]) == (taken, rows - taken)
    assert table["verification"]["compared"] == rows
    counts = rows_of(queue, "SELECT status, count(*) AS n FROM unified_queue GROUP BY status ORDER BY status")
    assert {row["status"]: row["n"] for row in counts} == {"pending": 10_000, "done": 5_000, "failed": 5_000}


def wait_for_rows(queue: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if rows_of(queue, "SELECT count(*) AS n FROM unified_queue")[0]["n"] >= count:
                return
        except sqlite3.OperationalError:
            pass  # the table is not there yet
        time.sleep(0.01)
    raise AssertionError(f"{queue} did not reach {count} rows")


TAMPERING = {
    "another path": "UPDATE unified_queue SET payload_json = json_set(payload_json, '$.file_path', '/z')"
    " WHERE item_type = 'file'",
    "another operation": "UPDATE unified_queue SET op = 'delete' WHERE item_type = 'file'",
    "another error": "UPDATE unified_queue SET error_message = 'all is well' WHERE status = 'failed'",
    "fewer retries": "UPDATE unified_queue SET retry_count = 0 WHERE status = 'failed'",
    "another state": "UPDATE unified_queue SET status = 'done' WHERE status = 'failed'",
    "removed": "DELETE FROM unified_queue WHERE item_type = 'file'",
}


@pytest.mark.parametrize("what", TAMPERING)
def test_verification_finds_a_job_that_was_tampered_with(
    tmp_path: Path, queue: Path, migrate: Program, what: str
) -> None:
    """It says which row and what differs, ends with 1, and then nothing is dropped."""
    file = by_path(tmp_path)
    change(file, "UPDATE content_ingestion_queue SET updated_at = datetime('now')")
    migrate(file)
    change(queue, TAMPERING[what])

    ran = migrate(file, "--json", "--verify", "--drop", "--yes")

    assert ran.returncode == 1
    assert json.loads(ran.stderr.splitlines()[-1])["error"]["code"] == "ERR_LEGACY_UNVERIFIED"
    assert sum(len(table["verification"]["differences"]) for table in list(report(ran).values())[:2]) == 1
    assert rows_of(file, "SELECT count(*) AS n FROM ingestion_queue")[0]["n"] == 4


def test_verification_finds_a_source_that_was_changed(tmp_path: Path, queue: Path, migrate: Program) -> None:
    """A legacy row that names something else than before makes no second job and is told."""
    file = legacy_file(
        tmp_path / "old.db", BY_NUMBER, ingestion_queue=[{"file_path": "/a"}, {"file_path": "/b"}]
    )
    migrate(file)
    change(file, "UPDATE ingestion_queue SET file_path = '/elsewhere' WHERE id = 1")

    ran = migrate(file, "--verify", "--json")

    table = report(ran)["ingestion_queue"]
    assert ran.returncode == 1
    assert (table["already_there"], reasons(table["skipped"])) == (1, {"id taken": 1})
    assert reasons(table["verification"]["differences"]) == {"another row has its id": 1}
    assert rows_of(queue, "SELECT count(*) AS n FROM unified_queue")[0]["n"] == 2


def test_a_second_legacy_database_needs_a_name(tmp_path: Path, queue: Path, migrate: Program) -> None:
    """Two files that number their rows alike are told apart by a name given to one of them."""
    first = legacy_file(tmp_path / "a.db", BY_NUMBER, ingestion_queue=[{"file_path": "/a"}])
    second = legacy_file(tmp_path / "b.db", BY_NUMBER, ingestion_queue=[{"file_path": "/b"}])
    migrate(first)

    unnamed = migrate(second, "--json")
    named = migrate(second, "--json", "--verify", "--name", "second")

    (tally,) = report(unnamed)["ingestion_queue"]["skipped"]
    assert (tally["reason"], tally["rows"]) == ("id taken", 1)
    assert "--name" in tally["examples"][0]["detail"]
    assert report(named)["ingestion_queue"]["mapped"] == 1
    assert rows_of(queue, "SELECT count(*) AS n FROM unified_queue")[0]["n"] == 2


def test_dropping_needs_verification_and_a_yes(tmp_path: Path, migrate: Program) -> None:
    """Neither word alone is enough, and a rehearsal drops nothing at all."""
    file = by_path(tmp_path)

    for options in (["--drop"], ["--drop", "--yes"], ["--drop", "--verify"]):
        ran = migrate(file, *options)
        assert (ran.returncode, "ERR_REFUSED" in ran.stderr) == (1, True), options
    assert migrate(file, "--drop", "--verify", "--yes", "--dry-run").returncode == 0
    assert len(rows_of(file, "SELECT * FROM ingestion_queue")) == 4
    ran = migrate(file, "--drop", "--verify", "--yes")

    assert ran.returncode == 0, ran.stderr
    assert "4 rows that no job stands for" in ran.stderr
    left = {row["name"] for row in rows_of(file, "SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert left == {"messages", "legacy_tables_deprecated"}
    gone = migrate(file)
    assert (gone.returncode, "migrated and dropped" in gone.stderr) == (1, True)


def test_a_table_that_cannot_be_mapped_is_left_alone(tmp_path: Path, migrate: Program) -> None:
    """It is reported with what it lacks, neither marked nor dropped; its neighbour is migrated."""
    file = legacy_file(
        tmp_path / "old.db",
        "CREATE TABLE ingestion_queue (id INTEGER PRIMARY KEY, payload TEXT);"
        "CREATE TABLE content_ingestion_queue (id INTEGER PRIMARY KEY, content TEXT);",
        ingestion_queue=[{"payload": "?"}],
        content_ingestion_queue=[{"content": "text"}],
    )

    ran = migrate(file, "--json", "--verify", "--drop", "--yes")

    files, texts = report(ran).values()
    assert (files["missing"], files["deprecated"], files["dropped"]) == (["path"], False, False)
    assert (texts["mapped"], texts["dropped"]) == (1, True)
    assert rows_of(file, "SELECT payload FROM ingestion_queue") == [{"payload": "?"}]
    marks = rows_of(file, "SELECT table_name FROM legacy_tables_deprecated")
    assert [mark["table_name"] for mark in marks] == ["content_ingestion_queue"]


def not_a_database(path: Path) -> None:
    path.write_bytes(b"this is a letter, not a database\n" * 100)


def damaged(path: Path) -> None:
    legacy_file(path, BY_PATH)
    content = path.read_bytes()
    path.write_bytes(content[:1000] + b"\xff" * (len(content) - 1000))


def no_legacy_tables(path: Path) -> None:
    legacy_file(path, "CREATE TABLE recipes (name TEXT)")


BAD_FILES: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "a folder": lambda path: path.mkdir(),
    "empty": lambda path: path.touch(),
    "not a database": not_a_database,
    "damaged": damaged,
    "without legacy tables": no_legacy_tables,
}


@pytest.mark.parametrize("options", [[], ["--dry-run"]], ids=["really", "rehearsal"])
@pytest.mark.parametrize("what", BAD_FILES)
def test_a_file_that_cannot_be_read_is_refused(
    tmp_path: Path, data: Path, migrate: Program, what: str, options: list[str]
) -> None:
    """A clear error with its code, and nothing written, not even a data folder."""
    file = tmp_path / "old.db"
    BAD_FILES[what](file)
    before = around(file)

    ran = migrate(file, "--json", *options)

    assert ran.returncode == 1
    assert json.loads(ran.stderr)["error"]["code"] == "ERR_LEGACY_UNREADABLE"
    assert str(file) in ran.stderr
    assert not data.exists()
    assert around(file) == before


def test_a_locked_source_is_told(tmp_path: Path, data: Path) -> None:
    """Whoever holds the file must let go first; the wait for it is bounded."""
    file = by_path(tmp_path)
    with closing(sqlite3.connect(file, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")

        ran = subprocess.run(
            [*MIGRATE, "--data", data, "--from", file],
            env={**environment(), "PENSTOCK_SQLITE_BUSY_TIMEOUT": "200ms"},
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    assert (ran.returncode, "is locked by another process (ERR_LEGACY_UNREADABLE)" in ran.stderr) == (
        4,
        False,
    )
    assert "ERR_LEGACY_UNREADABLE" in ran.stderr
    assert not data.exists()


@pytest.mark.parametrize("in_the_way", ["-shm", "-journal"])
def test_a_source_whose_folder_cannot_be_written_is_told(
    tmp_path: Path, data: Path, migrate: Program, in_the_way: str
) -> None:
    """A log that needs a file beside it, or marks that need a journal: told before anything is migrated.

    A folder of that name stands for read-only media, which the user these tests run as may be able to write.
    """
    file = by_path(tmp_path)
    if in_the_way == "-shm":
        leave_log(file)
    (tmp_path / f"old.db{in_the_way}").mkdir()

    ran = migrate(file)

    assert ran.returncode == 4
    assert "(ERR_LEGACY_UNREADABLE)" in ran.stderr
    assert not data.exists()


def leave_log(file: Path) -> None:
    """Leave the file in write-ahead mode with a log that was not merged, as a crash does."""
    change(file, "PRAGMA journal_mode = wal")
    with closing(sqlite3.connect(file)) as db:
        db.execute(
            "INSERT INTO ingestion_queue (file_absolute_path, collection_name) VALUES ('/log.txt', 'c')"
        )
        db.commit()
        copies = {suffix: Path(f"{file}{suffix}").read_bytes() for suffix in ("", "-wal")}
    for suffix, content in copies.items():
        Path(f"{file}{suffix}").write_bytes(content)


def test_rows_that_stand_only_in_the_log_are_migrated(tmp_path: Path, queue: Path, migrate: Program) -> None:
    """A program that crashed left its last rows there."""
    file = by_path(tmp_path)
    leave_log(file)
    before = digest(file)

    assert report(migrate(file, "--json", "--dry-run"))["ingestion_queue"]["mapped"] == 3
    assert digest(file) == before
    assert report(migrate(file, "--json"))["ingestion_queue"]["mapped"] == 3


async def test_a_migrated_job_is_claimed_in_its_turn(tmp_path: Path, data: Path) -> None:
    """Highest priority first, then the one that waited longest, as if it had been submitted here."""
    file = legacy_file(
        tmp_path / "old.db",
        BY_NUMBER,
        ingestion_queue=[
            {"file_path": "/low", "priority": "low", "created_at": 1_709_287_200},
            {"file_path": "/young", "priority": "high", "created_at": 1_709_287_202},
            {"file_path": "/done", "priority": "high", "status": "done"},
            {"file_path": "/old", "priority": "high", "status": "processing", "created_at": 1_709_287_201},
        ],
    )
    await migrated(data, file)
    store = await open_sqlite(data, rules=Rules(longest_waiting_every=0), clock=SystemClock())
    try:
        leases = await store.queue.claim(WorkerId("w"), 10)
    finally:
        await store.close()

    assert [getattr(lease.payload, "file_path", None) for lease in leases] == ["/old", "/young", "/low"]
    assert (await migrated(data, file, verify=True)).agrees


async def test_a_legacy_row_does_not_override_a_later_request(
    tmp_path: Path, data: Path, queue: Path
) -> None:
    """A job submitted here is younger than any legacy row, so an old delete does not come back to life."""
    file = legacy_file(
        tmp_path / "old.db",
        BY_NUMBER,
        ingestion_queue=[
            {"file_path": "/a", "collection": "c", "project_id": "p", "op": "delete", "created_at": 1.7e9}
        ],
    )
    store = await open_sqlite(data, rules=Rules(), clock=SystemClock())
    await store.queue.submit([a_job("/a", tenant="p", collection="c")])
    await store.close()

    report = await migrated(data, file, verify=True)

    assert [tally.reason for tally in report.tables[0].skipped] == ["already waiting"]
    assert report.agrees
    assert [job["op"] for job in rows_of(queue, "SELECT op FROM unified_queue")] == ["ingest"]


async def test_what_retention_has_removed_does_not_come_back(tmp_path: Path, data: Path, queue: Path) -> None:
    """Months later the jobs are long gone: verification agrees, and nothing runs a second time."""
    file = legacy_file(
        tmp_path / "old.db",
        BY_NUMBER,
        ingestion_queue=[
            {"file_path": "/waits", "op": "delete"},
            {"file_path": "/done", "status": "done", "created_at": 1_709_287_200},
        ],
    )
    await migrated(data, file)
    change(queue, "UPDATE legacy_rows SET taken_at = taken_at - ?", 90 * DAY)
    change(queue, "DELETE FROM unified_queue")

    report = await migrated(data, file, verify=True)

    assert (report.mapped, report.agrees) == (0, True)
    assert report.tables[0].verification is not None
    assert report.tables[0].verification.removed == 2
    assert rows_of(queue, "SELECT * FROM unified_queue") == []


async def migrated(data: Path, file: Path, *, verify: bool = False) -> LegacyReport:
    return await migrate_legacy(load(None, {}, {"data": str(data)}), file, Wish(verify=verify))
