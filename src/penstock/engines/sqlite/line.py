"""Whether the file is the one its numbers were given in; where it is not, they jump.

An older copy that is put back does not know what was given since it was made, and would give the same numbers
again, to other events: whoever comes with one of them would miss what is new and never know. So the database
remembers its file, by number and birth, and opening another one moves everybody's numbers on, behind all that
could have been given. A copy written into the same file, or a disk set back as a whole, is not noticed here;
there the time of a reader's last event tells (decision 19).
"""

from __future__ import annotations

import ctypes
import os
import sqlite3
import struct
from pathlib import Path

from penstock.engines.sqlite.statements import sql

_HERE = -100
_BIRTH = 0x800
_STATX_BYTES = 256
_BIRTH_AT = 80
_TIME = struct.Struct("qI")


def keep_line(db: sqlite3.Connection, path: Path) -> None:
    """Move the numbers on if this is not the file they were given in; opening it again changes nothing."""
    here = _identity(path)
    if db.execute(sql("line_known")).fetchone() == (here,):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        known = db.execute(sql("line_known")).fetchone()
        if known != (here,):  # another process may have been faster
            if known is not None:
                db.execute(sql("line_jump"))
                db.execute(sql("line_forget"))
            db.execute(sql("line_remember"), (here,))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _identity(path: Path) -> str:
    """The device is left out: it may have another number after every start of the machine."""
    return f"{path.stat().st_ino}-{_birth(path)}"


def _birth(path: Path) -> int:
    """When the file was made, in nanoseconds; 0 where the system does not say."""
    try:
        statx = ctypes.CDLL(None).statx
    except AttributeError:
        return int(getattr(path.stat(), "st_birthtime", 0) * 1_000_000_000)
    kept = ctypes.create_string_buffer(_STATX_BYTES)
    if statx(_HERE, os.fsencode(path), 0, _BIRTH, kept) != 0:
        return 0
    (known,) = struct.unpack_from("I", kept)
    seconds, rest = _TIME.unpack_from(kept, _BIRTH_AT)
    return int(seconds) * 1_000_000_000 + int(rest) if known & _BIRTH else 0
