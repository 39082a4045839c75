"""SQLite's errors in the words of the model; the driver's error stays attached as the cause."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from penstock.engines.disk.faults import keeping_fault
from penstock.model.errors import Broken, Exhausted, Fault, Unavailable

_PRIMARY = 0xFF
_WRITE_ERRORS = frozenset(
    {
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_TRUNCATE,
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_SHMMAP,
    }
)


def fault_of(error: sqlite3.Error, path: str) -> Fault:
    """Whose move is it after this error?"""
    code = getattr(error, "sqlite_errorcode", 0) or 0
    primary = code & _PRIMARY
    if primary == sqlite3.SQLITE_FULL or code in _WRITE_ERRORS:
        return Exhausted(f"the disk is full: {path} cannot grow", code="ERR_DISK_FULL")
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Unavailable(f"another process holds {path} for too long", code="ERR_STORE_BUSY")
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Broken(f"{path} is damaged or is not a database ({error})", code="ERR_STORE_CORRUPT")
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
        return Unavailable(f"{path} cannot be opened for writing ({error})", code="ERR_STORE_READ_ONLY")
    if primary == sqlite3.SQLITE_IOERR:
        return Unavailable(f"reading or writing {path} failed ({error})", code="ERR_STORE_UNAVAILABLE")
    return Broken(f"{path}: {error}", code="ERR_BROKEN")


def folder_fault(error: OSError, folder: Path) -> Fault:
    """Why the data folder cannot be used: a limit is reached for now, or somebody must make it usable."""
    fault = keeping_fault(error, error.filename or folder)
    if isinstance(fault, Exhausted):
        return fault
    return Unavailable(
        f"the data folder {folder} cannot be made or written ({error.strerror})", code="ERR_STORE_READ_ONLY"
    )
