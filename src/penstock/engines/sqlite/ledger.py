"""The ledger on SQLite: the documented table as a book of jobs that another engine hands out."""

from __future__ import annotations

import contextlib
import json
import logging
import sqlite3
from collections.abc import AsyncIterator, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from penstock.engines.sqlite import settling, submitting
from penstock.engines.sqlite.access import Access
from penstock.engines.sqlite.claiming import Claim, Taken, take
from penstock.engines.sqlite.picking import Row
from penstock.engines.sqlite.queue import SqliteQueue
from penstock.engines.sqlite.respelling import as_text, respell
from penstock.engines.sqlite.rows import leases_of
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso, iso_or_none, seconds_or_none
from penstock.model.errors import ErrorReport, Refused
from penstock.model.fingerprints import idempotency_key
from penstock.model.jobs import (
    BatchId,
    Job,
    JobId,
    Lease,
    NewJob,
    Operation,
    Progress,
    Receipt,
    Renewal,
    TenantId,
    WorkerId,
)
from penstock.model.outcomes import DONE, Failed, Outcome
from penstock.model.payloads import ItemType
from penstock.model.provenance import provenance_of
from penstock.model.states import ENDED, SQL_STATUS, State
from penstock.model.stored_json import stored_object
from penstock.ports.codec import decode_payload
from penstock.ports.ledger import Begun, Message, booked_id
from penstock.ports.roll import Roll

log = logging.getLogger("penstock.ledger")
TOLD_BYTES = 4 << 20
"""Bytes of messages told at once, give or take the last one: an engine has seconds to take them in."""
_LOST = "\N{REPLACEMENT CHARACTER}"
"""Stands where a byte could not be read."""
_RETRIES = 3
"""Of a job that does not say."""
_ENTERED = (
    *("id", "item_type", "op", "tenant", "collection", "priority", "payload", "max_retries", "branch"),
    *("metadata", "document_id", "run_at", "replay_of", "delete_first"),
)
"""The columns of `ledger_entered`, by the names messages have for them."""


class _Entry(NamedTuple):
    """What `ledger_rows` tells of an entry: a claim's row, the id it was asked by, and how it stands."""

    row: Row
    asked: str
    status: str
    code: str | None
    message: str | None
    behind: JobId | None

    @property
    def ended(self) -> bool:
        """Nothing more is to be done about it."""
        return self.status not in (SQL_STATUS[State.READY], SQL_STATUS[State.LEASED])


