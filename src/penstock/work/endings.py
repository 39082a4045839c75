"""Attempts that are interrupted: what tells one from another, why they end, and what becomes of them."""

from __future__ import annotations

from enum import Enum, auto

from penstock.model.errors import ErrorReport
from penstock.model.jobs import JobId, Lease
from penstock.model.outcomes import RELEASE, Outcome, Retry

Attempt = tuple[JobId, int]
"""A job and a token: a worker may lose a job and claim it again while its first handler still runs."""


def attempt_of(lease: Lease) -> Attempt:
    """What tells one attempt from another."""
    return lease.job_id, lease.token


class Ending(Enum):
    """Why a running handler was interrupted."""

    LOST = auto()
    CANCELLED = auto()
    SHUTDOWN = auto()
    TIMED_OUT = auto()


def interrupted(ending: Ending | None, limit_seconds: float) -> Outcome:
    """A cancelled job is released: the queue itself turns that into its end, for it knows the reason."""
    if ending is Ending.TIMED_OUT:
        told = f"the handler ran longer than {limit_seconds:g} s"
        return Retry(ErrorReport(code="ERR_TIMEOUT", message=told))
    if ending is None:
        told = "the handler was cancelled from inside"
        return Retry(ErrorReport(code="ERR_HANDLER_FAILED", message=told))
    return RELEASE
