"""Why a legacy file cannot be used, in words a person can act on; the code is always the same."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from penstock.model.errors import Fault, Refused, Unavailable

CODE = "ERR_LEGACY_UNREADABLE"
_MAGIC = b"SQLite format 3\0"
_PRIMARY = 0xFF
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SHUT = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM)


def refuse_unless_database(path: Path) -> None:
    """Look at the file itself before SQLite does, which would make one that is missing."""
    try:
        if not path.is_file():
            what = "is not a file" if path.exists() else "does not exist"
            raise Refused(f"{path} {what}", code=CODE)
        with path.open("rb") as file:
            header = file.read(len(_MAGIC))
    except OSError as error:
        raise Unavailable(f"{path} cannot be opened ({error.strerror})", code=CODE) from error
    if not header:
        raise Refused(f"{path} is empty", code=CODE)
    if header != _MAGIC:
        raise Refused(f"{path} is not a SQLite database", code=CODE)


def fault_of(error: sqlite3.Error, path: Path) -> Fault:
    """Whose move is it: the person's, who named the wrong file, or the outside's, which keeps it shut?"""
    code = getattr(error, "sqlite_errorcode", 0) or 0
    primary = code & _PRIMARY
    if code == sqlite3.SQLITE_READONLY_ROLLBACK:
        return Unavailable(
            f"{path} holds a transaction that was never finished; "
            "open it once with the program that wrote it, or with sqlite3, so that it is undone",
            code=CODE,
        )
    if primary in _LOCKED:
        return Unavailable(f"{path} is locked by another process; stop the program that writes it", code=CODE)
    if primary in _DAMAGED:
        return Refused(f"{path} is damaged or is not a SQLite database ({error})", code=CODE)
    if primary in _SHUT:
        return Unavailable(
            f"{path} cannot be opened as it lies ({error}): it, its folder or its log is read-only; "
            f"copy it with its -wal and -journal files to a folder that can be written",
            code=CODE,
        )
    return Unavailable(f"reading {path} failed ({error})", code=CODE)
