"""The only changes to a legacy file: the marks in a table of their own, and the drop at the very end."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from penstock.engines.legacy.query import count_rows, drop_table
from penstock.engines.legacy.source import reading
from penstock.engines.legacy.statements import sql
from penstock.model.errors import Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What is written down about one table."""

    table: str
    migrated: int
    skipped: int


def check_markable(path: Path, *, busy_seconds: float) -> None:
    """Fail now, before anything is migrated, if the marks could not be written afterwards."""
    probe = Mark(table="ingestion_queue", migrated=-1, skipped=-1)
    with _changing(path, busy_seconds) as db:
        _write(db, [probe], 0.0)
        db.execute("ROLLBACK")


def mark(path: Path, marks: Sequence[Mark], now: float, *, busy_seconds: float) -> None:
    """Write the marks; doing it again with the same counts changes nothing."""
    with _changing(path, busy_seconds) as db:
        _write(db, marks, now)
        db.execute("COMMIT")


class Hold:
    """The file's write lock, from before its rows are verified until they are dropped.

    Nobody else changes a row meanwhile, so what is dropped is what was verified; reading goes on.
    """

    def __init__(self, path: Path, *, busy_seconds: float) -> None:
        self._path = path
        self._stack = ExitStack()
        self._db = self._stack.enter_context(_changing(path, busy_seconds))

    def drop(self, tables: Mapping[str, int]) -> None:
        """Drop tables, all or none; refused if one no longer has as many rows as were reported."""
        with reading(self._path):
            for table, rows in tables.items():
                now_there = self._db.execute(count_rows(table)).fetchone()[0]
                if now_there != rows:
                    raise Refused(
                        f"{table} had {rows:,} rows when it was migrated and has {now_there:,} now; "
                        "nothing was dropped, stop the program that writes it",
                        code="ERR_LEGACY_UNVERIFIED",
                    )
            for table in tables:
                self._db.execute(drop_table(table))
            self._db.execute("COMMIT")

    def close(self) -> None:
        """Let go; what was not dropped stays."""
        self._stack.close()


def _write(db: sqlite3.Connection, marks: Sequence[Mark], now: float) -> None:
    stamp = datetime.fromtimestamp(now, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    db.execute(sql("deprecated_make"))
    for each in marks:
        row = {"table": each.table, "at": stamp, "migrated": each.migrated, "skipped": each.skipped}
        db.execute(sql("deprecated_mark"), row)


@contextmanager
def _changing(path: Path, busy_seconds: float) -> Iterator[sqlite3.Connection]:
    """A transaction of the file; what is not committed in it is undone."""
    address = f"{path.resolve().as_uri()}?mode=rw"
    with reading(path), closing(_connect(address, busy_seconds)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield db


def _connect(address: str, busy_seconds: float) -> sqlite3.Connection:
    return sqlite3.connect(
        address, uri=True, isolation_level=None, timeout=busy_seconds, check_same_thread=False
    )
