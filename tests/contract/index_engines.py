"""The indexes the contract suite runs on, one line each; a new engine joins by its line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from penstock.engines.qdrant import ProjectedIndex, QdrantVectors, Server
from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.model.catalogue import VersionId
from penstock.model.rules import Rules
from penstock.pipeline.projection import Projection
from penstock.ports.clock import Clock
from penstock.ports.database import Transaction
from tests.contract.engines import ENGINES, Engine, Store, spoil_sqlite

T = TypeVar("T")


class ProjectedStore:
    """A store whose versions are put outside with every write; all else is the store's own."""

    def __init__(self, inside: SqliteStore, vectors: QdrantVectors) -> None:
        self.index = ProjectedIndex(inside.manifest, vectors, inside.index)
        self.projection = Projection(inside.manifest, vectors)
        self._inside = inside
        self._vectors = vectors
        self._put: set[tuple[int, int]] = set()

    async def write(
        self, work: Callable[[Transaction], T], *, timeout: float | None = None, patient: bool = False
    ) -> T:
        result = await self._inside.write(work, timeout=timeout, patient=patient)
        statement = "SELECT version_id, chunks FROM versions WHERE state <> 'gone'"
        versions = await self._inside.look(lambda db: db.execute(statement).fetchall())
        for version, chunks in set(versions) - self._put:
            await self.projection.put(VersionId(version))
            self._put.add((version, chunks))
        return result

    async def close(self) -> None:
        await self._vectors.close()
        await self._inside.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inside, name)


def qdrant(request: pytest.FixtureRequest) -> Engine:
    url: str = request.getfixturevalue("qdrant_url")

    async def opened(folder: Path, rules: Rules, clock: Clock) -> Store:
        store = await open_sqlite(folder, rules=rules, clock=clock)
        return ProjectedStore(store, QdrantVectors(Server(url), store.manifest))

    return Engine(opened, spoil_sqlite)


INDEX_ENGINES: dict[str, Callable[[pytest.FixtureRequest], Engine]] = {
    "sqlite": lambda _: ENGINES["sqlite"],
    "qdrant": qdrant,
}
