"""From settings to where vectors are kept: in the database itself, or on a Qdrant server beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from penstock.pipeline.projection import Projection
from penstock.ports.guard import Guard
from penstock.ports.index import Index
from penstock.ports.manifest import Manifest
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.engines.qdrant import QdrantVectors

QDRANT = "the Qdrant server"
"""The dependency, as its breaker names it."""


@asynccontextmanager
async def open_index(settings: Settings, manifest: Manifest, inside: Index) -> AsyncIterator[Index]:
    """The index the settings name; `inside` is the database's own."""
    async with _open_vectors(settings, manifest) as vectors:
        if vectors is None:
            yield inside
            return
        from penstock.engines.qdrant import ProjectedIndex

        yield ProjectedIndex(manifest, vectors, inside)


@asynccontextmanager
async def open_projection(
    settings: Settings, manifest: Manifest, guard: Guard | None = None
) -> AsyncIterator[Projection | None]:
    """What keeps vectors outside the database in step with it; None where none are kept outside."""
    async with _open_vectors(settings, manifest, guard) as vectors:
        yield None if vectors is None else Projection(manifest, vectors)


@asynccontextmanager
async def _open_vectors(
    settings: Settings, manifest: Manifest, guard: Guard | None = None
) -> AsyncIterator[QdrantVectors | None]:
    if not settings.vectors.is_url:
        yield None
        return
    from penstock.engines.qdrant import QdrantVectors, Server

    given = settings.qdrant
    server = Server(
        settings.vectors.reveal(),
        timeout=given.timeout,
        key=given.api_key.reveal() if given.api_key else None,
        guard=guard,
    )
    vectors = QdrantVectors(server, manifest)
    try:
        yield vectors
    finally:
        await vectors.close()
