"""Examining a database file without opening it for work: nothing is made, migrated or locked."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from penstock.engines.sqlite.connection import DATABASE, migrations, version
from penstock.engines.sqlite.faults import fault_of
from penstock.engines.sqlite.looking import look_only

FAULTS_MAX = 5
STEPS = 10_000
"""Steps of SQLite between two looks at the clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What a database file is like."""

    path: Path
    schema: int
    known: int
    """The schema this program makes."""
    faults: tuple[str, ...]
    finished: bool
    """Whether there was time to look at all of it."""


def examine(folder: Path, *, seconds: float, busy_seconds: float = 5.0) -> Examined | None:
    """Look at a data folder's database for so long at most; None if there is none, else a Fault tells."""
    path = folder / DATABASE
    if not path.exists():
        return None
    deadline = time.monotonic() + seconds
    try:
        with closing(look_only(path, busy_seconds=busy_seconds)) as db:
            schema = version(db)
            db.set_progress_handler(lambda: time.monotonic() > deadline, STEPS)
            faults, finished = _faults(db)
    except sqlite3.Error as error:
        raise fault_of(error, str(path)) from error
    return Examined(path=path, schema=schema, known=len(migrations()), faults=faults, finished=finished)


def _faults(db: sqlite3.Connection) -> tuple[tuple[str, ...], bool]:
    try:
        rows = db.execute(f"PRAGMA quick_check({FAULTS_MAX})").fetchall()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return (), False
        raise
    return tuple(told for (told,) in rows if told != "ok"), True


def library() -> tuple[str, bool]:
    """The version of SQLite itself, and whether it can search words."""
    with closing(sqlite3.connect(":memory:")) as db:
        options = {row[0] for row in db.execute("PRAGMA compile_options")}
    return sqlite3.sqlite_version, "ENABLE_FTS5" in options
