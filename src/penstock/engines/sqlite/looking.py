"""Looking at a database file and leaving no trace, neither in it nor beside it.

A file in write-ahead mode whose log is gone was closed cleanly. Opened as immutable it is read as it stands;
opened plainly, even a read-only connection would leave two files beside it. A log that is there must be read
with the file, so then the plain way is taken.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

_WRITE_AHEAD = bytes((2, 2))
"""Bytes 18 and 19 of a file in write-ahead mode."""


def look_only(path: Path, *, busy_seconds: float) -> sqlite3.Connection:
    """A connection that can change nothing; errors of the driver and of the file system leave as they are."""
    real = path.resolve()  # the log lies beside the file itself, not beside a link to it
    with real.open("rb") as file:
        header = file.read(20)
    log = real.with_name(f"{real.name}-wal")
    still = header[18:20] == _WRITE_AHEAD and not log.exists()
    address = f"{real.as_uri()}?mode=ro{'&immutable=1' if still else ''}"
    db = sqlite3.connect(
        address, uri=True, isolation_level=None, timeout=busy_seconds, check_same_thread=False
    )
    db.execute("PRAGMA query_only = 1")
    return db
