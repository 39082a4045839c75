"""The memory of legacy rows is part of the schema, whoever made the file and whatever it was made by."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from penstock.engines.sqlite.connection import DATABASE, connect, migrate, migrations, split, version
from penstock.engines.sqlite.rehearsing import Rehearsal

MADE_WHEN_NEEDED = """
CREATE TABLE legacy_rows (
  row_id TEXT PRIMARY KEY NOT NULL, joined TEXT, named TEXT NOT NULL, taken_at REAL NOT NULL
) WITHOUT ROWID
"""


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A database as it was before the memory became a migration."""
    path = tmp_path / DATABASE
    with closing(connect(path)) as db:
        for script in migrations()[:2]:
            for statement in split(script):
                db.execute(statement)
        db.execute("PRAGMA user_version = 2")
    return path


def has_memory(db: sqlite3.Connection) -> bool:
    return bool(db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'legacy_rows'").fetchone()[0])


def test_a_new_database_has_the_memory(tmp_path: Path) -> None:
    """No command makes a table of its own: what the program needs is there from the first start."""
    with closing(connect(tmp_path / DATABASE)) as db:
        migrate(db)

        assert has_memory(db)


def test_a_memory_made_before_is_kept(older: Path) -> None:
    """A file whose table was made by the first takeover is migrated, and remembers what it knew."""
    with closing(connect(older)) as db:
        db.execute(MADE_WHEN_NEEDED)
        db.execute("INSERT INTO legacy_rows VALUES ('a', NULL, 'b', 1.0)")

        migrate(db)

        assert version(db) == len(migrations())
        assert db.execute("SELECT row_id FROM legacy_rows").fetchall() == [("a",)]


def test_a_rehearsal_on_an_older_database_remembers_nothing(older: Path) -> None:
    """It may not change the file, so it does without the table."""
    with Rehearsal(older.parent, busy_seconds=1.0) as rehearsal:
        assert rehearsal.compare([]) == {}
        assert rehearsal.adopt([]) == []

    with closing(connect(older)) as db:
        assert not has_memory(db)
