"""What happens between a question to the vector store and the check of its answer."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from penstock.engines.qdrant import ProjectedIndex, QdrantVectors, Server
from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.model.catalogue import DocumentId, VersionId
from penstock.model.points import Found, Leg, Space
from penstock.model.rules import Rules
from penstock.pipeline.projection import Projection
from penstock.ports.database import Transaction
from tests.support.cataloguing import (
    declared,
    ingest,
    pay_purges,
    question,
    scope_of,
    version_id,
    write_version,
)
from tests.support.clock import FakeClock
from tests.support.servers.qdrant import qdrant_url

__all__ = ["qdrant_url"]


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


class Desk:
    """A store, its vectors outside, and the index over both."""

    def __init__(self, store: SqliteStore, url: str) -> None:
        self.store = store
        self.vectors = Interrupted(Server(url), store.manifest)
        self.projection = Projection(store.manifest, self.vectors)
        self.index = ProjectedIndex(store.manifest, self.vectors, store.index)

    async def ingest(self, path: str, text: str) -> DocumentId:
        document = await self.store.write(lambda tx: ingest(tx, path, [text]))
        await self.projection.put(version_id(document))
        return document.id

    async def purge(self) -> None:
        await pay_purges(self.store.catalogue)
        await self.projection.clear()

    async def found(self, words: str) -> list[str]:
        shelf = await self.store.write(declared)
        scope = scope_of(shelf.id)
        (told,) = await self.index.candidates(scope, question(words))
        return [each.text for each in await self.index.passages(scope, [at.chunk for at in told.lexical])]


@pytest.fixture
async def desk(tmp_path: Path, qdrant_url: str) -> AsyncIterator[Desk]:
    store = await open_sqlite(tmp_path, rules=Rules(), clock=FakeClock())
    desk = Desk(store, qdrant_url)
    yield desk
    await desk.vectors.close()
    await store.close()


async def test_a_document_never_falls_between_two_versions(desk: Desk) -> None:
    """The old version was found and went, the new one came too late for the question: it is asked again."""
    await desk.ingest("/a.txt", "old fish")

    async def replace() -> None:
        await desk.ingest("/a.txt", "new fish")
        await desk.purge()

    desk.vectors.meanwhile = replace

    assert await desk.found("fish") == ["new fish"]
    assert desk.vectors.questions == 2


async def test_a_collection_is_found_while_its_generations_swap(desk: Desk) -> None:
    """The generation that was asked answers no more: the one that does is asked."""
    document = await desk.ingest("/a.txt", "a fish")

    def rebuild(tx: Transaction) -> None:
        shelf = declared(tx)
        tx.shelves.open_generation(shelf.id, '{"model":"toy","chunk_tokens":100}')

    async def swap() -> None:
        await desk.store.write(rebuild)
        version = await desk.store.write(lambda tx: _built(tx, document))
        await desk.projection.put(version)
        assert await desk.store.write(lambda tx: tx.shelves.swap(declared(tx).id))
        await desk.purge()

    desk.vectors.meanwhile = swap

    assert await desk.found("fish") == ["a fish"]


def _built(tx: Transaction, document: DocumentId) -> VersionId:
    shelf = declared(tx)
    assert shelf.building is not None
    version = write_version(tx, document, shelf.building, ["a fish"])
    tx.documents.publish(version.id, chunks=1)
    return version.id


async def test_a_deleted_document_is_not_found_by_a_question_under_way(desk: Desk) -> None:
    """It went before the answer was checked."""
    document = await desk.ingest("/a.txt", "one fish")
    await desk.ingest("/b.txt", "two fish")

    async def delete() -> None:
        await desk.store.write(lambda tx: tx.documents.hide(document))

    desk.vectors.meanwhile = delete

    assert await desk.found("fish") == ["two fish"]


async def test_points_of_others_change_nothing(desk: Desk) -> None:
    """A document that comes meanwhile is no reason to ask again."""
    await desk.ingest("/a.txt", "one fish")

    async def add() -> None:
        await desk.ingest("/b.txt", "two birds")

    desk.vectors.meanwhile = add

    assert await desk.found("fish") == ["one fish"]
    assert desk.vectors.questions == 1
