"""The arithmetic of attempts: delays, leases, and what becomes of a job when an attempt ends.

Engines ask `after_attempt` and `after_loss` and store the answer; none of them decides by itself, so
SQLite, PostgreSQL and Redis cannot come to differ.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from penstock.model.errors import ErrorClass, ErrorReport
from penstock.model.outcomes import Done, Failed, Outcome, Park, Release, Retry
from penstock.model.payloads import ItemType
from penstock.model.states import State

JITTER = 0.1
"""A delay is drawn between itself and a tenth more: never earlier than promised, never all at once."""

SUSPECT_AFTER = 2
"""Crashes after which a job runs alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """The wait before each retry: a list whose last value repeats, or `min(base*2^(n-1), max)`."""

    delays: tuple[float, ...] = (5.0, 10.0, 30.0)
    base: float | None = None
    max: float | None = None

    def seconds(self, retry: int) -> float:
        """The plain delay before the nth retry, counted from 1."""
        if self.base is not None:
            grown = self.base * 2.0 ** min(retry - 1, 60)
            return grown if self.max is None else min(grown, self.max)
        return self.delays[min(max(retry, 1), len(self.delays)) - 1]  # others may have written any count


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What an engine must know of the policy."""

    backoff: Backoff = field(default_factory=Backoff)
    lease_seconds: float = 300.0
    lease_seconds_by_type: Mapping[ItemType, float] = field(default_factory=dict)
    dead_after_seconds: float = 9.0
    park_seconds: float = 30.0
    park_seconds_max: float = 86_400.0
    longest_waiting_every: int = 10
    """Every nth claim takes the longest-waiting job; 0 switches the rule off."""
    tenant_limit: int = 0
    """How many jobs of one tenant may run at once; 0 means no limit."""
    payload_bytes_max: int = 1_048_576
    metadata_bytes_max: int = 65_536
    bulk_max: int = 10_000

    def lease_for(self, item_type: ItemType) -> float:
        """Seconds one lease on this item type lasts."""
        return self.lease_seconds_by_type.get(item_type, self.lease_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What must be known of a job to decide how its attempt ends."""

    retry_count: int
    max_retries: int
    crashes: int = 0
    parked_since: float | None = None
    cancel_code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What becomes of the job."""

    state: State
    retry_count: int
    crashes: int
    due_at: float | None = None
    parked_since: float | None = None
    error: ErrorReport | None = None


def jittered(seconds: float, draw: Callable[[], float] = random.random) -> float:
    """A delay with its jitter."""
    return seconds * (1.0 + JITTER * draw())


def after_attempt(attempt: Attempt, outcome: Outcome, now: float, rules: Rules) -> Verdict:
    """The verdict on an attempt that ended by itself."""
    if attempt.cancel_code is not None and not isinstance(outcome, Done):
        return _ended(attempt, cancelled(attempt.cancel_code))
    match outcome:
        case Done():
            return Verdict(state=State.DONE, retry_count=attempt.retry_count, crashes=attempt.crashes)
        case Failed(error=error):
            return _ended(attempt, error)
        case Retry(error=error):
            return _again(attempt, error, now, rules)
        case Park(error=error, seconds=seconds):
            return _parked(attempt, error, seconds, now, rules)
        case Release():
            return Verdict(
                state=State.READY,
                retry_count=attempt.retry_count,
                crashes=attempt.crashes,
                parked_since=attempt.parked_since,
            )
        case _:
            assert_never(outcome)


def after_loss(attempt: Attempt, *, worker_died: bool, started: bool) -> Verdict:
    """The verdict on an attempt whose worker died, or whose lease ran out."""
    if attempt.cancel_code is not None:
        return _ended(attempt, cancelled(attempt.cancel_code))
    if not started:
        return Verdict(state=State.READY, retry_count=attempt.retry_count, crashes=attempt.crashes)
    crashes = attempt.crashes + worker_died
    error = _crash() if worker_died else _lease_expired()
    if crashes > SUSPECT_AFTER:
        poison = ErrorReport(
            code="ERR_POISON",
            message=f"{crashes} workers died while they ran this job, the last one while it ran alone",
            kind=ErrorClass.CRASH,
        )
        return Verdict(state=State.FAILED, retry_count=attempt.retry_count, crashes=crashes, error=poison)
    if attempt.retry_count >= attempt.max_retries:
        return Verdict(state=State.FAILED, retry_count=attempt.retry_count, crashes=crashes, error=error)
    return Verdict(state=State.READY, retry_count=attempt.retry_count + 1, crashes=crashes, error=error)


def cancelled(code: str) -> ErrorReport:
    """The report of a job ended from outside."""
    message = {
        "ERR_CANCELLED": "cancelled",
        "ERR_SUPERSEDED": "a later request on the same object took its place",
    }
    return ErrorReport(code=code, message=message.get(code, code), kind=ErrorClass.PERMANENT)


def _again(attempt: Attempt, error: ErrorReport, now: float, rules: Rules) -> Verdict:
    if attempt.retry_count >= attempt.max_retries:
        return _ended(attempt, error)
    retry = attempt.retry_count + 1
    return Verdict(
        state=State.DELAYED,
        retry_count=retry,
        crashes=attempt.crashes,
        due_at=now + jittered(rules.backoff.seconds(retry)),
        error=error,
    )


def _parked(attempt: Attempt, error: ErrorReport, seconds: float | None, now: float, rules: Rules) -> Verdict:
    since = now if attempt.parked_since is None else attempt.parked_since
    left = since + rules.park_seconds_max - now
    if left <= 0:
        return _ended(attempt, error)
    wait = jittered(rules.park_seconds) if seconds is None else max(0.0, seconds)
    return Verdict(
        state=State.DELAYED,
        retry_count=attempt.retry_count,
        crashes=attempt.crashes,
        due_at=now + min(wait, left),
        parked_since=since,
        error=error,
    )


def _ended(attempt: Attempt, error: ErrorReport) -> Verdict:
    return Verdict(state=State.FAILED, retry_count=attempt.retry_count, crashes=attempt.crashes, error=error)


def _crash() -> ErrorReport:
    return ErrorReport(
        code="ERR_WORKER_DIED", message="the worker died while it ran this job", kind=ErrorClass.CRASH
    )


def _lease_expired() -> ErrorReport:
    return ErrorReport(code="ERR_LEASE_EXPIRED", message="the lease ran out while the job made no progress")
