"""What a function given to `write` works with."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from penstock.engines.sqlite import settling, submitting
from penstock.engines.sqlite.accounts import SqliteAccounts
from penstock.engines.sqlite.conversations import SqliteConversations
from penstock.engines.sqlite.debts import SqliteDebts
from penstock.engines.sqlite.documents import SqliteDocuments
from penstock.engines.sqlite.kept import SqliteKept
from penstock.engines.sqlite.outbox import accept
from penstock.engines.sqlite.requests import SqliteRequests
from penstock.engines.sqlite.rows import job_of
from penstock.engines.sqlite.shelves import SqliteShelves
from penstock.engines.sqlite.stages import SqliteStages
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso
from penstock.engines.sqlite.uploads import SqliteUploads
from penstock.model.catalogue import WorkspaceId
from penstock.model.errors import LeaseLost
from penstock.model.events import Event
from penstock.model.jobs import BatchId, Job, JobId, Lease, NewJob, Receipt
from penstock.model.outcomes import Outcome
from penstock.model.rules import Rules
from penstock.ports.codec import encode_event


class SqliteTransaction:
    """The verbs of one transaction; lives only as long as the function runs."""

    def __init__(
        self,
        db: sqlite3.Connection,
        now: float,
        rules: Rules,
        *,
        booked: bool = False,
        newcomers: WorkspaceId | None = None,
    ) -> None:
        self._db = db
        self._now = now
        self._rules = rules
        self._booked = booked
        self._newcomers = newcomers
        self.may_bring_work = False
        """Whether a verb was asked for that can make a job ready: only these wake who waits for work."""

    def submit(self, jobs: Sequence[NewJob], *, batch: BatchId | None = None) -> list[Receipt]:
        """Accept jobs together with the caller's own changes."""
        self.may_bring_work = True
        entries = submitting.entries_of(jobs, self._rules)
        self._db.execute("SAVEPOINT submit")  # the caller may catch a refusal and go on
        try:
            receipts = accept(self._db, entries, self._now, batch, booked=self._booked)
        except BaseException:
            self._db.execute("ROLLBACK TO submit")
            raise
        finally:
            self._db.execute("RELEASE submit")
        return receipts

    def settle(self, ends: Sequence[tuple[Lease, Outcome]]) -> list[bool]:
        """End attempts together with what they produced."""
        self.may_bring_work = True
        return settling.settle(self._db, ends, self._now, self._rules)

    def guard(self, lease: Lease) -> None:
        """Raise LeaseLost unless the attempt still holds its job."""
        if not self._db.execute(sql("guard"), (lease.job_id, lease.token)).fetchone()[0]:
            raise LeaseLost.of(lease.job_id)

    def told_to_end(self, lease: Lease) -> str | None:
        """The code with which an attempt was told to end, if it was."""
        row = self._db.execute(sql("told_to_end"), (lease.job_id, lease.token)).fetchone()
        return None if row is None else row[0]

    def job(self, job_id: JobId) -> Job | None:
        """One job, as this transaction leaves it."""
        row = self._db.execute(sql("job_find"), {"id": job_id, "tenants": None}).fetchone()
        return None if row is None else job_of(row)

    def append_event(self, user: str, event: Event) -> int:
        """Log an event; its number."""
        ts = iso(self._now)
        seq = int(self._db.execute(sql("event_number"), (user, ts)).fetchone()[0])
        self._db.execute(sql("event_append"), (user, seq, ts, event.type, encode_event(event)))
        return seq

    @property
    def accounts(self) -> SqliteAccounts:
        """Users and their workspaces."""
        return SqliteAccounts(self._db, self._now, self.submit)

    @property
    def shelves(self) -> SqliteShelves:
        """Collections and their generations."""
        return SqliteShelves(self._db, self._now, self._newcomers)

    @property
    def documents(self) -> SqliteDocuments:
        """Documents, versions and chunks."""
        return SqliteDocuments(self._db, self._now, self._rules)

    @property
    def stages(self) -> SqliteStages:
        """The steps of document jobs."""
        return SqliteStages(self._db, self._now)

    @property
    def kept(self) -> SqliteKept:
        """Results that are never paid for twice."""
        return SqliteKept(self._db, self._now)

    @property
    def debts(self) -> SqliteDebts:
        """What is owed."""
        return SqliteDebts(self._db, self._now)

    @property
    def conversations(self) -> SqliteConversations:
        """Conversations and their messages."""
        return SqliteConversations(self._db, self._now)

    @property
    def requests(self) -> SqliteRequests:
        """Answers to requests that may be sent again."""
        return SqliteRequests(self._db, self._now)

    @property
    def uploads(self) -> SqliteUploads:
        """Files while they are sent."""
        return SqliteUploads(self._db, self._now)
