"""Rows another program wrote with bytes in place of text, such as a tenant's name in Latin-1.

SQLite takes any bytes for text, the driver does not, and what cannot be read cannot be named in the next
statement either: one such row would stop every claim. The table cannot refuse it, for SQL has no test for
UTF-8. So whoever meets one writes it again with U+FFFD in place of each bad byte, and from then on it is a
job like any other: its turn comes, and it ends with its reason. Only readers never write: they see the same
text without storing it.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

from penstock.engines.sqlite.statements import sql
from penstock.model.errors import Fault

T = TypeVar("T")
log = logging.getLogger("penstock.sqlite")


def unreadable(error: BaseException) -> bool:
    """Does the driver say that a text is none?"""
    told = error.__cause__ if isinstance(error, Fault) else error
    return isinstance(told, sqlite3.OperationalError) and "UTF-8" in str(told)


def read_leniently(db: sqlite3.Connection, work: Callable[[sqlite3.Connection], T], errors: str) -> T:
    """Read once more, with what `errors` makes of bytes that are no text, as bytes.decode knows it."""
    db.text_factory = lambda data: data.decode(errors=errors)
    try:
        return work(db)
    finally:
        db.text_factory = str


def as_text(value: Any) -> Any:
    """A column's value, with bytes as the text they may have been meant to be."""
    return _spelled(value) if isinstance(value, bytes) else value


def respell(db: sqlite3.Connection) -> int:
    """Make every short text of the queue one that can be read; how many rows were written again."""
    known = db.text_factory
    db.text_factory = _Unread
    try:
        rows = [row for row in db.execute(sql("respell_find")) if any(map(_is_unread, row))]
    finally:
        db.text_factory = known
    for row in rows:
        _write(db, list(map(as_text, row)))
    if rows:
        db.execute(sql("mend_barriers"))  # they name tenants too
        log.warning("rows that held bytes in place of text were written again: %d", len(rows))
    return len(rows)


class _Unread(bytes):
    """Text as it lies in the file."""


def _is_unread(value: object) -> bool:
    """Bytes that are no UTF-8, or were never meant to be text."""
    if not isinstance(value, _Unread):
        return isinstance(value, bytes)
    try:
        value.decode()
    except UnicodeDecodeError:
        return True
    return False


def _spelled(data: bytes) -> str:
    return data.decode(errors="replace")


def _write(db: sqlite3.Connection, row: list[Any]) -> None:
    try:
        db.execute(sql("respell"), row)
    except sqlite3.IntegrityError:  # another row has that id or that key already
        rowid, queue_id, *others = row
        others[6] = f"{others[6]}-{rowid}"
        db.execute(sql("respell"), [rowid, f"{queue_id}-{rowid}", *others])
