"""`python -m bench.live.committing DATABASE USERS ROUNDS [PER_SECOND]`: commits events from outside.

Without a pace every round is one transaction with an event for each user. With one, every event is committed
by itself, for one user after another, and the moment before each commit is written to standard output.
"""

from __future__ import annotations

import json
import random
import sqlite3
import sys
import time
from collections.abc import Sequence

PAYLOAD = (
    '{"workspace_id":"00000000-0000-4000-8000-000000000002",'
    '"document_id":"4b0f1c52-7c1f-4a58-9d9c-2f0f6f3d8a11","status":"ingested"}'
)
TYPE = "document.status_updated"
EXAMPLE = (
    '{{"type":"' + TYPE + '","payload":' + PAYLOAD.replace("{", "{{").replace("}", "}}") + ","
    '"seq":{seq},"ts":"2026-01-01T00:00:00.000000Z"}}'
)
COUNT = (
    "INSERT INTO event_counters (user_id, seq) VALUES (?, 1)"
    " ON CONFLICT (user_id) DO UPDATE SET seq = seq + 1"
)
APPEND = (
    "INSERT INTO events (user_id, seq, ts, type, payload_json)"
    " SELECT user_id, seq, strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'), ?2, ?3"
    " FROM event_counters WHERE user_id = ?1"
)


def name_of(user: int) -> str:
    """A user's name."""
    return f"user-{user:04}"


def commit(db: sqlite3.Connection, users: Sequence[str]) -> float:
    """One event each, in one transaction; the moment before the commit."""
    db.execute("BEGIN IMMEDIATE")
    db.executemany(COUNT, [(user,) for user in users])
    db.executemany(APPEND, [(user, TYPE, PAYLOAD) for user in users])
    at = time.monotonic()
    db.execute("COMMIT")
    return at


def main(database: str, users: int, rounds: int, per_second: float | None) -> None:
    """Commit, and tell when."""
    db = sqlite3.connect(database, isolation_level=None, timeout=30)
    db.execute("PRAGMA synchronous = NORMAL")
    names = [name_of(user) for user in range(users)]
    if per_second is None:
        for _ in range(rounds):
            commit(db, names)
        return
    chance, told = random.Random(1), []
    begun = time.monotonic()
    for at in range(rounds):
        time.sleep(max(0.0, begun + at / per_second - time.monotonic()))
        user = chance.choice(names)
        when = commit(db, [user])
        (seq,) = db.execute("SELECT seq FROM event_counters WHERE user_id = ?", (user,)).fetchone()
        told.append((user, seq, when))
    print(json.dumps(told))


if __name__ == "__main__":
    given = sys.argv[1:]
    main(given[0], int(given[1]), int(given[2]), float(given[3]) if len(given) > 3 else None)
