"""The steps of document jobs, on SQLite.

Python opens and finishes stages; everything else that happens to one happens to its job first, and the
triggers of the table carry it over (K9): a claim, a retry, a rescue, a cancel, a row changed by hand.
"""

from __future__ import annotations

import sqlite3

from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso
from penstock.model.catalogue import DocumentId, StageId, StageKind, StageState
from penstock.model.errors import LeaseLost, Refused
from penstock.model.ids import new_job_id
from penstock.model.jobs import JobId, Lease

_STATE_BY_STATUS = {"pending": StageState.QUEUED, "in_progress": StageState.RUNNING}


class SqliteStages:
    """The verbs inside a transaction."""

    def __init__(self, db: sqlite3.Connection, now: float) -> None:
        self._db = db
        self._now = now

    def begin(self, lease: Lease, document: DocumentId, kind: StageKind) -> StageId:
        """The stage this attempt works on, running; the one that waits for it, or a new one.

        One the job has already finished is given as it is: a retry repeats no finished stage.
        """
        self._guard(lease)
        number = self._number(document)
        found = self._db.execute(sql("stage_open"), (lease.job_id, number)).fetchone()
        if found is not None and found[1] == kind:
            self._db.execute(sql("stage_running"), {"id": found[0], "now": iso(self._now)})
            return StageId(found[0])
        passed = self._db.execute(sql("stage_passed"), (lease.job_id, number, kind)).fetchone()
        if passed is not None:
            return StageId(passed[0])
        if found is not None:
            self._leave(lease.job_id, found[0], for_task=kind is StageKind.TASK)
        if kind is StageKind.TASK:
            return self.open(number, lease.job_id, kind, StageState.RUNNING, lease.item_type, lease.op)
        # Whoever watches a document sees each of its steps wait before it runs, if only for a moment.
        stage = self.open(number, lease.job_id, kind, StageState.QUEUED, lease.item_type, lease.op)
        self._db.execute(sql("stage_running"), {"id": stage, "now": iso(self._now)})
        return stage

    def finish(self, lease: Lease, stage: StageId) -> None:
        """It worked; the job gets its retries back (K10)."""
        self._guard(lease)
        if self._close(lease.job_id, stage):
            self._db.execute(sql("stage_afresh"), {"job": lease.job_id, "token": lease.token})

    def document_of(self, job: JobId) -> DocumentId | None:
        """The document a job was admitted for."""
        row = self._db.execute(sql("stage_document"), (job,)).fetchone()
        return None if row is None else DocumentId(row[0])

    def expect(self, document: DocumentId, job: JobId) -> bool:
        """Let a document's parse wait for a job; its state stays. False if the job has ended."""
        number = self._number(document)
        return (
            self.await_parse(number, job)
            or self._db.execute(sql("stage_open"), (job, number)).fetchone() is not None
        )

    def await_parse(self, number: int, job: JobId) -> bool:
        """Let a document wait for its job; False if the job has ended or has a stage of it already."""
        row = self._db.execute(sql("stage_job"), (job,)).fetchone()
        status = "pending" if row is None else row[0]  # its row may follow in the same transaction
        state = _STATE_BY_STATUS.get(status)
        if state is None:
            return False
        if self._db.execute(sql("stage_open"), (job, number)).fetchone() is not None:
            return False
        if self._db.execute(sql("stage_passed"), (job, number, StageKind.PARSE)).fetchone() is not None:
            return False
        item_type, op = ("", "") if row is None else row[2:]
        self.open(number, job, StageKind.PARSE, state, item_type, op)
        return True

    def open(
        self, number: int, job: JobId, kind: StageKind, state: StageState, item_type: str, op: str
    ) -> StageId:
        """A new stage of a document's job."""
        stage = StageId(new_job_id(self._now))
        row = {
            "id": stage,
            "kind": kind,
            "document": number,
            "job": job,
            "item_type": item_type,
            "op": op,
            "state": state,
            "retry_count": 0,
            "now": iso(self._now),
        }
        self._db.execute(sql("stage_add"), row)
        self._db.execute(sql("stage_forget"), (number,))
        return stage

    def _close(self, job: JobId, stage: str) -> bool:
        where = {"id": stage, "job": job, "now": iso(self._now)}
        return self._db.execute(sql("stage_finish"), where).rowcount == 1

    def _leave(self, job: JobId, stage: str, *, for_task: bool) -> None:
        """The attempt goes on to another step: the one before worked, unless the job became another job."""
        if for_task:
            self._db.execute(sql("stage_supersede"), {"id": stage, "now": iso(self._now)})
        else:
            self._close(job, stage)

    def _guard(self, lease: Lease) -> None:
        if not self._db.execute(sql("guard"), (lease.job_id, lease.token)).fetchone()[0]:
            raise LeaseLost.of(lease.job_id)

    def _number(self, document: DocumentId) -> int:
        row = self._db.execute(sql("document_number"), (document,)).fetchone()
        if row is None:
            raise Refused(f"there is no document {document}", code="ERR_DOCUMENT_UNKNOWN")
        return int(row[0])
