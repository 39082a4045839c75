"""What SQLite says about a legacy file, in words a person can act on."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from penstock.engines.legacy.deprecation import Hold, Mark, check_markable, mark
from penstock.engines.legacy.source import open_source
from penstock.engines.legacy.unreadable import fault_of
from penstock.model.errors import Fault, Refused, Unavailable
from tests.support.legacy_files import BY_NUMBER, change, legacy_file, rows_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return legacy_file(tmp_path / "old.db", BY_NUMBER, ingestion_queue=[{"file_path": "/a"}])


def refused_by(file: Path, options: str, statement: str) -> Fault:
    """What SQLite's refusal of a statement becomes."""
    with (
        closing(sqlite3.connect(f"{file.as_uri()}{options}", uri=True, timeout=0)) as db,
        pytest.raises(sqlite3.Error) as caught,
    ):
        db.execute(statement)
    return fault_of(caught.value, file)


def test_a_read_only_file_is_to_be_copied(file: Path) -> None:
    """Media that cannot be written needs a copy elsewhere."""
    fault = refused_by(file, "?mode=ro", "DELETE FROM ingestion_queue")

    assert isinstance(fault, Unavailable)
    assert fault.code == "ERR_LEGACY_UNREADABLE"
    assert "copy it" in fault.message


def test_a_locked_file_is_to_be_let_go(file: Path) -> None:
    """The person must stop the other program."""
    with closing(sqlite3.connect(file, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        fault = refused_by(file, "", "DELETE FROM ingestion_queue")

    assert isinstance(fault, Unavailable)
    assert "locked" in fault.message


def test_an_unfinished_transaction_is_to_be_rolled_back(file: Path) -> None:
    """A crash left a journal that a reader may not play back."""
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA cache_spill = 1")
        db.execute("PRAGMA cache_size = 1")
        db.executemany(
            "INSERT INTO ingestion_queue (file_path) VALUES (?)", ((f"/{'x' * 500}{n}",) for n in range(500))
        )
        copies = {suffix: Path(f"{file}{suffix}").read_bytes() for suffix in ("", "-journal")}
    for suffix, content in copies.items():
        Path(f"{file}{suffix}").write_bytes(content)

    with (
        pytest.raises(Unavailable, match="transaction that was never finished"),
        open_source(file, busy_seconds=1) as source,
    ):
        source.tables()


def test_another_error_keeps_its_words(file: Path) -> None:
    """What nobody foresaw is still told with the file and the code."""
    fault = refused_by(file, "", "SELECT * FROM nowhere")

    assert (fault.code, "nowhere" in fault.message) == ("ERR_LEGACY_UNREADABLE", True)


def test_asking_whether_marks_can_be_written_writes_none(file: Path) -> None:
    """The question changes no byte, also where marks stand already."""
    before = file.read_bytes()
    check_markable(file, busy_seconds=1)
    assert file.read_bytes() == before
    mark(file, [Mark(table="ingestion_queue", migrated=1, skipped=0)], 1.7e9, busy_seconds=1)
    before = file.read_bytes()

    check_markable(file, busy_seconds=1)
    mark(file, [Mark(table="ingestion_queue", migrated=1, skipped=0)], 1.8e9, busy_seconds=1)

    assert file.read_bytes() == before
    assert rows_of(file, "SELECT * FROM legacy_tables_deprecated") == [
        {
            "table_name": "ingestion_queue",
            "deprecated_at": "2023-11-14T22:13:20.000000Z",
            "migrated_rows": 1,
            "skipped_rows": 0,
        }
    ]


def test_a_table_that_grew_after_it_was_verified_is_not_dropped(file: Path) -> None:
    """A program that still writes would lose its rows; all tables stay."""
    verified = {"ingestion_queue": 1, "processing_queue": 0}
    change(file, "INSERT INTO processing_queue (file_path) VALUES ('/late')")

    with closing(Hold(file, busy_seconds=1)) as hold, pytest.raises(Refused, match="has 1 now") as caught:
        hold.drop(verified)

    assert caught.value.code == "ERR_LEGACY_UNVERIFIED"
    assert rows_of(file, "SELECT file_path FROM ingestion_queue") == [{"file_path": "/a"}]


def test_nobody_changes_a_file_between_its_verification_and_the_drop(file: Path) -> None:
    """A row taken and another added would leave their number as it was."""
    with closing(Hold(file, busy_seconds=1)) as hold:
        with (
            closing(sqlite3.connect(file, timeout=0)) as other,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            other.execute("INSERT INTO ingestion_queue (file_path) VALUES ('/late')")
        assert rows_of(file, "SELECT file_path FROM ingestion_queue") == [{"file_path": "/a"}]
        hold.drop({"ingestion_queue": 1})

    assert rows_of(file, "SELECT name FROM sqlite_master WHERE name = 'ingestion_queue'") == []
