"""A batch: a parent's children, counted until the last has ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from penstock.model.jobs import BatchId


class BatchState(StrEnum):
    """How far a batch is."""

    OPEN = "open"
    """Children may still join."""
    RUNNING = "running"
    DONE = "done"
    PARTLY_FAILED = "partly_failed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Counts of a batch; `total` is final once it is sealed."""

    id: BatchId
    parent: str | None
    total: int
    done: int
    failed: int
    sealed: bool
    created_at: float
    ended_at: float | None = None

    @property
    def state(self) -> BatchState:
        """What to show."""
        if not self.sealed:
            return BatchState.OPEN
        if self.done + self.failed < self.total:
            return BatchState.RUNNING
        if not self.failed:
            return BatchState.DONE
        return BatchState.PARTLY_FAILED if self.done else BatchState.FAILED
