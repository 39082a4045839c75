"""Uploads while they are sent, on SQLite."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Mapping

from penstock.engines.sqlite.access import FRESH_SECONDS, Access
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso
from penstock.model.catalogue import DocumentId, WorkspaceId
from penstock.model.codes import CODES
from penstock.model.errors import ErrorReport
from penstock.model.uploads import HOLD_SECONDS, INTERRUPTED, KEPT_SECONDS, UploadId

FORGOTTEN_AT_ONCE = 100
"""Ended uploads that go with each new one, so that they never pile up."""
REASON_LENGTH_MAX = 1_000


class SqliteUploads:
    """The verbs inside a transaction."""

    def __init__(self, db: sqlite3.Connection, now: float) -> None:
        self._db = db
        self._at = now
        self._now = iso(now)

    def begin(self, workspace: WorkspaceId, *, name: str, total: int | None = None) -> UploadId:
        """A file begins to come (U1); long ended ones are forgotten (U5)."""
        upload = UploadId(str(uuid.uuid4()))
        row = {
            "id": upload,
            "workspace": workspace,
            "name": name,
            "total": total,
            "due": iso(self._at + HOLD_SECONDS),
            "now": self._now,
        }
        self._db.execute(sql("upload_begin"), row)
        where = {"before": iso(self._at - KEPT_SECONDS), "limit": FORGOTTEN_AT_ONCE}
        self._db.execute(sql("upload_forget"), where)
        return upload

    def complete(self, upload: UploadId, *, done: int, document: DocumentId | None) -> None:
        """It is taken in (U2)."""
        where = {"id": upload, "done": done, "document": document, "now": self._now}
        self._db.execute(sql("upload_complete"), where)

    def fail(self, upload: UploadId, error: ErrorReport) -> None:
        """It will not be taken in (U2)."""
        message = error.message[:REASON_LENGTH_MAX]
        self._db.execute(
            sql("upload_fail"), {"id": upload, "code": error.code, "error": message, "now": self._now}
        )


class SqliteReception:
    """Renews and heals through the writer."""

    def __init__(self, store: Access) -> None:
        self._store = store

    async def renew(self, arrived: Mapping[UploadId, int]) -> None:
        """So many bytes have come (U3); a power cut ends them all, so no disk is waited for."""

        def work(db: sqlite3.Connection) -> None:
            due = iso(self._store.clock.now() + HOLD_SECONDS)  # it may have waited for its turn
            rows = [{"id": upload, "done": done, "due": due} for upload, done in arrived.items()]
            db.executemany(sql("upload_renew"), rows)

        await self._store.change(work, punctual=True)

    async def arriving(self, workspace: WorkspaceId) -> Mapping[UploadId, int]:
        """How many bytes are said to have come of each that has not ended (U3)."""
        rows = await self._store.look(lambda db: db.execute(sql("upload_arriving"), (workspace,)).fetchall())
        return {UploadId(upload): done for upload, done in rows}

    async def heal(self, *, limit: int = 100) -> list[UploadId]:
        """End what nobody receives any more (U4); a look that finds nothing writes nothing."""
        now, asked = iso(self._store.clock.now()), self._store.clock.steady()
        found = await self._store.look(lambda db: db.execute(sql("upload_due"), (now,)).fetchone())
        if not found[0] or limit < 1:
            return []
        where = {"now": now, "limit": limit, "code": INTERRUPTED, "error": CODES[INTERRUPTED]}

        def work(db: sqlite3.Connection) -> list[UploadId]:
            if self._store.clock.steady() - asked >= FRESH_SECONDS:
                return []
            return [UploadId(row[0]) for row in db.execute(sql("upload_heal"), where).fetchall()]

        return await self._store.change(work)
