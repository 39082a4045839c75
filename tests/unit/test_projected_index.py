"""What happens between a question to the vector store and the check of its answer."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.model.catalogue import DocumentId, VersionId
from penstock.ports.database import Transaction
from tests.support.cataloguing import declared, write_version
from tests.support.outside import Outside, outside_on
from tests.support.servers.qdrant import qdrant_url

__all__ = ["qdrant_url"]


@pytest.fixture
async def outside(tmp_path: Path, qdrant_url: str) -> AsyncIterator[Outside]:
    async with outside_on(tmp_path, qdrant_url) as opened:
        yield opened


async def test_a_document_never_falls_between_two_versions(outside: Outside) -> None:
    """The old version was found and went, the new one came too late for the question: it is asked again."""
    await outside.ingest("/a.txt", "old fish")

    async def replace() -> None:
        await outside.ingest("/a.txt", "new fish")
        await outside.purge()

    outside.vectors.meanwhile = replace

    assert await outside.found("fish") == ["new fish"]
    assert outside.vectors.questions == 2


async def test_a_collection_is_found_while_its_generations_swap(outside: Outside) -> None:
    """The generation that was asked answers no more: the one that does is asked."""
    document = await outside.ingest("/a.txt", "a fish")

    def rebuild(tx: Transaction) -> None:
        shelf = declared(tx)
        tx.shelves.open_generation(shelf.id, '{"model":"toy","chunk_tokens":100}')

    async def swap() -> None:
        await outside.store.write(rebuild)
        version = await outside.store.write(lambda tx: _built(tx, document.id))
        await outside.projection.put(version)
        assert await outside.store.write(lambda tx: tx.shelves.swap(declared(tx).id))
        await outside.purge()

    outside.vectors.meanwhile = swap

    assert await outside.found("fish") == ["a fish"]


def _built(tx: Transaction, document: DocumentId) -> VersionId:
    shelf = declared(tx)
    assert shelf.building is not None
    version = write_version(tx, document, shelf.building, ["a fish"])
    tx.documents.publish(version.id, chunks=1)
    return version.id


async def test_a_deleted_document_is_not_found_by_a_question_under_way(outside: Outside) -> None:
    """It went before the answer was checked."""
    document = await outside.ingest("/a.txt", "one fish")
    await outside.ingest("/b.txt", "two fish")

    async def delete() -> None:
        await outside.store.write(lambda tx: tx.documents.hide(document.id))

    outside.vectors.meanwhile = delete

    assert await outside.found("fish") == ["two fish"]


async def test_points_of_others_change_nothing(outside: Outside) -> None:
    """A document that comes meanwhile is no reason to ask again."""
    await outside.ingest("/a.txt", "one fish")

    async def add() -> None:
        await outside.ingest("/b.txt", "two birds")

    outside.vectors.meanwhile = add

    assert await outside.found("fish") == ["one fish"]
    assert outside.vectors.questions == 1