class SqliteLedger:
    """Entries are the queue's rows; only who may claim them is decided elsewhere."""

    def __init__(self, store: Access, queue: SqliteQueue) -> None:
        self._store = store
        self._queue = queue
        self._rules = store.rules
        self._clock = store.clock

    async def submit(self, jobs: Sequence[NewJob], *, batch: BatchId | None = None) -> list[Receipt]:
        """Enter all of them or none, with a message each."""
        return await self._queue.submit(jobs, batch=batch)

    async def messages(self, *, limit: int = 500) -> list[Message]:
        """What the engine may not have heard of yet; fewer where they are large.

        One that nobody can read is struck out: its job is told from its entry when the two are compared.
        """
        while rows := await self._store.look(lambda db: _some(db.execute(sql("message_some"), (limit,)))):
            found = [_message_of(seq, text) for seq, text in rows]
            if unread := [seq for (seq, _), message in zip(rows, found, strict=True) if message is None]:
                log.warning("messages to the queue that nobody can read were struck out: %d", len(unread))
                await self._strike(unread)
            if read := [message for message in found if message is not None]:
                return read
        return []

    async def sent(self, messages: Sequence[Message]) -> None:
        """The engine has them."""
        await self._strike([message.seq for message in messages])

    async def _strike(self, numbers: Sequence[int]) -> None:
        asked = json.dumps(numbers)
        await self._store.change(lambda db: db.execute(sql("message_sent"), (asked,)), durable=False)

    async def begin(self, worker: WorkerId, leases: Sequence[Lease]) -> Begun:
        """Open attempts."""
        return await self._store.change(lambda db: self._begin(db, worker, leases)) if leases else Begun()

    def roll(self, worker: WorkerId) -> Roll:
        """What the worker writes down as its handlers begin."""
        return self._queue.roll(worker)

    async def join(self, jobs: Sequence[NewJob]) -> None:
        """Jobs of other programs become the latest intent of entries that wait under their keys."""
        if jobs:
            await self._store.change(lambda db: self._join(db, jobs))

    async def met(self, jobs: Sequence[NewJob]) -> list[NewJob]:
        """Those under whose keys an entry waits."""
        return await self._store.look(lambda db: [job for job in jobs if _waits(db, job)]) if jobs else []

    async def extend(self, leases: Sequence[Lease]) -> list[Renewal]:
        """Book that attempts go on; says which are over and which were cancelled."""
        return await self._queue.extend(leases)

    async def settle(self, ends: Sequence[tuple[Lease, Outcome]]) -> list[bool]:
        """End attempts; False where the token is no longer the entry's."""
        return await self._queue.settle(ends)

    async def ends(self, job_ids: Sequence[JobId]) -> dict[JobId, Outcome]:
        """How those of the entries ended that have."""
        asked = json.dumps([booked_id(job_id) for job_id in job_ids])
        rows = await self._store.look(lambda db: db.execute(sql("ledger_ends"), (asked,)).fetchall())
        return {JobId(job_id): _end(*told) for job_id, *told in rows}

    async def begun(self, job_ids: Sequence[JobId]) -> set[JobId]:
        """Those a handler has begun and not ended, by the ids they were asked by."""
        asked = json.dumps([booked_id(job_id) for job_id in job_ids])
        rows = await self._store.look(lambda db: db.execute(sql("ledger_begun"), (asked,)).fetchall())
        rolls = self._store.rolls
        running = {told for told, job, worker, token in rows if rolls.had_begun(worker, job, token)}
        return {job_id for job_id in job_ids if booked_id(job_id) in running}

    async def progress(self, lease: Lease, progress: Progress) -> bool:
        """Keep how far a running job is; False where the token is no longer the entry's."""
        return await self._queue.progress(lease, progress)

    async def leave(self, worker: WorkerId, *, died: bool = False) -> int:
        """A worker has gone: its attempts are over."""
        return await self._queue.leave(worker, died=died)

    async def follow(self, jobs: Sequence[Job]) -> None:
        """Take over what the engine says of jobs it took back."""

        def work(db: sqlite3.Connection) -> None:
            for job in jobs:
                db.execute(sql("ledger_follow"), _decided(job, iso(self._clock.now())))
            submitting.clear_barriers(db, self._clock.now())

        if jobs:
            await self._store.change(work)

    async def unfinished(self, *, portion: int = 500) -> AsyncIterator[list[JobId]]:
        """Entries that have not ended, in the order of their submits, a page at a time."""
        places = await self._store.look(lambda db: [at for (at,) in db.execute(sql("ledger_unfinished"))])
        for begin in range(0, len(places), portion):
            asked = json.dumps(places[begin : begin + portion])
            ids = await self._store.look(partial(_ids, asked=asked))
            if any(_LOST in job_id for job_id in ids):  # nobody could name it in the next statement
                await self._store.change(respell)
                ids = await self._store.look(partial(_ids, asked=asked))
            yield ids

    async def entered(self, job_ids: Sequence[JobId]) -> list[NewJob]:
        """Those of the entries that have not ended; one that nobody can read is refused."""
        asked = json.dumps(job_ids)
        rows = await self._store.look(lambda db: db.execute(sql("ledger_entered"), (asked,)).fetchall())
        found: list[NewJob] = []
        for row in rows:
            try:
                found.append(_entered(row))
            except Refused as refused:
                await self.refuse(row[0], refused.report())
        return found

    async def refuse(self, job_id: JobId, error: ErrorReport) -> None:
        """End a waiting entry that the engine will not have, or that no worker could read."""
        where = {"id": job_id, "code": error.code, "message": error.message, "now": iso(self._clock.now())}
        await self._store.change(lambda db: db.execute(sql("ledger_refuse"), where))

    async def promote(self) -> float | None:
        """Entries whose time has come say so; when the next one's is."""
        return await self._queue.promote()

    async def prune(self, *, done_before: float, failed_before: float, limit: int = 1000) -> int:
        """Remove ended entries older than that."""
        return await self._queue.prune(done_before=done_before, failed_before=failed_before, limit=limit)

    def _join(self, db: sqlite3.Connection, jobs: Sequence[NewJob]) -> None:
        for job in jobs:
            if _waits(db, job):
                # One that is refused is refused by the engine too, and lies in the dead letter.
                with contextlib.suppress(Refused):
                    submitting.submit(db, submitting.entries_of([job], self._rules), self._clock.now())

    def _begin(self, db: sqlite3.Connection, worker: WorkerId, leases: Sequence[Lease]) -> Begun:
        rows = self._rows(db, leases)
        begun, wanted = Begun(), {}
        for lease in leases:
            entry = rows.get(booked_id(lease.job_id))
            if entry is None:
                begun.ended.append((lease, DONE))  # so long ago that nobody remembers how
            elif entry.ended:
                begun.ended.append((lease, _end(entry.status, entry.code, entry.message)))
            elif entry.row.queue_id in wanted:
                begun.early.append((lease, entry.row.queue_id))
            elif entry.status == SQL_STATUS[State.LEASED]:
                wanted[entry.row.queue_id] = (lease, self._counted(db, entry.row, lease))
            elif entry.behind is not None:
                begun.early.append((lease, entry.behind))
            else:
                wanted[entry.row.queue_id] = (lease, entry.row)
        taken = self._taken(db, worker, [row for _, row in wanted.values()])
        read = leases_of(taken, worker)
        settling.refuse(db, read.unfit, self._clock.now(), self._rules)
        for mine in read.leases:
            theirs = wanted[mine.job_id][0]
            begun.held.append((theirs, mine._replace(until=theirs.until, alone=theirs.alone)))
        begun.ended += [(wanted[job_id][0], Failed(report)) for job_id, _, report in read.unfit]
        begun.heirs = _heirs(db, [lease for lease, _ in begun.ended])
        return begun

    def _rows(self, db: sqlite3.Connection, leases: Sequence[Lease]) -> dict[str, _Entry]:
        """The entries of jobs an engine handed out; what is not in the book, and should be, is entered."""
        asked = json.dumps([booked_id(lease.job_id) for lease in leases])
        rows = _rows(db, asked)
        if len(rows) < len(leases):
            joined = {alias for (alias,) in db.execute(sql("ledger_joined"), (asked,))}
            known = rows.keys() | joined
            foreign = [_given(lease) for lease in leases if booked_id(lease.job_id) not in known]
            if foreign:
                entries = submitting.entries_of(foreign, self._rules)
                submitting.submit(db, entries, self._clock.now())
                db.executemany(sql("ledger_spent"), _spent(foreign))
                rows = _rows(db, asked)
        return rows

    @staticmethod
    def _counted(db: sqlite3.Connection, row: Row, lease: Lease) -> Row:
        """An entry still in progress was lost with its worker; whoever took it back may have died as well."""
        retries, crashes = max(row.retry_count, lease.attempt - 1), max(row.crashes, lease.crashes)
        if (retries, crashes) == (row.retry_count, row.crashes):
            return row
        db.execute(sql("ledger_counts"), (retries, crashes, row.rowid))
        return row._replace(retry_count=retries, crashes=crashes)

    def _taken(self, db: sqlite3.Connection, worker: WorkerId, rows: list[Row]) -> Taken:
        db.execute(sql("ledger_open"), (json.dumps([row.rowid for row in rows]),))
        asked = Claim(worker=worker, limit=len(rows), idle=False, now=self._clock.now(), rules=self._rules)
        return take(db, rows, asked)


