"""Ending attempts: settled by their worker, or taken back from one that is gone."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from penstock.engines.sqlite.claiming import Claim, Taken
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.submitting import clear_barriers, waiting_with
from penstock.engines.sqlite.times import iso, iso_or_none, seconds, seconds_or_none
from penstock.engines.system.processes import is_gone
from penstock.engines.system.rolls import Rolls
from penstock.model.errors import ErrorReport
from penstock.model.jobs import Lease, Operation, Progress, Renewal
from penstock.model.outcomes import RELEASE, Done, Failed, Outcome
from penstock.model.rules import Attempt, Rules, Verdict, after_attempt, after_loss, cancelled
from penstock.model.states import SQL_STATUS, State


@dataclass(frozen=True, slots=True)
class _Running:
    """A row in progress and what decides its end."""

    attempt: Attempt
    key: str
    tenant: str
    deletes: bool
    started: bool
    token: int
    worker: str | None


def settle(
    db: sqlite3.Connection, ends: Sequence[tuple[Lease, Outcome]], now: float, rules: Rules
) -> list[bool]:
    """End attempts; False for those whose lease was lost. An attempt named twice ends by its first word."""
    words: dict[tuple[str, int], tuple[Lease, Outcome]] = {}
    for end in ends:
        words.setdefault((end[0].job_id, end[0].token), end)
    done = [attempt for attempt, (_, outcome) in words.items() if isinstance(outcome, Done)]
    settled = _succeed(db, done, now) if done else set()
    if len(done) < len(words):
        for attempt, (_, outcome) in words.items():
            if not isinstance(outcome, Done) and _end(db, attempt, outcome, now, rules):
                settled.add(attempt)
    clear_barriers(db, now)
    if len(settled) == len(ends):
        return [True] * len(ends)
    kept = []
    for lease, _ in ends:
        attempt = (lease.job_id, lease.token)
        kept.append(attempt in settled)
        settled.discard(attempt)
    return kept


def _succeed(db: sqlite3.Connection, done: list[tuple[str, int]], now: float) -> set[tuple[str, int]]:
    """End attempts that succeeded; those that still had their token."""
    rows, places, count = db.execute(sql("settle_held"), {"ends": json.dumps(done)}).fetchone()
    db.execute(sql("settle_done"), {"now": iso(now), "rows": rows})
    return set(done) if count == len(done) else {done[place] for place in json.loads(places)}


def _end(
    db: sqlite3.Connection, attempt: tuple[str, int], outcome: Outcome, now: float, rules: Rules
) -> bool:
    """End one attempt, a job id and a token; False if it had lost its job."""
    job_id, token = attempt
    running = _find(db, job_id)
    if running is None or running.token != token:
        return False
    _write(db, job_id, running, after_attempt(running.attempt, outcome, now, rules), now)
    return True


def _find(db: sqlite3.Connection, job_id: str) -> _Running | None:
    row = db.execute(sql("settle_find"), {"id": job_id}).fetchone()
    if row is None:
        return None
    attempt = Attempt(
        retry_count=row[0],
        max_retries=row[1],
        crashes=row[2],
        parked_since=seconds_or_none(row[3]),
        cancel_code=row[4],
    )
    deletes = row[7] == Operation.DELETE or bool(row[8])
    return _Running(
        attempt,
        key=row[5],
        tenant=row[6],
        deletes=deletes,
        started=row[9] is not None,
        token=row[10],
        worker=row[11],
    )


def _write(db: sqlite3.Connection, job_id: str, running: _Running, verdict: Verdict, now: float) -> None:
    verdict = _yield_to_successor(db, running, verdict)
    stamp = iso(now)
    failed = verdict.state is State.FAILED
    db.execute(
        sql("settle_verdict"),
        {
            "id": job_id,
            "status": SQL_STATUS[verdict.state],
            "now": stamp,
            "finished": stamp if failed else None,
            "due": iso_or_none(verdict.due_at),
            "retry_count": verdict.retry_count,
            "crashes": verdict.crashes,
            "parked": iso_or_none(verdict.parked_since),
            "code": verdict.error.code if verdict.error else None,
            "message": verdict.error.message if verdict.error else None,
            "error_at": stamp if verdict.error else None,
            "trace": verdict.error.trace or None if verdict.error else None,
        },
    )


def _yield_to_successor(db: sqlite3.Connection, running: _Running, verdict: Verdict) -> Verdict:
    """A job that would wait again gives way to a later intent on the same key, if one waits already."""
    if verdict.state is State.FAILED:
        return verdict
    if waiting_with(db, running.key, running.tenant) is None:
        return verdict
    if running.deletes:
        db.execute(sql("settle_delete_first"), {"key": running.key, "tenant": running.tenant})
    return Verdict(
        state=State.FAILED,
        retry_count=verdict.retry_count,
        crashes=verdict.crashes,
        error=cancelled("ERR_SUPERSEDED"),
    )


def extend(db: sqlite3.Connection, leases: Sequence[Lease], now: float, rules: Rules) -> list[Renewal]:
    """Renew leases; tells which are lost and which were cancelled."""
    renewals = []
    for lease in leases:
        until = iso(now + rules.lease_for(lease.item_type))
        row = db.execute(sql("extend"), (until, lease.job_id, lease.token)).fetchone()
        code = row[0] if row is not None else None
        renewals.append(Renewal(job_id=lease.job_id, held=row is not None, cancel_code=code))
    return renewals


def keep_progress(db: sqlite3.Connection, lease: Lease, progress: Progress, now: float) -> bool:
    """How far a running attempt is; False if the lease was lost."""
    row = (progress.done, progress.total, iso(now), lease.job_id, lease.token)
    return db.execute(sql("progress"), row).rowcount == 1


def lost(db: sqlite3.Connection, now: float, rules: Rules, *, certain: bool) -> list[tuple[str, bool]]:
    """Jobs in progress that nobody runs any more, and whether their worker died."""
    if not any_running(db):
        return []
    workers = db.execute(sql("rescue_workers")).fetchall()
    where = {
        "now": iso(now),
        "dead_before": iso(now - rules.dead_after_seconds),
        "gone": json.dumps([worker for worker, process in workers if is_gone(process, one_machine=True)]),
        "certain": certain,
    }
    found = db.execute(sql("rescue_find"), where).fetchall()
    return [
        (job_id, bool(died)) for job_id, died, until in found if died or certain or not _lasts(until, now)
    ]


def any_running(db: sqlite3.Connection) -> bool:
    """Is anything in progress?"""
    return bool(db.execute(sql("rescue_any")).fetchone()[0])


def _lasts(until: str | None, now: float) -> bool:
    """Does a lease still last, whatever form its end is written in?"""
    return until is not None and seconds(until) > now


def rescue(db: sqlite3.Connection, now: float, rules: Rules, rolls: Rolls, *, certain: bool) -> list[str]:
    """Take back what dead workers held and what leases ran out on."""
    found = lost(db, now, rules, certain=certain)
    for job_id, died in found:
        _take_back(db, job_id, now, rolls, died=died)
    clear_barriers(db, now)
    return [job_id for job_id, _ in found]


def leave(db: sqlite3.Connection, worker: str, now: float, rules: Rules, rolls: Rolls, *, died: bool) -> int:
    """Forget a worker and hand back what it still holds."""
    held = [job_id for (job_id,) in db.execute(sql("leave_find"), (worker,)).fetchall()]
    for job_id in held:
        if died:
            _take_back(db, job_id, now, rolls, died=True)
        elif (running := _find(db, job_id)) is not None:
            _write(db, job_id, running, after_attempt(running.attempt, RELEASE, now, rules), now)
    db.execute(sql("leave"), (worker,))
    clear_barriers(db, now)
    return len(held)


def give_back(db: sqlite3.Connection, unheard: Iterable[Taken], asked: Claim) -> bool:
    """Release what its worker was leased and never heard of; whether there was anything."""
    attempts = [(row.queue_id, row.token + 1) for taken in unheard for row in taken.rows]
    given_back = [_end(db, attempt, RELEASE, asked.now, asked.rules) for attempt in attempts]
    clear_barriers(db, asked.now)
    return any(given_back)


def _take_back(db: sqlite3.Connection, job_id: str, now: float, rolls: Rolls, *, died: bool) -> None:
    running = _find(db, job_id)
    if running is not None:
        started = running.started and rolls.had_begun(running.worker, job_id, running.token)
        verdict = after_loss(running.attempt, worker_died=died, started=started)
        _write(db, job_id, running, verdict, now)


def refuse(
    db: sqlite3.Connection, unfit: Sequence[tuple[str, int, ErrorReport]], now: float, rules: Rules
) -> None:
    """Fail claimed rows whose payload does not fit their type."""
    for job_id, token, error in unfit:
        _end(db, (job_id, token), Failed(error), now, rules)
    clear_barriers(db, now)
