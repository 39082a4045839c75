"""From settings to where vectors are kept: in the database itself, or on a Qdrant server beside it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from penstock.pipeline.projection import Projection
from penstock.ports.clock import Clock
from penstock.ports.guard import Guard
from penstock.ports.index import Index
from penstock.ports.manifest import Manifest
from penstock.settings import Settings
from penstock.work.breaker import BreakerRules, Breakers

if TYPE_CHECKING:
    from penstock.engines.qdrant import QdrantVectors, Server

OLDEST = (1, 16)
"""The oldest server whose answers ours are made for."""
QDRANT = "the Qdrant server"
"""The dependency, as its breaker names it."""


@asynccontextmanager
async def open_index(
    settings: Settings, manifest: Manifest, inside: Index, clock: Clock
) -> AsyncIterator[Index]:
    """The index the settings name; `inside` is the database's own.

    A server that fails too often is left alone: a question need not wait for it as long as the last one did.
    """
    guard = Breakers(clock, breaker_rules_of(settings)).of(QDRANT)
    async with _open_vectors(settings, manifest, guard) as vectors:
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


async def server_version(settings: Settings) -> str:
    """What the server calls itself."""
    server = _server(settings)
    try:
        return await server.version()
    finally:
        await server.close()


def is_old(version: str) -> bool:
    """Whether a server's version is below the one that is asked for; one that cannot be read is not."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) < OLDEST


def breaker_rules_of(settings: Settings) -> BreakerRules:
    """When breakers open, as the settings say."""
    given = settings.circuit_breaker
    return BreakerRules(
        failure_threshold=given.failure_threshold,
        window=given.window,
        cooldown_period=given.cooldown_period,
        min_samples=given.min_samples,
    )


def _server(settings: Settings, guard: Guard | None = None) -> Server:
    from penstock.engines.qdrant import Server

    given = settings.qdrant
    return Server(
        settings.vectors.reveal(),
        timeout=given.timeout,
        key=given.api_key.reveal() if given.api_key else None,
        guard=guard,
    )


@asynccontextmanager
async def _open_vectors(
    settings: Settings, manifest: Manifest, guard: Guard | None = None
) -> AsyncIterator[QdrantVectors | None]:
    if not settings.vectors.is_url:
        yield None
        return
    from penstock.engines.qdrant import QdrantVectors

    vectors = QdrantVectors(_server(settings, guard), manifest)
    try:
        yield vectors
    finally:
        await vectors.close()
