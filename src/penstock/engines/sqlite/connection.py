"""Opening the database file, and bringing it to the schema this program knows."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from importlib.resources import files
from pathlib import Path
from typing import Literal

from penstock.engines.sqlite.faults import fault_of, folder_fault
from penstock.engines.sqlite.line import keep_line
from penstock.engines.sqlite.statements import sql
from penstock.model.errors import Refused

Synchronous = Literal["full", "normal"]
DATABASE = "penstock.db"
LIBRARY_LEAST = (3, 38)
"""The first SQLite that knows all our statements use, with JSON in every build."""
CACHE_KIB = 4096
"""Small on purpose: a commit that balanced a tree goes through every page of the cache. The system has all of
the file in its own, and a page read from there costs less than the fault of touching a mapped one."""


def connect(
    path: Path, *, synchronous: Synchronous = "full", busy_seconds: float = 10.0
) -> sqlite3.Connection:
    """A connection in autocommit; the caller says BEGIN.

    `full` survives a power cut after every commit; `normal` may lose the last commits then, never the file.
    """
    db = sqlite3.connect(
        path, isolation_level=None, timeout=busy_seconds, cached_statements=256, check_same_thread=False
    )
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(f"PRAGMA synchronous = {synchronous.upper()}")
    db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    db.execute("PRAGMA temp_store = MEMORY")
    db.execute("PRAGMA wal_autocheckpoint = 0")  # see checkpoint.py
    return db


def prepare(folder: Path, *, synchronous: Synchronous, busy_seconds: float) -> Path:
    """Make the folder and the schema; the path of the database."""
    _refuse_an_old_library()
    path = folder / DATABASE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "run").mkdir(exist_ok=True)
        _make_private(path)
    except OSError as error:
        raise folder_fault(error, folder) from error
    db: sqlite3.Connection | None = None
    try:
        _refuse_what_is_not_ours(path)
        db = connect(path, synchronous=synchronous, busy_seconds=busy_seconds)
        migrate(db)
        keep_line(db, path)
    except sqlite3.Error as error:
        raise fault_of(error, str(path)) from error
    finally:
        if db is not None:
            db.close()
    return path


def _refuse_an_old_library() -> None:
    """Said once and plainly, instead of by the first statement it cannot read."""
    if sqlite3.sqlite_version_info < LIBRARY_LEAST:
        least = ".".join(map(str, LIBRARY_LEAST))
        raise Refused(
            f"this Python has SQLite {sqlite3.sqlite_version}, at least {least} is needed",
            code="ERR_SQLITE_TOO_OLD",
        )


def _make_private(path: Path) -> None:
    """A new database is its owner's to read; who wants to share it says so. Its log becomes like it."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _refuse_what_is_not_ours(path: Path) -> None:
    """Before anything is changed: a newer program's file, or quite another's, is left exactly as it is."""
    if not path.exists():
        return
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        found, known = version(db), len(migrations())
        taken = not found and db.execute(sql("schema_taken")).fetchone()[0]
        taken = taken and not version(db)  # another process may have made it between the two looks
    if found > known:
        raise Refused(f"{path} has schema {found}, this program knows {known}", code="ERR_STORE_TOO_NEW")
    if taken:
        raise Refused(
            f"{path} holds a table unified_queue, but not the number of a schema", code="ERR_STORE_FOREIGN"
        )


def migrate(db: sqlite3.Connection) -> None:
    """Apply the numbered migrations that are missing, each in a transaction of its own."""
    scripts = migrations()
    for number, script in enumerate(scripts, start=1):
        if version(db) >= number:
            continue
        db.execute("BEGIN IMMEDIATE")
        try:
            if version(db) < number:  # another process may have been faster
                for statement in split(script):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {number}")
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


def version(db: sqlite3.Connection) -> int:
    """The number of the last migration applied."""
    row = db.execute("PRAGMA user_version").fetchone()
    return int(row[0])


def migrations() -> list[str]:
    """The migrations' texts in order."""
    folder = files(__package__).joinpath("migrations")
    found = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda e: e.name)
    return [entry.read_text(encoding="utf-8") for entry in found]


def split(script: str) -> Iterator[str]:
    """The statements of a script; triggers hold semicolons of their own."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if line.rstrip().endswith(";") and sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if any(line.strip() and not line.strip().startswith("--") for line in pending.splitlines()):
        yield pending
