"""The schema that tests copy is the one that the program makes."""

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from penstock.engines.sqlite.connection import prepare

PRAGMAS = ("user_version", "journal_mode", "page_size")
ITS_OWN = ("home", "event_file")
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
MAKE = """
import sys
from pathlib import Path
from penstock.engines.sqlite.connection import prepare
prepare(Path(sys.argv[1]), synchronous="full", busy_seconds=10.0)
"""


def described(path: Path) -> list[object]:
    """Everything of a new database but when it was made, its name and what tells its file from others."""
    with closing(sqlite3.connect(path)) as db:
        pragmas = [db.execute(f"PRAGMA {word}").fetchall() for word in PRAGMAS]
        schema = db.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
        ).fetchall()
        tables = [name for kind, name, _, _ in schema if kind == "table" and name not in ITS_OWN]
        rows = [(name, db.execute(f"SELECT * FROM [{name}] ORDER BY 1").fetchall()) for name in tables]  # noqa: S608  # named by itself
    return [pragmas, schema, TIME.sub("then", repr(rows))]


def named(path: Path) -> str:
    with closing(sqlite3.connect(path)) as db:
        return str(db.execute("SELECT home_id FROM home").fetchone()[0])


def test_a_copied_schema_is_a_made_one(tmp_path: Path) -> None:
    """Nothing differs from what a process of its own makes, and no two are named alike."""
    subprocess.run([sys.executable, "-c", MAKE, str(tmp_path / "made")], check=True)
    copies = [prepare(tmp_path / name, synchronous="full", busy_seconds=10.0) for name in ("one", "other")]

    made = tmp_path / "made" / "penstock.db"
    assert described(copies[0]) == described(copies[1]) == described(made)
    assert len({named(path) for path in (*copies, made)}) == 3
