"""What is owed, on SQLite: rows that stay until they are paid.

A debt that is held is simply not due until its hold ends, so an owner that dies needs no cleaning up after.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from penstock.engines.sqlite.records import debt_of
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso
from penstock.model.catalogue import Debt, DebtKind, NewDebt

HOLD_SECONDS = 10.0
REASON_LENGTH_MAX = 1000


class SqliteDebts:
    """The verbs inside a transaction."""

    def __init__(self, db: sqlite3.Connection, now: float) -> None:
        self._db = db
        self._now = now

    def owe(self, debt: NewDebt) -> None:
        """Owe it, once."""
        due = self._now if debt.due_at is None else debt.due_at
        self._db.execute(
            sql("debt_owe"), (debt.kind, debt.about, debt.details_json, iso(due), iso(self._now))
        )

    def paid(self, debt: Debt) -> None:
        """It is done."""
        self._db.execute(sql("debt_paid"), (debt.id,))


def any_due(db: sqlite3.Connection, now: float) -> bool:
    """Is there anything to take, of whatever kind?"""
    return bool(db.execute(sql("debt_due"), (iso(now),)).fetchone()[0])


def take(
    db: sqlite3.Connection, kinds: Sequence[DebtKind], owner: str, now: float, *, limit: int
) -> list[Debt]:
    """Due debts, oldest first, held by this owner for a while."""
    where = {
        "owner": owner,
        "kinds": json.dumps(list(kinds)),
        "now": iso(now),
        "until": iso(now + HOLD_SECONDS),
        "limit": limit,
    }
    return sorted(map(debt_of, db.execute(sql("debt_take"), where).fetchall()), key=lambda debt: debt.id)


def put_off(db: sqlite3.Connection, debt: Debt, reason: str, due: float) -> None:
    """Try again then; somebody who took the debt meanwhile keeps it."""
    where = {"due": iso(due), "reason": reason[:REASON_LENGTH_MAX], "id": debt.id, "tries": debt.tries}
    db.execute(sql("debt_put_off"), where)
