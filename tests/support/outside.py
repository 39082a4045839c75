"""A store whose vectors lie on a Qdrant server, and what may happen while it is asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from penstock.engines.qdrant import ProjectedIndex, QdrantVectors, Server
from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.model.catalogue import Document
from penstock.model.points import Found, Leg, Space
from penstock.model.rules import Rules
from penstock.pipeline.projection import Projection
from tests.support.cataloguing import declared, ingest, pay_purges, question, scope_of, version_id
from tests.support.clock import FakeClock


class Interrupted(QdrantVectors):
    """Something happens right after a question was answered, and before anybody knows the answer."""

    meanwhile: Callable[[], Awaitable[None]] | None = None
    questions = 0

    async def nearest(self, space: Space, legs: Sequence[Leg]) -> list[list[Found]]:
        self.questions += 1
        found = await super().nearest(space, legs)
        if self.meanwhile is not None:
            act, self.meanwhile = self.meanwhile, None
            await act()
        return found


class Outside:
    """A store, its vectors outside, and the index over both."""

    def __init__(self, store: SqliteStore, url: str) -> None:
        self.store = store
        self.vectors = Interrupted(Server(url), store.manifest)
        self.projection = Projection(store.manifest, self.vectors)
        self.index = ProjectedIndex(store.manifest, self.vectors, store.index)

    async def ingest(self, path: str, text: str) -> Document:
        document = await self.store.write(lambda tx: ingest(tx, path, [text]))
        await self.projection.put(version_id(document))
        return document

    async def purge(self) -> None:
        await pay_purges(self.store.catalogue)
        await self.projection.clear()

    async def found(self, words: str) -> list[str]:
        shelf = await self.store.write(declared)
        scope = scope_of(shelf.id)
        (told,) = await self.index.candidates(scope, question(words))
        return [each.text for each in await self.index.passages(scope, [at.chunk for at in told.lexical])]


@asynccontextmanager
async def outside_on(folder: Path, url: str) -> AsyncIterator[Outside]:
    """One on a folder, closed at the end."""
    store = await open_sqlite(folder, rules=Rules(), clock=FakeClock())
    outside = Outside(store, url)
    try:
        yield outside
    finally:
        await outside.vectors.close()
        await store.close()
