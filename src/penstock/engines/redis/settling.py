"""Ends of attempts as the settle script takes them: the model judges, the script writes.

The script compares the token, and what the judge believed about a cancel; where somebody cancelled in
between, it asks to be given another judgement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from penstock.engines.redis.access import Access
from penstock.engines.redis.handed import UsualEnds
from penstock.engines.redis.names import packed
from penstock.engines.redis.scripts import SCRIPTS
from penstock.model.jobs import JobId
from penstock.model.records import error_type
from penstock.model.rules import Attempt, Verdict
from penstock.model.statuses import stamped

SETTLED, AGAIN, BY_TOKEN, ONE_BY_ONE = 1, 2, 3, 4
TRIES_MAX = 10


@dataclass(frozen=True, slots=True)
class Running:
    """A leased job and what decides its end."""

    job_id: JobId
    token: int
    attempt: Attempt
    started: bool
    number: int
    """In the order of submits."""
    worker: str


class How(Enum):
    """Who ends an attempt."""

    TOLD = ""
    """Its worker, which may say so twice."""
    LEFT = "left"
    """Its worker's leaving."""
    LOST = "lost"
    """A rescue, if its worker is still as dead as it seemed."""


Judge = Callable[[Running], Verdict]


def running_of(row: Sequence[bytes]) -> Running | None:
    """A leased job from what `parts/attempts.lua` tells; None if it is not leased."""
    job_id, place, token, retry_count, max_retries, crashes, parked, cancel, started, number, worker = (
        word.decode() for word in row
    )
    if place != "leased":
        return None
    attempt = Attempt(
        retry_count=int(retry_count),
        max_retries=int(max_retries),
        crashes=int(crashes),
        parked_since=float(parked) if parked else None,
        cancel_code=cancel or None,
    )
    return Running(JobId(job_id), int(token), attempt, bool(started), int(number), worker)


async def lost_of(access: Access, rows: Sequence[Sequence[bytes]]) -> list[Running]:
    """Leased jobs nobody runs any more, in the order of submits; what no handler began has not started."""
    held = [running for running in map(running_of, rows) if running is not None]
    held.sort(key=lambda running: running.number)
    if not held:
        return held
    if access.begun is not None:
        begun = await access.begun([running.job_id for running in held])
    elif access.rolls is not None:
        had_begun = access.rolls.had_begun
        begun = {each.job_id for each in held if had_begun(each.worker, each.job_id, each.token)}
    else:
        return held
    return [replace(running, started=running.started and running.job_id in begun) for running in held]


def end_of(running: Running, verdict: Verdict, how: How = How.TOLD) -> tuple[str, ...]:
    """One end as the script unpacks it."""
    error = verdict.error
    return (
        running.job_id,
        str(running.token),
        verdict.state.value,
        "" if verdict.due_at is None else repr(verdict.due_at),
        str(verdict.retry_count),
        str(verdict.crashes),
        "" if verdict.parked_since is None else repr(verdict.parked_since),
        error.code if error else "",
        error.message if error else "",
        running.attempt.cancel_code or "",
        how.value,
        error_type(error) if error else "",
        error.trace if error else "",
    )


async def read_running(access: Access, ids: Sequence[str]) -> dict[str, Running]:
    """What decides the ends of these jobs; those that are not leased are left out."""
    rows = await access.run("attempts", packed(ids)) if ids else []
    return {running.job_id: running for running in map(running_of, rows) if running is not None}


async def write_ends(
    access: Access,
    ends: Sequence[tuple[str, ...]],
    *,
    dead_before: float = 0.0,
    gone: Sequence[str] = (),
    now: float | None = None,
) -> list[int]:
    """What the script says to each."""
    limited = "1" if access.rules.tenant_limit else ""
    answer: list[Any] = await access.run(
        "settle", packed(ends), repr(dead_before), packed(gone), limited, now=now
    )
    return answer


async def write_usual(access: Access, usual: UsualEnds, *, now: float) -> list[int]:
    """What the script for usual ends says to each."""
    keys, told = [*access.keys_of_usual, *usual.keys], (repr(now), stamped(now), usual.told)
    answer: list[Any] = await access.client.run(SCRIPTS["settle_usual"], keys=keys, args=told, again=True)
    if answer[-1] == ONE_BY_ONE:
        answer.pop()
        access.sets_one_by_one()
    return answer


async def settle_all(
    access: Access,
    runnings: Sequence[Running],
    judge: Judge,
    *,
    how: How,
    dead_before: float = 0.0,
    gone: Sequence[str] = (),
    now: float,
) -> set[str]:
    """Settle leased jobs by the model's judgement; the ids of those that were still held."""
    settled: set[str] = set()
    left = list(runnings)
    for _ in range(TRIES_MAX):
        if not left:
            break
        ends = [end_of(running, judge(running), how) for running in left]
        answers = await write_ends(access, ends, dead_before=dead_before, gone=gone, now=now)
        settled |= {
            running.job_id for running, answer in zip(left, answers, strict=True) if answer == SETTLED
        }
        again = [running.job_id for running, answer in zip(left, answers, strict=True) if answer == AGAIN]
        tokens = {running.job_id: running.token for running in left}
        known = await read_running(access, again)
        left = [running for running in known.values() if running.token == tokens[running.job_id]]
    return settled
