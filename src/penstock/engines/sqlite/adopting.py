"""Taking over jobs from a legacy queue.

They are written as rows, not submitted: a submit makes a new waiting job, and here states, retries, errors
and times are kept. What a submit promises still holds. One waiting job per key: a row that meets one is
content with it, and hands its operation on if its intent is the later one. Once per row: each is remembered
in the transaction that takes it, and for good, so a job that was pruned does not come back to run again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from functools import cache

from penstock.engines.sqlite import submitting
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso, iso_or_none, seconds
from penstock.model.jobs import JobId
from penstock.model.legacy import Adoption, LegacyJob, Standin, Taken
from penstock.model.states import SQL_STATUS, State

STATEMENT_ROWS = 64

Adopted = tuple[Adoption, str]
"""What became of a row, and the words to it."""


def adopt(db: sqlite3.Connection, rows: Sequence[LegacyJob], now: float) -> list[Adopted]:
    """Take over rows that were not taken over before."""
    known = _known(db, rows)
    fresh = _insert_all(db, [row for row in rows if row.job.id not in known], now)
    found: list[Adopted] = []
    for row in rows:
        if row.job.id in fresh:
            fresh.discard(row.job.id)
            known[row.job.id] = row.named
            found.append((Adoption.TAKEN, ""))
        else:
            found.append(_adopt_one(db, row, known, now))
    return found


def _insert_all(db: sqlite3.Connection, rows: Sequence[LegacyJob], now: float) -> set[JobId]:
    """Insert what meets no conflict, many rows a statement as a submit does; the ids that were new."""
    newest = db.execute(sql("submit_newest")).fetchone()[0]
    for at in range(0, len(rows), STATEMENT_ROWS):
        portion = rows[at : at + STATEMENT_ROWS]
        values = [value for row in portion for value in _columns(row)]
        db.execute(_insert_statement(len(portion)), values)
    fresh = {JobId(job_id) for (job_id,) in db.execute(sql("submit_since"), (newest,))}
    db.executemany(
        sql("adopt_remember"), [(row.job.id, None, row.named, now) for row in rows if row.job.id in fresh]
    )
    return fresh


@cache
def _insert_statement(rows: int) -> str:
    """adopt_insert for so many rows."""
    text = sql("adopt_insert")
    begin, end = text.index("(?"), text.index("?)") + 2
    return text[:begin] + ", ".join([text[begin:end]] * rows) + text[end:]


def foresee(db: sqlite3.Connection, rows: Sequence[LegacyJob]) -> list[Adopted]:
    """What `adopt` would do, of rows that do not meet each other; changes nothing."""
    queue, memory, keyed = db.execute(sql("adopt_ready")).fetchone()
    known = _known(db, rows) if memory else {}
    look = sql("adopt_waiting" if keyed else "adopt_waiting_older")
    return [_foreseen(db, row, known, look) if queue else (Adoption.TAKEN, "") for row in rows]


def compare(db: sqlite3.Connection, rows: Sequence[LegacyJob]) -> dict[str, Taken]:
    """What is remembered of rows, by the id of the job each became; rows nobody took over are absent."""
    _, memory, _ = db.execute(sql("adopt_ready")).fetchone()
    if not memory:
        return {}
    return {found[0]: _taken(found) for found in db.execute(sql("adopt_compare"), {"ids": _ids(rows)})}


def _foreseen(db: sqlite3.Connection, row: LegacyJob, known: dict[str, str], look: str) -> Adopted:
    if row.job.id in known:
        return _again(row, known[row.job.id])
    waiting = _waiting(db, row, look)
    return (Adoption.TAKEN, "") if waiting is None else (Adoption.WAITING, _same(waiting[0]))


def _adopt_one(db: sqlite3.Connection, row: LegacyJob, known: dict[str, str], now: float) -> Adopted:
    if row.job.id in known:
        return _again(row, known[row.job.id])
    known[row.job.id] = row.named
    if _inserted(db, row, now):
        return Adoption.TAKEN, ""
    waiting = _waiting(db, row, sql("adopt_waiting"))
    if waiting is None:
        return Adoption.CLASH, f"job {row.job.id} is there and did not come from a legacy row"
    doomed = db.execute(sql("submit_doomed"), {"id": waiting[0], "now": iso(now)}).rowcount
    if doomed and _inserted(db, row, now):
        return Adoption.TAKEN, ""
    return _joined(db, row, waiting, now)


def _inserted(db: sqlite3.Connection, row: LegacyJob, now: float) -> bool:
    if row.state is State.READY:
        submitting.let_go(db, row.key, row.job.tenant)
    if not db.execute(sql("adopt_insert"), _columns(row)).rowcount:
        return False
    _remember(db, row, None, now)
    return True


def _joined(db: sqlite3.Connection, row: LegacyJob, waiting: tuple[str, str, str], now: float) -> Adopted:
    job_id, op, created_at = waiting
    hands_on = op != row.job.op and row.created_at >= seconds(created_at)
    if hands_on:
        entry = submitting.entry_of(row.job, row.key, row.payload_json, row.metadata_json)
        submitting.submit(db, [entry], now)
    _remember(db, row, job_id, now)
    change = f" and now does {row.job.op}, which came later" if hands_on else ""
    return Adoption.WAITING, _same(job_id) + change


def _same(job_id: str) -> str:
    return f"job {job_id} waits for the same"


def _again(row: LegacyJob, named: str) -> Adopted:
    if named == row.named:
        return Adoption.KNOWN, ""
    return Adoption.CLASH, (
        "a row with this id was taken over before and named something else; "
        "if this is another legacy database, give it a name with --name"
    )


def _known(db: sqlite3.Connection, rows: Sequence[LegacyJob]) -> dict[str, str]:
    return dict(db.execute(sql("adopt_known"), {"ids": _ids(rows)}).fetchall())


def _waiting(db: sqlite3.Connection, row: LegacyJob, look: str) -> tuple[str, str, str] | None:
    if row.state is not State.READY:
        return None
    where = {"key": row.key, "tenant": row.job.tenant}
    found: tuple[str, str, str] | None = db.execute(look, where).fetchone()
    return found


def _remember(db: sqlite3.Connection, row: LegacyJob, joined: str | None, now: float) -> None:
    db.execute(sql("adopt_remember"), (row.job.id, joined, row.named, now))


def _ids(rows: Sequence[LegacyJob]) -> str:
    return json.dumps([row.job.id for row in rows])


def _columns(row: LegacyJob) -> tuple[object, ...]:
    job = row.job
    return (
        job.id,
        job.item_type,
        job.op,
        job.tenant,
        job.collection,
        job.priority,
        SQL_STATUS[row.state],
        iso(row.created_at),
        iso(row.updated_at),
        row.key,
        row.payload_json,
        row.retry_count,
        job.max_retries,
        row.error_message,
        iso_or_none(row.last_error_at),
        job.branch,
        row.metadata_json,
        iso_or_none(job.run_at) if row.state is State.READY else None,
        iso_or_none(row.started_at),
        iso_or_none(row.finished_at),
        row.error_code,
        int(SQL_STATUS[row.state] == SQL_STATUS[State.READY]),
    )


def _taken(found: tuple[object, ...]) -> Taken:
    _, named, taken_at, joined, status, op, tenant, collection, payload, retries, error, updated, begun = (
        found
    )
    job = None
    if status is not None:
        job = Standin(
            status=str(status),
            op=str(op),
            tenant=str(tenant),
            collection=str(collection),
            payload_json=str(payload),
            retry_count=int(str(retries)),
            error_message=None if error is None else str(error),
            updated_at=seconds(str(updated)),
            attempts=int(str(begun)),
        )
    return Taken(named=str(named), taken_at=float(str(taken_at)), joined=bool(joined), job=job)