def _waits(db: sqlite3.Connection, job: NewJob) -> bool:
    key = idempotency_key(job.collection, job.payload)
    return db.execute(sql("submit_waiting"), {"key": key, "tenant": job.tenant}).fetchone() is not None


def _rows(db: sqlite3.Connection, asked: str) -> dict[str, _Entry]:
    """Entries by the ids they were asked by."""
    wide = len(Row._fields)
    told = db.execute(sql("ledger_rows"), (asked,))
    found = [_Entry(Row._make(row[:wide]), *row[wide:]) for row in told]
    return {entry.asked: entry for entry in found}


def _ids(db: sqlite3.Connection, asked: str) -> list[JobId]:
    return [JobId(job_id) for (job_id,) in db.execute(sql("ledger_ids"), (asked,))]


def _heirs(db: sqlite3.Connection, ended: Sequence[Lease]) -> list[NewJob]:
    keys = {(idempotency_key(lease.collection, lease.payload), lease.tenant) for lease in ended}
    asked = [{"key": key, "tenant": tenant} for key, tenant in keys]
    found: list[NewJob] = []
    for row in [row for where in asked for row in db.execute(sql("ledger_heir"), where)]:
        with contextlib.suppress(Refused):  # comparing ends it with the reason
            found.append(_entered(row))
    return found


