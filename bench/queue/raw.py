"""The raw limit: our own table and the leanest statements, in a bare loop without a queue around it."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from itertools import chain
from pathlib import Path

from bench.queue.ours import new_jobs
from penstock.engines.sqlite.connection import connect, prepare
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.submitting import _insert_statement, entries_of
from penstock.model.rules import Rules

NOW = "2026-01-02T00:00:00.000000Z"
CLAIM = """
UPDATE unified_queue SET status = 'in_progress', lease_until = :now, worker_id = :worker, updated_at = :now,
  started_at = :now, token = token + 1
WHERE rowid IN (SELECT rowid FROM unified_queue INDEXED BY queue_ready WHERE ready = 1
  ORDER BY rank DESC, tenant_id, created_at LIMIT :limit)
RETURNING queue_id, token, payload_json
"""
SETTLE = """
UPDATE unified_queue SET status = 'done', lease_until = NULL, worker_id = NULL, updated_at = :now,
  finished_at = :now, parked_since = NULL, cancel_code = NULL, keyed = 0
WHERE rowid IN (SELECT q.rowid FROM json_each(:ends) ends
  CROSS JOIN unified_queue q ON q.queue_id = json_extract(ends.value, '$[0]')
    AND q.token = json_extract(ends.value, '$[1]') AND q.status = 'in_progress')
"""
PORTION = 500


def opened(folder: Path) -> sqlite3.Connection:
    """A connection as the product has it, except that it checkpoints by itself."""
    db = connect(prepare(folder, synchronous="full", busy_seconds=10.0))
    db.execute("PRAGMA wal_autocheckpoint = 1000")
    return db


def rows(count: int) -> list[tuple[object, ...]]:
    """Rows ready to be bound, so that only SQLite is measured."""
    made: list[tuple[object, ...]] = []
    for start in range(0, count, 10_000):
        entries = entries_of(new_jobs(min(10_000, count - start), start), Rules())
        made += [entry.row for entry in entries]
    return made


def insert_bulk(db: sqlite3.Connection, made: list[tuple[object, ...]], per_commit: int) -> None:
    """Batches of a commit each, in statements of five hundred rows."""
    statement = _insert_statement(PORTION)
    for start in range(0, len(made), per_commit):
        created = f"2026-01-01T00:00:{start // 1000 % 60:02d}.000000Z"
        db.execute("BEGIN IMMEDIATE")
        for at in range(start, start + per_commit, PORTION):
            db.execute(statement, [created, 0, *chain.from_iterable(made[at : at + PORTION])])
        db.execute("COMMIT")


def insert_single(db: sqlite3.Connection, made: list[tuple[object, ...]]) -> None:
    """One row, one commit."""
    statement = sql("submit_insert")
    for row in made:
        db.execute(statement, (NOW, 0, *row))


def cycle(db: sqlite3.Connection, batch: int, worker: str) -> list[tuple[str, int, str]]:
    """Claim a batch and settle it, a commit each; what was claimed."""
    db.execute("BEGIN IMMEDIATE")
    got = db.execute(CLAIM, {"now": NOW, "worker": worker, "limit": batch}).fetchall()
    db.execute("COMMIT")
    if got:
        db.execute("BEGIN IMMEDIATE")
        ends = json.dumps([(job_id, token) for job_id, token, _ in got])
        db.execute(SETTLE, {"now": NOW, "ends": ends})
        db.execute("COMMIT")
    return got


def synced_write(db: sqlite3.Connection) -> float:
    """Seconds one bare, synced write takes."""
    begin = time.perf_counter()
    db.execute("UPDATE queue_claims SET claims = claims + 1")
    return time.perf_counter() - begin


def bare_worker(folder: Path, batch: int) -> None:
    """A bare batched loop: settle what ran and claim the next in one commit, run it, again."""
    from bench.queue.marks import noop

    db = opened(folder)
    held: list[tuple[str, int]] = []
    while True:
        db.execute("BEGIN IMMEDIATE")
        if held:
            db.execute(SETTLE, {"now": NOW, "ends": json.dumps(held)})
        got = db.execute(CLAIM, {"now": NOW, "worker": str(os.getpid()), "limit": batch}).fetchall()
        db.execute("COMMIT")
        held = []
        for job_id, token, payload in got:
            json.loads(payload)
            noop()
            held.append((job_id, token))
        if not got:
            time.sleep(0.002)


if __name__ == "__main__":
    bare_worker(Path(sys.argv[1]), int(sys.argv[2]))
