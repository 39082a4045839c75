"""The states of a job, and the one table of how they follow each other.

accepted ──▶ ready ◀──▶ delayed
               │ claim     ▲ retry, park
               ▼           │
             leased ───────┘
               │
        done ◀─┴─▶ failed       (from ready and delayed also: cancel, supersede)
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class State(StrEnum):
    """Core states; each outer surface shows its own words for them."""

    ACCEPTED = "accepted"
    READY = "ready"
    DELAYED = "delayed"
    LEASED = "leased"
    DONE = "done"
    FAILED = "failed"


TRANSITIONS: Mapping[State, frozenset[State]] = MappingProxyType(
    {
        State.ACCEPTED: frozenset({State.READY, State.DELAYED}),
        State.READY: frozenset({State.LEASED, State.DELAYED, State.FAILED}),
        State.DELAYED: frozenset({State.READY, State.FAILED}),
        State.LEASED: frozenset({State.READY, State.DELAYED, State.DONE, State.FAILED}),
        State.DONE: frozenset(),
        State.FAILED: frozenset(),
    }
)
"""What may follow what; an ended job stays ended, a replay is a new job."""

ENDED = frozenset({State.DONE, State.FAILED})

SQL_STATUS: Mapping[State, str] = MappingProxyType(
    {
        State.READY: "pending",
        State.DELAYED: "pending",
        State.LEASED: "in_progress",
        State.DONE: "done",
        State.FAILED: "failed",
    }
)
JOB_HASH_STATUS: Mapping[State, str] = MappingProxyType(
    {
        State.ACCEPTED: "submitted",
        State.READY: "queued",
        State.DELAYED: "queued",
        State.LEASED: "processing",
        State.DONE: "done",
        State.FAILED: "failed",
    }
)
EVENT_STATUS: Mapping[State, str] = MappingProxyType(
    {
        State.ACCEPTED: "queued",
        State.READY: "queued",
        State.DELAYED: "queued",
        State.LEASED: "running",
        State.DONE: "success",
        State.FAILED: "failed",
    }
)


def state_of(status: str, *, due: bool) -> State:
    """The core state of a row: its SQL status, and whether a due time lies before it."""
    if status == "pending":
        return State.DELAYED if due else State.READY
    return {"in_progress": State.LEASED, "done": State.DONE, "failed": State.FAILED}[status]
