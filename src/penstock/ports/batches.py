"""Batches: a parent's children, followed to their common end."""

from __future__ import annotations

from typing import Protocol

from penstock.model.batches import Batch
from penstock.model.jobs import BatchId, Job


class Batches(Protocol):
    """Children join a batch by `Queue.submit(..., batch=...)`."""

    async def open_batch(self, parent: str | None = None) -> BatchId:
        """A batch that children may join (C17).

        A parent has one batch under its own id: opening it again gives the same.
        """
        ...

    async def seal_batch(self, batch: BatchId) -> Batch:
        """No more children; it ends when the last one has."""
        ...

    async def batch(self, batch: BatchId) -> Batch | None:
        """Its counts."""
        ...

    async def failures(self, batch: BatchId, *, limit: int = 100) -> list[Job]:
        """Its children that failed and are still kept, newest first."""
        ...