def _spent(jobs: Sequence[NewJob]) -> list[tuple[int, str]]:
    """Retries other programs say were spent before their messages came to us."""
    told = [(provenance_of(job.metadata).retry_count, job.id) for job in jobs]
    return [(retries, job_id) for retries, job_id in told if retries]


def _given(lease: Lease) -> NewJob:
    """The job behind a lease, as its submitter gave it to the engine."""
    metadata = json.loads(lease.metadata_json)
    allowed = provenance_of(metadata).max_retries
    return NewJob(
        id=booked_id(lease.job_id),
        tenant=lease.tenant,
        collection=lease.collection,
        payload=lease.payload,
        op=lease.op,
        priority=lease.priority,
        document_id=lease.document_id,
        branch=lease.branch,
        metadata=metadata,
        max_retries=_RETRIES if allowed is None else allowed,
        delete_first=lease.delete_first,
    )


def _some(rows: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """As many as an engine takes in within one deadline."""
    some: list[tuple[int, str]] = []
    weight = 0
    for row in rows:
        some.append(row)
        weight += len(row[1])
        if weight >= TOLD_BYTES:
            break
    return some


def _message_of(seq: int, text: str) -> Message | None:
    """None if it cannot be read, by this version at least."""
    try:
        return Message(seq, _job_of(json.loads(as_text(text))))
    except (Refused, KeyError, TypeError, ValueError, RecursionError):
        return None


def _job_of(given: dict[str, Any]) -> NewJob:
    """Refused, or what reading raises, if it is no job."""
    return NewJob(
        id=JobId(given["id"]),
        payload=decode_payload(ItemType(given["item_type"]), given["payload"]),
        op=Operation(given["op"]),
        tenant=TenantId(given["tenant"]),
        collection=given["collection"],
        priority=given["priority"],
        max_retries=given["max_retries"],
        branch=given["branch"],
        metadata=stored_object(given["metadata"]),
        document_id=given["document_id"],
        run_at=given["run_at"],
        replay_of=None if given["replay_of"] is None else JobId(given["replay_of"]),
        delete_first=bool(given["delete_first"]),
    )


def _entered(row: tuple[Any, ...]) -> NewJob:
    """The job of an entry, whatever hand wrote it; Refused if it is none."""
    given = dict(zip(_ENTERED, map(as_text, row), strict=True))
    try:
        given |= {
            "run_at": seconds_or_none(given["run_at"]),
            "branch": given["branch"] or "main",
            "metadata": given["metadata"] or "{}",
        }
        return _job_of(given)
    except (TypeError, ValueError) as error:  # a value of a kind no row of ours ever has
        raise Refused(f"the row cannot be read: {error}", code="ERR_PAYLOAD_INVALID") from error


def _end(status: str, code: str | None, message: str | None) -> Outcome:
    if status == SQL_STATUS[State.DONE]:
        return DONE
    return Failed(ErrorReport(code=code or "ERR_BROKEN", message=message or ""))


def _decided(job: Job, stamp: str) -> dict[str, object]:
    over = job.state in ENDED
    return {
        "id": booked_id(job.id),
        "status": SQL_STATUS[job.state if over else State.READY],
        "now": stamp,
        "finished": stamp if over else None,
        "decided": iso(job.updated_at),
        "retry_count": job.retry_count,
        "crashes": job.crashes,
        "due": None if over else iso_or_none(job.run_at),
        "code": job.error.code if job.error else None,
        "message": job.error.message if job.error else None,
    }
