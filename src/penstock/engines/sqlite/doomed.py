"""Jobs of a deleted collection: none of them runs, and none waits for ever.

A collection may have more waiting jobs than one write should end. All are marked in the write that deletes
it, which is cheap and keeps them from being claimed, also for a collection of the same name made a moment
later; the first of them end there and then, the rest with the purge.
"""

from __future__ import annotations

import sqlite3

from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso
from penstock.model.catalogue import LOCAL_WORKSPACE, WorkspaceId

PORTION = 1000


def end_jobs(db: sqlite3.Connection, workspace: WorkspaceId, name: str, now: float) -> None:
    """End what runs and what waits for the workspace's collection of this name."""
    where = {"name": name, "workspace": workspace, "local": LOCAL_WORKSPACE, "now": iso(now)}
    db.execute(sql("doomed_stop"), where)
    db.execute(sql("doomed_mark"), where)
    end_some(db, now, limit=PORTION)


def end_some(db: sqlite3.Connection, now: float, *, limit: int) -> int:
    """End some of those that are marked; how many."""
    return db.execute(sql("doomed_end"), {"now": iso(now), "limit": limit}).rowcount
