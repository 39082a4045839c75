"""Accepting jobs: once per id, one waiting job per key, and the meeting of intents on one object."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso, iso_or_none
from penstock.model.errors import Refused
from penstock.model.fingerprints import idempotency_key
from penstock.model.jobs import Accepted, BatchId, JobId, NewJob, Operation, Receipt
from penstock.model.payloads import ItemType
from penstock.model.rules import Rules
from penstock.ports.codec import encode_metadata, encode_payload

PORTIONS = (500, 100, 10, 1)
"""Rows per INSERT statement."""


class Entry(NamedTuple):
    """A job made ready for the table before the write lock is taken."""

    job: NewJob
    key: str
    payload: str
    metadata: str
    row: tuple[object, ...]
    """What submit_insert binds for it."""


class Waiting(NamedTuple):
    """A job that waits with a key, in the order of the statement's columns."""

    job_id: JobId
    op: str
    delete_first: int
    document_id: str | None


def entries_of(jobs: Sequence[NewJob], rules: Rules) -> list[Entry]:
    """Encode and check all of them; nothing is written if one is refused."""
    if len(jobs) > rules.bulk_max:
        raise Refused(
            f"{len(jobs):,} jobs in one submit, the limit is {rules.bulk_max:,}", code="ERR_BULK_TOO_LARGE"
        )
    return [
        entry_of(
            job,
            idempotency_key(job.collection, job.payload),
            encode_payload(job.payload, bytes_max=rules.payload_bytes_max),
            encode_metadata(job.metadata, bytes_max=rules.metadata_bytes_max),
        )
        for job in jobs
    ]


def entry_of(job: NewJob, key: str, payload: str, metadata: str) -> Entry:
    """A job whose key, payload and metadata are texts already."""
    row = (
        job.id,
        job.item_type._value_,  # a plain str: SQLite's driver is slow to bind anything else
        job.op._value_,
        job.tenant,
        job.collection,
        job.priority,
        key,
        payload,
        job.max_retries,
        job.branch,
        metadata,
        job.document_id,
        iso_or_none(job.run_at),
        job.replay_of,
        int(job.delete_first),
    )
    return Entry(job, key, payload, metadata, row)


def submit(
    db: sqlite3.Connection, entries: Sequence[Entry], now: float, batch: BatchId | None = None
) -> list[Receipt]:
    """Insert them in one go where nothing is in the way; look at each where something is."""
    stamp = iso(now)
    batched = int(batch is not None)
    deletes = any(entry.job.op is Operation.DELETE for entry in entries)
    # Where a delete is among them the order matters too much: each is looked at in turn.
    fresh = set() if deletes else _insert_all(db, entries, stamp, batched)
    created = Accepted.CREATED
    if len(fresh) == len(entries):
        receipts = [Receipt(entry.job.id, created) for entry in entries]
    else:
        receipts = []
        for entry in entries:
            job_id = entry.job.id
            if job_id in fresh:
                fresh.discard(job_id)  # the same job again in one list finds the first
                receipts.append(Receipt(job_id, created))
            else:
                receipts.append(_submit_one(db, entry, stamp, batched))
    if batch is not None:
        _join(db, batch, receipts)
    if deletes:
        clear_barriers(db, now)
    return receipts


def _insert_all(db: sqlite3.Connection, entries: Sequence[Entry], stamp: str, batched: int) -> set[JobId]:
    """Insert what meets no conflict; the ids that were new.

    Many rows share one statement, because SQLite copies each page it touches once a statement.
    """
    ids = [entry.job.id for entry in entries]
    if db.execute(sql("submit_hindered")).fetchone()[0] or _any_alias(db, ids):
        return set()
    newest = db.execute(sql("submit_newest")).fetchone()[0]
    if _insert_rows(db, entries, stamp, batched) == len(entries):
        return set(ids)
    fresh = _since(db, newest)
    if any([let_go(db, entry.key, entry.job.tenant) for entry in entries if entry.job.id not in fresh]):
        db.execute(sql("submit_undo"), (newest,))  # once more, for they must stand in the order they came in
        _insert_rows(db, entries, stamp, batched)
        fresh = _since(db, newest)
    return fresh


def _insert_rows(db: sqlite3.Connection, entries: Sequence[Entry], stamp: str, batched: int) -> int:
    inserted, at = 0, 0
    for portion in PORTIONS:
        while len(entries) - at >= portion:
            rows = [entry.row for entry in entries[at : at + portion]]
            values = (stamp, batched, *chain.from_iterable(rows))
            inserted += db.execute(_insert_statement(portion), values).rowcount
            at += portion
    return inserted


def _since(db: sqlite3.Connection, newest: int) -> set[JobId]:
    return {JobId(job_id) for (job_id,) in db.execute(sql("submit_since"), (newest,))}


def let_go(db: sqlite3.Connection, key: str, tenant: str) -> bool:
    """Whoever runs with this key lets it go; False if nobody does."""
    return db.execute(sql("submit_let_go"), {"key": key, "tenant": tenant}).rowcount > 0


