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


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Children in all, and how many of them have ended which way."""

    total: int
    done: int
    failed: int

    @property
    def unfinished(self) -> int:
        """How many have not ended."""
        return self.total - self.done - self.failed


def recounted(said: Counts, kept: Counts) -> Counts:
    """What a batch should say that says something else than its kept children.

    Children that ended long ago are kept no more and known by the batch's own counts alone. Where these do
    not agree, the smaller number of such children is believed: it claims the least that nobody can prove.
    """
    gone = min(
        (
            number
            for number in (said.total - kept.total, said.done + said.failed - kept.done - kept.failed)
            if number >= 0
        ),
        default=0,
    )
    failed = min(max(said.failed, kept.failed), kept.failed + gone)
    done = kept.done + kept.failed + gone - failed
    return Counts(total=done + failed + kept.unfinished, done=done, failed=failed)
