"""What the pipeline works with: the ports it asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from penstock.model.catalogue import LOCAL_WORKSPACE
from penstock.model.collections import CollectionLimits
from penstock.model.jobs import Lease
from penstock.pipeline.embed import EmbeddingDesk
from penstock.pipeline.projection import Projection
from penstock.ports.blobs import Blobs
from penstock.ports.catalogue import Catalogue
from penstock.ports.database import Database, Transaction
from penstock.ports.embedder import Tokenizer
from penstock.ports.parser import Parser

T = TypeVar("T")
NO_LIMITS = CollectionLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """The tools of one worker process."""

    database: Database
    catalogue: Catalogue
    blobs: Blobs
    parser: Parser
    tokenizer: Tokenizer
    embedding: EmbeddingDesk
    file_bytes_max: int
    projection: Projection | None = None
    """What keeps vectors outside the database, where they are kept there too."""
    limits: Mapping[str, CollectionLimits] = field(default_factory=dict)
    """Of collections of the local workspace that take less than others, by name."""

    async def limits_of(self, lease: Lease) -> CollectionLimits:
        """What the collection of a job takes less of; one of this name elsewhere takes the usual."""
        limits = self.limits.get(lease.collection)
        if limits is None or await self.catalogue.workspace_of(lease.tenant) != LOCAL_WORKSPACE:
            return NO_LIMITS
        return limits

    async def file_bytes(self, lease: Lease) -> int:
        """The largest file the collection of a job takes."""
        return (await self.limits_of(lease)).bytes_within(self.file_bytes_max)

    async def write(self, lease: Lease, work: Callable[[Transaction], T], *, patient: bool = False) -> T:
        """Write for an attempt: nothing happens if the job is no longer its own."""
        return await self.database.write(partial(_guarded, lease=lease, work=work), patient=patient)


def _guarded(tx: Transaction, lease: Lease, work: Callable[[Transaction], T]) -> T:
    tx.guard(lease)
    return work(tx)