def waiting_with(db: sqlite3.Connection, key: str, tenant: str) -> Waiting | None:
    """The job that waits with this key; one that lent it to a row which never came has it back first."""
    db.execute(sql("mend_keys"))
    found = db.execute(sql("submit_waiting"), {"key": key, "tenant": tenant}).fetchone()
    return None if found is None else Waiting._make(found)


def _any_alias(db: sqlite3.Connection, ids: list[JobId]) -> bool:
    if not db.execute(sql("alias_exists")).fetchone()[0]:
        return False
    return bool(db.execute(sql("alias_any"), {"ids": json.dumps(ids)}).fetchone()[0])


@cache
def _insert_statement(rows: int) -> str:
    """submit_insert for so many rows."""
    text = sql("submit_insert")
    begin, end = text.index("(?1"), text.index("?)") + 2
    return text[:begin] + ", ".join([text[begin:end]] * rows) + text[end:]


def _submit_one(db: sqlite3.Connection, entry: Entry, stamp: str, batched: int) -> Receipt:
    known = db.execute(sql("submit_find"), {"id": entry.job.id}).fetchone()
    if known is not None:
        if (known[1], known[2]) != (entry.job.tenant, entry.key):
            raise Refused(f"job id {entry.job.id} belongs to another job", code="ERR_JOB_ID_TAKEN")
        return Receipt(job_id=known[0], how=Accepted.EXISTING)
    waiting = waiting_with(db, entry.key, entry.job.tenant)
    if waiting is None or db.execute(sql("submit_doomed"), {"id": waiting.job_id, "now": stamp}).rowcount:
        let_go(db, entry.key, entry.job.tenant)
        db.execute(sql("submit_insert"), (stamp, batched, *entry.row))
        return Receipt(job_id=entry.job.id, how=Accepted.CREATED)
    db.execute(sql("alias_add"), (entry.job.id, waiting.job_id))
    if entry.job.op is Operation.SCAN:
        return Receipt(job_id=waiting.job_id, how=Accepted.EXISTING)
    _replace(db, entry, waiting, stamp)
    return Receipt(job_id=waiting.job_id, how=Accepted.COALESCED)


def _replace(db: sqlite3.Connection, entry: Entry, waiting: Waiting, stamp: str) -> None:
    job, job_id = entry.job, waiting.job_id
    deletes = job.op is Operation.DELETE
    deleting = waiting.op == Operation.DELETE or bool(waiting.delete_first)
    moves = job.document_id not in (None, waiting.document_id)
    if deletes and moves:
        _reach(db, job_id, stamp)  # where it stands now, before its subject is another
    db.execute(
        sql("submit_replace"),
        {
            "id": job_id,
            "op": job.op,
            "payload": entry.payload,
            "priority": job.priority,
            "now": stamp,
            "due": iso_or_none(job.run_at),
            "max_retries": job.max_retries,
            "branch": job.branch,
            "metadata": entry.metadata,
            "document_id": job.document_id,
            "delete_first": int(not deletes and (deleting or job.delete_first)),
        },
    )
    if moves:
        db.execute(sql("submit_leave"), {"id": job_id})
        db.execute(sql("submit_move"), {"id": job_id})
    if deletes:
        _reach(db, job_id, stamp)
    if job.item_type is ItemType.DELETE_TENANT:
        db.execute(sql("submit_generation"))
        db.execute(sql("submit_barrier"), {"id": job_id})


def _reach(db: sqlite3.Connection, job_id: str, stamp: str) -> None:
    """What a delete does to the others of its subject."""
    db.execute(sql("submit_supersede"), {"id": job_id, "now": stamp})
    db.execute(sql("submit_stop"), {"id": job_id})


def _join(db: sqlite3.Connection, batch: BatchId, receipts: Sequence[Receipt]) -> None:
    fresh: list[JobId] = []
    for receipt in receipts:
        if db.execute(sql("batch_join"), (receipt.job_id, batch)).rowcount:
            fresh.append(receipt.job_id)
            if receipt.how is not Accepted.CREATED:
                db.execute(sql("batch_mark"), (receipt.job_id,))
    done, failed = db.execute(sql("batch_ended"), {"ids": json.dumps(fresh)}).fetchone()
    grown = {"batch": batch, "total": len(fresh), "done": done, "failed": failed}
    if not db.execute(sql("batch_grow"), grown).rowcount:
        raise Refused(f"batch {batch} is unknown or sealed", code="ERR_BATCH_UNKNOWN")


def clear_barriers(db: sqlite3.Connection, now: float) -> bool:
    """End what came before tenant deletions, a portion a call; True if some are still in the way."""
    waiting = db.execute(sql("barrier_open")).fetchall()
    for job_id, tenant, generation in waiting:
        where = {"id": job_id, "tenant": tenant, "generation": generation, "now": iso(now)}
        db.execute(sql("barrier_stop"), where)
        db.execute(sql("barrier_end"), where)
        db.execute(sql("barrier_clear"), where)
    return bool(waiting) and bool(db.execute(sql("barrier_open")).fetchone())
