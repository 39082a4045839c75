"""Points are made of the manifest, removed after it, and compared with it."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.model.catalogue import DebtKind, VersionId
from penstock.model.diagnosis import Flaw
from penstock.pipeline.projection import points_debt, purge_of, subject_of
from penstock.ports.database import Transaction
from tests.support.cataloguing import declared, new_document, pay_purges, version_id, write_version
from tests.support.outside import Outside, outside_on
from tests.support.servers.qdrant import qdrant_url

__all__ = ["qdrant_url"]


@pytest.fixture
async def outside(tmp_path: Path, qdrant_url: str) -> AsyncIterator[Outside]:
    async with outside_on(tmp_path, qdrant_url) as opened:
        yield opened


async def points(outside: Outside) -> list[int]:
    return [chunk for space in await outside.vectors.spaces() for chunk in await outside.vectors.page(space)]


async def test_what_a_late_attempt_put_is_taken_back(outside: Outside) -> None:
    """The version was purged while its points were on their way."""
    document = await outside.ingest("/a.txt", "one fish")
    version = version_id(document)
    space = await outside.store.manifest.space_of(version)
    assert space is not None
    late = await outside.store.manifest.points(version)
    await outside.store.write(lambda tx: tx.documents.hide(document.id))
    await outside.purge()
    assert await points(outside) == []

    await outside.vectors.put(space, late)
    assert [each.flaw for each in await outside.projection.flaws(limit=10)] == [Flaw.VECTORS_UNUSED]
    await outside.projection.withdraw(version)

    assert await points(outside) == []
    assert await outside.projection.flaws(limit=10) == []


async def test_what_somebody_else_builds_is_left_alone(outside: Outside) -> None:
    """An attempt that lost its job takes nothing from the one that has it."""

    def build(tx: Transaction) -> VersionId:
        shelf = declared(tx)
        document = tx.documents.admit(new_document(shelf.id))
        return write_version(tx, document.id, shelf.generation, ["half", "done"]).id

    version = await outside.store.write(build)
    await outside.projection.put(version)

    await outside.projection.withdraw(version)

    assert len(await points(outside)) == 2


async def test_the_points_of_a_purge_are_owed_until_the_rows_are_gone(outside: Outside) -> None:
    """Paid too early, the debt would leave them behind."""
    document = await outside.ingest("/a.txt", "one fish")
    await outside.store.write(lambda tx: tx.documents.hide(document.id))
    (purge,) = await outside.store.catalogue.take_debts((DebtKind.PURGE_DOCUMENT,), "payer")
    debt = replace(purge, kind=DebtKind.PURGE_POINTS, about=points_debt(purge).about)

    assert purge_of(debt) == (purge.kind, purge.about)
    assert not await outside.projection.is_purged(debt)
    assert await outside.projection.clear(subject_of(debt)) == 0

    assert await outside.store.catalogue.purge(purge)

    assert await outside.projection.is_purged(debt)
    assert await outside.projection.clear(subject_of(debt)) == 1
    assert await pay_purges(outside.store.catalogue) == 0


async def test_a_point_of_another_version_is_a_missing_one(outside: Outside) -> None:
    """As after a restored backup, where numbers mean something else."""
    document = await outside.ingest("/a.txt", "one fish")
    version = version_id(document)
    space = await outside.store.manifest.space_of(version)
    assert space is not None
    (point,) = await outside.store.manifest.points(version)
    await outside.vectors.put(space, [replace(point, version=VersionId(version + 1))])

    (flaw,) = await outside.projection.flaws(limit=10)
    assert (flaw.flaw, flaw.document) == (Flaw.VECTORS_MISSING, document.id)
    assert await outside.found("fish") == []
    assert await outside.projection.mend(flaw)

    assert await outside.projection.flaws(limit=10) == []
    assert await outside.found("fish") == ["one fish"]


async def test_a_long_version_is_put_in_portions(outside: Outside) -> None:
    """Every chunk once, however many there are."""

    def build(tx: Transaction) -> VersionId:
        shelf = declared(tx)
        document = tx.documents.admit(new_document(shelf.id))
        texts = [f"chunk number {number}" for number in range(600)]
        version = write_version(tx, document.id, shelf.generation, texts)
        tx.documents.publish(version.id, chunks=600)
        return version.id

    await outside.projection.put(await outside.store.write(build))

    assert await outside.projection.coverage() == (600, 600)
    assert await outside.projection.flaws(limit=10) == []
