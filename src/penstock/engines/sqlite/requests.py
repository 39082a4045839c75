"""Requests that may be sent again, on SQLite."""

from __future__ import annotations

import sqlite3

from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso
from penstock.model.errors import Refused
from penstock.model.requests import BODY_BYTES_MAX, KEPT_MAX, KEPT_SECONDS, Answered, request_key

FORGOTTEN_AT_ONCE = 100
"""Old answers that go with each new one, so that they never pile up."""


class SqliteRequests:
    """The verbs inside a transaction."""

    def __init__(self, db: sqlite3.Connection, now: float) -> None:
        self._db = db
        self._now = iso(now)
        self._since = iso(now - KEPT_SECONDS)

    def earlier(self, user: str, key: str, fingerprint: str) -> Answered | None:
        """What the same request was answered before (Q1, Q2, Q4)."""
        row = self._find(user, key)
        if row is None:
            return None
        if row[0] != fingerprint:
            raise Refused(
                "this idempotency key was used for another request", code="ERR_IDEMPOTENCY_MISMATCH"
            )
        return Answered(status=row[1], body=row[2])

    def knows(self, user: str, key: str) -> bool:
        """Whether some request of the user was answered under the key and is kept (Q1, Q4)."""
        return self._find(user, key) is not None

    def keep(self, user: str, key: str, fingerprint: str, answered: Answered) -> None:
        """Keep the answer to a new request (Q3, Q5)."""
        if len(answered.body) > BODY_BYTES_MAX:
            raise Refused(
                f"the answer would have more than {BODY_BYTES_MAX:,} bytes: ask for less at a time",
                code="ERR_ANSWER_TOO_LARGE",
            )
        row = {
            "user": user,
            "key": request_key(key),
            "fingerprint": fingerprint,
            "status": answered.status,
            "body": answered.body,
            "now": self._now,
            "since": self._since,
        }
        self._db.execute(sql("request_keep"), row)
        self._db.execute(sql("request_forget"), {"since": self._since, "limit": FORGOTTEN_AT_ONCE})
        self._db.execute(sql("request_crowd"), {"user": user, "most": KEPT_MAX})

    def _find(self, user: str, key: str) -> tuple[str, int, bytes] | None:
        where = {"user": user, "key": request_key(key), "since": self._since}
        found: tuple[str, int, bytes] | None = self._db.execute(sql("request_find"), where).fetchone()
        return found
