"""The rehearsal of an adoption: what the queue would do with legacy rows, told without touching its file.

Rows may also meet each other. What would wait by then is kept in a database without a name, which lives in
memory and, when it grows, in a file nobody sees.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from penstock.engines.sqlite import adopting
from penstock.engines.sqlite.adopting import Adopted
from penstock.engines.sqlite.connection import DATABASE
from penstock.engines.sqlite.faults import fault_of
from penstock.engines.sqlite.looking import look_only
from penstock.engines.sqlite.statements import sql
from penstock.model.errors import Unavailable
from penstock.model.legacy import Adoption, LegacyJob, Taken
from penstock.model.states import State


class Rehearsal:
    """Answers as `adopting` would; a data folder without a database counts as an empty queue."""

    def __init__(self, folder: Path, *, busy_seconds: float) -> None:
        self._path = folder / DATABASE
        self._queue = _opened(self._path, busy_seconds)
        self._seen = _nowhere()
        self._seen.execute("BEGIN")  # never committed: it ends with the rehearsal
        self._seen.execute(sql("rehearse_memory"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._queue.close()
        self._seen.close()

    def adopt(self, rows: Sequence[LegacyJob]) -> list[Adopted]:
        """What would become of each row."""
        try:
            found = adopting.foresee(self._queue, rows)
        except sqlite3.Error as error:
            raise fault_of(error, str(self._path)) from error
        return [self._met(row, how) for row, how in zip(rows, found, strict=True)]

    def compare(self, rows: Sequence[LegacyJob]) -> dict[str, Taken]:
        """What is remembered of rows."""
        try:
            return adopting.compare(self._queue, rows)
        except sqlite3.Error as error:
            raise fault_of(error, str(self._path)) from error

    def _met(self, row: LegacyJob, found: Adopted) -> Adopted:
        if found[0] is not Adoption.TAKEN or row.state is not State.READY:
            return found
        if self._seen.execute(sql("rehearse_add"), (row.named,)).rowcount:
            return found
        return Adoption.WAITING, "an earlier row asks for the same"


def _opened(path: Path, busy_seconds: float) -> sqlite3.Connection:
    if not path.exists():
        return _nowhere()
    try:
        return look_only(path, busy_seconds=busy_seconds)
    except sqlite3.Error as error:
        raise fault_of(error, str(path)) from error
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be opened ({error.strerror})", code="ERR_STORE_UNAVAILABLE"
        ) from error


def _nowhere() -> sqlite3.Connection:
    return sqlite3.connect("", isolation_level=None, check_same_thread=False)
