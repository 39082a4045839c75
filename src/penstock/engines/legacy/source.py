"""Reading a legacy queue's SQLite file, a portion at a time, in the order of its row numbers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from penstock.engines.legacy.layout import Layout, Shape, id_candidates, identity_of, layout_of
from penstock.engines.legacy.mapping import LegacyRow
from penstock.engines.legacy.query import any_repeated, count_rows, read_rows, row_number
from penstock.engines.legacy.roles import LEGACY_TABLES, MESSAGES, MIGRATED
from penstock.engines.legacy.statements import sql
from penstock.engines.legacy.unreadable import fault_of, refuse_unless_database
from penstock.engines.sqlite.looking import look_only

PORTION_ROWS = 1_000
PORTION_CHARACTERS = 8_000_000
"""A portion ends early when it has grown to this, so that long texts do not fill the memory."""
MARKS = "legacy_tables_deprecated"
_ROW_NUMBERS = ("rowid", "_rowid_", "oid")

Cursor = tuple[object, ...]


class LegacySource:
    """One open file; used by one thread at a time."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._db.close()

    def tables(self) -> dict[str, str]:
        """The legacy tables that are there, by their documented name, spelled as the file does."""
        with reading(self.path):
            names = {name.lower(): name for (name,) in self._db.execute(sql("tables"))}
        return {name: names[name] for name in LEGACY_TABLES if name in names}

    def count(self, table: str) -> int:
        """How many rows a table has."""
        with reading(self.path):
            return int(self._db.execute(count_rows(table)).fetchone()[0])

    def layout(self, legacy_name: str, table: str) -> Layout:
        """Which column of a table says what."""
        with reading(self.path):
            shape = self._shape(table)
            unrepeated: list[str] = []
            if not identity_of(shape):
                candidates = id_candidates(shape)
                unrepeated = [name for name in candidates if not self._any_repeated(table, name)]
            messages = self._shape(MESSAGES)
            return layout_of(
                shape,
                legacy_name,
                MIGRATED[legacy_name],
                unrepeated=unrepeated,
                messages=messages if messages.columns else None,
            )

    def portion(self, layout: Layout, after: Cursor | None) -> tuple[list[LegacyRow], Cursor | None]:
        """The rows behind a cursor, and the cursor behind them; None when there are no more."""
        with reading(self.path):
            query, bound = read_rows(layout, after or ())
            found = self._db.execute(query, (*bound, PORTION_ROWS))
            try:
                return _taken(found, layout)
            finally:
                found.close()

    def marked(self) -> list[tuple[str, str]]:
        """Tables an earlier run marked as deprecated, and when."""
        with reading(self.path):
            names = {name for (name,) in self._db.execute(sql("tables"))}
            return self._db.execute(sql("deprecated_list")).fetchall() if MARKS in names else []

    def _shape(self, table: str) -> Shape:
        columns = self._db.execute(sql("columns"), {"table": table}).fetchall()
        unique = self._db.execute(sql("unique_columns"), {"table": table}).fetchall()
        key = sorted((place, name) for name, place in columns if place)
        names = tuple(name for name, _ in columns)
        return Shape(
            name=table,
            columns=names,
            primary_key=tuple(name for _, name in key),
            unique=frozenset(name for (name,) in unique),
            row_number=self._row_number(table, names) if names else None,
        )

    def _row_number(self, table: str, columns: tuple[str, ...]) -> str | None:
        hidden = {column.lower() for column in columns}
        for name in _ROW_NUMBERS:
            if name not in hidden:
                return name if self._answers(row_number(table, name)) else None
        return None

    def _answers(self, query: str) -> bool:
        """False if it names a column that is not there; a file that cannot be read is told as such."""
        try:
            self._db.execute(query)
        except sqlite3.OperationalError as error:
            if "no such column" not in str(error):
                raise
            return False
        return True

    def _any_repeated(self, table: str, column: str) -> bool:
        return bool(self._db.execute(any_repeated(table, column)).fetchone()[0])


def open_source(path: Path, *, busy_seconds: float) -> LegacySource:
    """Open a legacy file to read; Refused or Unavailable, both ERR_LEGACY_UNREADABLE, if that cannot be."""
    refuse_unless_database(path)
    with reading(path):
        db = look_only(path, busy_seconds=busy_seconds)
    # Names in another encoding are read as they are; the row's own check refuses them with a reason.
    db.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    return LegacySource(path, db)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Errors of the driver leave as ERR_LEGACY_UNREADABLE."""
    try:
        yield
    except sqlite3.Error as error:
        raise fault_of(error, path) from error


def _taken(found: sqlite3.Cursor, layout: Layout) -> tuple[list[LegacyRow], Cursor | None]:
    rows: list[LegacyRow] = []
    cursor: Cursor | None = None
    size = 0
    for raw in found:
        cursor = raw[: len(layout.cursor)]
        rows.append(_row(layout, raw))
        size += sum(len(value) for value in raw if isinstance(value, str | bytes))
        if size > PORTION_CHARACTERS:
            break
    return rows, cursor


def _row(layout: Layout, raw: tuple[object, ...]) -> LegacyRow:
    start = len(layout.cursor)
    end = start + len(layout.identity)
    identity = raw[start:end]
    if not identity or None in identity:  # SQLite lets a text primary key be NULL
        identity = ("row", *raw[:start])
    return LegacyRow(
        table=layout.legacy_name,
        item_type=layout.item_type,
        identity=tuple(part.hex() if isinstance(part, bytes) else part for part in identity),
        values=dict(zip(layout.columns, raw[end:], strict=True)),
    )
