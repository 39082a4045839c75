"""Listing jobs, newest first, without walking past those that are not wanted.

A type's jobs with one status stand together in a documented index, in the order of their row numbers. So a
listing by state or type is a merge of such lanes, each read only as far as the page needs it. A tenant's
ended jobs stand together too, by status, and its unfinished ones: a listing of tenants is a merge of those,
and costs nothing more for what others have. Collection and error code are filters within.
"""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from penstock.engines.sqlite.rows import job_of
from penstock.engines.sqlite.statements import sql
from penstock.model.jobs import BatchId, Job
from penstock.model.payloads import ItemType
from penstock.model.states import SQL_STATUS, State
from penstock.ports.desk import Wanted

NEWEST = (1 << 63) - 1
"""No row has a higher number."""


def jobs(db: sqlite3.Connection, wanted: Wanted) -> list[Job]:
    """A page of jobs."""
    before = NEWEST
    if wanted.before is not None:
        found = db.execute(sql("job_number"), {"id": wanted.before}).fetchone()
        if found is None:
            return []
        before = found[0]
    return _read(db, islice(_numbers(db, wanted, before), wanted.limit), payload=wanted.payload)


def oldest(db: sqlite3.Connection) -> Job | None:
    """The job that is ready for longest."""
    found = db.execute(sql("job_oldest")).fetchone()
    return None if found is None else _read(db, found)[0]


def failures(db: sqlite3.Connection, batch: BatchId, limit: int) -> list[Job]:
    """A batch's failed children."""
    where = {"batch": batch, "limit": limit}
    return _read(db, _first(db.execute(sql("batch_failures"), where)))


def _numbers(db: sqlite3.Connection, wanted: Wanted, before: int) -> Iterator[int]:
    where = {
        "collection": wanted.collection,
        "item_type": wanted.item_type,
        "error_code": wanted.error_code,
        "before": before,
        "limit": wanted.limit,
    }
    if wanted.tenants is not None:
        each = [_of_tenant(db, wanted.state, {**where, "tenant": tenant}) for tenant in wanted.tenants]
        return heapq.merge(*chain(*each), reverse=True)
    if wanted.state is None and wanted.item_type is None:
        return _first(db.execute(sql("job_list"), where))
    if wanted.state is State.DELAYED:
        return _first(db.execute(sql("job_list_due"), where))
    return _merged(db, wanted, where)


def _of_tenant(
    db: sqlite3.Connection, state: State | None, where: Mapping[str, object]
) -> Iterator[Iterator[int]]:
    """The lanes of one tenant: each is read only as far as the page needs it."""
    status = None if state is None else SQL_STATUS[state]
    for ended in ("done", "failed"):
        if status in (None, ended):
            yield _first(db.execute(sql("job_list_ended"), {**where, "status": ended}))
    if status not in ("done", "failed"):
        delayed = state is State.DELAYED if status == "pending" else None
        found = db.execute(sql("job_list_open"), {**where, "status": status, "delayed": delayed})
        yield _first(found)


def _merged(db: sqlite3.Connection, wanted: Wanted, where: Mapping[str, object]) -> Iterator[int]:
    kinds = list(ItemType) if wanted.item_type is None else [wanted.item_type]
    statuses = dict.fromkeys(SQL_STATUS.values()) if wanted.state is None else [SQL_STATUS[wanted.state]]
    ready = True if wanted.state is State.READY else None
    lanes = [
        _first(
            db.execute(sql("job_list_lane"), {**where, "item_type": kind, "status": status, "ready": ready})
        )
        for kind in kinds
        for status in statuses
    ]
    return heapq.merge(*lanes, reverse=True)


def _first(rows: Iterable[tuple[int]]) -> Iterator[int]:
    return (number for (number,) in rows)


def _read(db: sqlite3.Connection, numbers: Iterable[int], *, payload: bool = True) -> list[Job]:
    where = {"rows": json.dumps(list(numbers)), "payload": payload}
    return [job_of(row) for row in db.execute(sql("job_rows"), where)]
