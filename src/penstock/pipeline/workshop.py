"""What the pipeline works with: the ports it asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from penstock.model.jobs import Lease
from penstock.pipeline.embed import EmbeddingDesk
from penstock.ports.blobs import Blobs
from penstock.ports.catalogue import Catalogue
from penstock.ports.database import Database, Transaction
from penstock.ports.embedder import Tokenizer
from penstock.ports.parser import Parser

T = TypeVar("T")


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

    async def write(self, lease: Lease, work: Callable[[Transaction], T]) -> T:
        """Write for an attempt: nothing happens if the job is no longer its own."""
        return await self.database.write(partial(_guarded, lease=lease, work=work))


def _guarded(tx: Transaction, lease: Lease, work: Callable[[Transaction], T]) -> T:
    tx.guard(lease)
    return work(tx)
