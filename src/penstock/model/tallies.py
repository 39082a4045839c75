"""What is counted under which name: the queue a job belongs to, and why an attempt failed.

Both are closed lists. A label whose values come from users would make a time series of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from penstock.model.errors import ErrorClass, ErrorReport
from penstock.model.jobs import PRIORITY_MAX, PRIORITY_NAMES, Lease, Operation

OTHER = "other"
"""Every queue that is not on the list."""
QUEUES_MAX = 50
"""Values one label may have, `other` included."""


def queues_of(ranks: Mapping[str, int]) -> tuple[str, ...]:
    """The queue of each priority: the name whose number is nearest, of two the higher."""

    def nearest(rank: int) -> str:
        return min(ranks, key=lambda name: (abs(ranks[name] - rank), -ranks[name]))

    return tuple(nearest(rank) for rank in range(PRIORITY_MAX + 1))


QUEUE_OF_RANK = queues_of(PRIORITY_NAMES)
"""high, normal or low, by the priority that decides a job's turn."""


def rank_of(lease: Lease) -> int:
    """The priority that decided its turn: a delete counts as the highest."""
    return PRIORITY_MAX if lease.op is Operation.DELETE else lease.priority


class Reason(StrEnum):
    """Why an attempt failed: the error's class, or what ended it from outside."""

    PERMANENT = "permanent"
    TRANSIENT = "transient"
    UNAVAILABLE = "unavailable"
    CRASH = "crash"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


_BY_CODE = {
    "ERR_TIMEOUT": Reason.TIMEOUT,
    "ERR_LEASE_EXPIRED": Reason.TIMEOUT,
    "ERR_CANCELLED": Reason.CANCELLED,
    "ERR_SUPERSEDED": Reason.CANCELLED,
    "ERR_WORKER_DIED": Reason.CRASH,
    "ERR_POISON": Reason.CRASH,
}
_BY_CLASS = {
    ErrorClass.PERMANENT: Reason.PERMANENT,
    ErrorClass.TRANSIENT: Reason.TRANSIENT,
    ErrorClass.UNAVAILABLE: Reason.UNAVAILABLE,
    ErrorClass.CRASH: Reason.CRASH,
}


def reason_of(error: ErrorReport) -> Reason:
    """The one reason this error is counted under."""
    return _BY_CODE.get(error.code) or _BY_CLASS[error.kind]
