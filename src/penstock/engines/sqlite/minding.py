"""Keeping the table in order: due jobs, pauses, cancels, replays, old rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.submitting import clear_barriers
from penstock.engines.sqlite.times import iso, seconds
from penstock.model.jobs import PRIORITY_MAX
from penstock.model.standing import PauseScope

FORGET_SECONDS = 3600.0
"""How long a dead worker is still shown."""


def anything_due(db: sqlite3.Connection, now: float) -> tuple[bool, float | None]:
    """Is there something to promote, and when is the next one due?"""
    nearest = db.execute(sql("promote_next")).fetchone()
    due_now = bool(db.execute(sql("promote_any"), {"now": iso(now)}).fetchone()[0])
    return due_now, seconds(nearest[0]) if nearest else None


def promote(db: sqlite3.Connection, now: float) -> tuple[int, float | None]:
    """Make due rows ready; how many, and when the next is due (now, if there is more to do at once)."""
    promoted = db.execute(sql("promote_due"), {"now": iso(now)}).rowcount
    unfinished = clear_barriers(db, now)
    released = let_go(db)
    nearest = db.execute(sql("promote_next")).fetchone()
    due = seconds(nearest[0]) if nearest else None
    if released:
        due = now
    elif unfinished:
        due = min(now + 1.0, due) if due is not None else now + 1.0
    return promoted + released, due


def let_go(db: sqlite3.Connection) -> int:
    """A portion of the rows that lifted pauses had set aside; 0 when all are back."""
    for scope, name in db.execute(sql("pause_lifted")).fetchall():
        released = db.execute(sql("pause_release"), {"scope": scope, "name": name}).rowcount
        if released:
            return released
        db.execute(sql("pause_forget"), (scope, name))
    return 0


def pause(db: sqlite3.Connection, scope: PauseScope, name: str, by: str, now: float) -> None:
    """Hold a scope back."""
    db.execute(sql("pause_add"), (scope, name, by, iso(now)))


def resume(db: sqlite3.Connection, scope: PauseScope, name: str) -> bool:
    """Lift a pause; False if there was none."""
    return db.execute(sql("pause_lift"), (scope, name)).rowcount == 1


def cancel(db: sqlite3.Connection, job_id: str, now: float) -> bool:
    """End a waiting job, tell a running one; False if it had ended."""
    where = {"id": job_id, "now": iso(now)}
    if db.execute(sql("cancel_waiting"), where).rowcount:
        clear_barriers(db, now)
        return True
    return db.execute(sql("cancel_running"), where).rowcount == 1


@dataclass(frozen=True, slots=True)
class Prunable:
    """What a look found: row numbers by status, and whether anything beside the jobs is old or broken."""

    rows: dict[str, list[int]]
    beside: bool
    stuck: list[str]
    """Batches with nothing left to wait for."""

    def __bool__(self) -> bool:
        return self.beside or bool(self.stuck) or any(self.rows.values())


def prunable(db: sqlite3.Connection, before: Mapping[str, float], limit: int, now: float) -> Prunable:
    """Ended rows past their time, at most `limit`; `before` has the limit of each status."""
    rows: dict[str, list[int]] = {}
    left = limit
    for status, at in before.items():
        found = rows.setdefault(status, [])
        for priority in range(PRIORITY_MAX + 1):
            where = {"status": status, "priority": priority, "before": iso(at), "limit": left}
            more = [row for (row,) in db.execute(sql("prune_find"), where)] if left > 0 else []
            found += more
            left -= len(more)
    earliest = {"before": iso(min(before.values())), "silent": iso(now - FORGET_SECONDS)}
    beside = bool(db.execute(sql("prune_beside"), earliest).fetchone()[0])
    return Prunable(rows, beside, [batch for (batch,) in db.execute(sql("batch_stuck"))])


def prune(db: sqlite3.Connection, before: Mapping[str, float], found: Prunable, now: float) -> int:
    """Remove what was found and still is past its time, and what was kept beside it."""
    gone: list[tuple[str]] = []
    for status, rows in found.rows.items():
        where = {"status": status, "before": iso(before[status]), "rows": json.dumps(rows)}
        gone += db.execute(sql("prune"), where).fetchall()
    db.executemany(sql("prune_aliases"), gone)
    db.executemany(sql("prune_members"), gone)
    db.execute(sql("mend_lines"))
    db.execute(sql("mend_barriers"))
    db.execute(sql("mend_keys"))
    if found.stuck:
        db.execute(sql("mend_batches"), {"batches": json.dumps(found.stuck), "now": iso(now)})
    db.execute(sql("prune_batches"), {"before": iso(min(before.values()))})
    db.execute(sql("workers_forget"), {"silent": iso(now - FORGET_SECONDS)})
    return len(gone)
