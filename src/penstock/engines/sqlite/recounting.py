"""Batches that say other counts than their children: found, and counted anew."""

from __future__ import annotations

import sqlite3

from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso
from penstock.model.batches import Counts, recounted
from penstock.model.diagnosis import Disagreement, Flaw


def miscounts(db: sqlite3.Connection, limit: int) -> list[Disagreement]:
    """Batches whose counts are not those of their children."""
    found = []
    for row in db.execute(sql("audit_batch_counts"), {"batch": None, "limit": limit}).fetchall():
        says, children, is_ended = _said(row), _children(row), bool(row[5])
        told = (
            f"the batch of job {row[0]} says {_told(says)}, {'ended' if is_ended else 'not ended'}; "
            f"of the children that are kept {_told(children)}"
        )
        found.append(Disagreement(flaw=Flaw.BATCH_COUNTS, about=row[0], sentence=told))
    return found


def recount(db: sqlite3.Connection, batch: str, now: float) -> int:
    """Let a batch say what its children say; one that does is left alone."""
    row = db.execute(sql("audit_batch_counts"), {"batch": batch, "limit": 1}).fetchone()
    if row is not None:
        counts = recounted(_said(row), _children(row))
        where = {"total": counts.total, "done": counts.done, "failed": counts.failed, "now": iso(now)}
        db.execute(sql("mend_members"), (batch,))
        db.execute(sql("mend_counts"), {"batch": batch, **where})
    return 0


def _said(row: tuple[int, ...]) -> Counts:
    return Counts(total=row[1], done=row[2], failed=row[3])


def _children(row: tuple[int, ...]) -> Counts:
    return Counts(total=row[6] + row[7] + row[8], done=row[7], failed=row[8])


def _told(counts: Counts) -> str:
    return f"{counts.done} done and {counts.failed} failed of {counts.total}"
