"""Points are made of the manifest, removed after it, and compared with it."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from penstock.engines.qdrant.shapes import name_of
from penstock.model.catalogue import Debt, DebtKind, StageId, StageKind, VersionId
from penstock.model.diagnosis import Flaw
from penstock.model.jobs import WorkerId
from penstock.model.outcomes import DONE
from penstock.model.points import Found, Leg, Space
from penstock.pipeline.projection import points_debt, purge_of, space_debt, space_of, subject_of
from penstock.ports.database import Transaction
from tests.support.cataloguing import blob_of, declared, new_document, pay_purges, version_id, write_version
from tests.support.ingested import by_hand
from tests.support.jobs import a_job
from tests.support.outside import Outside, outside_on
from tests.support.servers.qdrant import qdrant_url

__all__ = ["qdrant_url"]


@pytest.fixture
async def outside(tmp_path: Path, qdrant_url: str) -> AsyncIterator[Outside]:
    async with outside_on(tmp_path, qdrant_url) as opened:
        yield opened


async def points(outside: Outside) -> list[int]:
    return [chunk for space in await outside.vectors.spaces() for chunk in await outside.vectors.page(space)]


def owed(space: Space) -> Debt:
    """The debt of a space, as it is taken."""
    debt = space_debt(space)
    return Debt(id=1, kind=debt.kind, about=debt.about, details_json=debt.details_json, tries=1)


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


async def test_a_space_nothing_belongs_to_is_let_go(outside: Outside) -> None:
    """It stays for as long as any version does, and is made again by the next one."""
    document = await outside.ingest("/a.txt", "one fish")
    assert await outside.projection.unneeded() == []
    await outside.store.write(lambda tx: tx.documents.hide(document.id))
    await outside.purge()

    (space,) = await outside.projection.unneeded()
    assert space_of(owed(space)) == space
    assert await outside.projection.let_go(space)

    assert await outside.vectors.spaces() == []
    assert await outside.found("fish") == []
    await outside.ingest("/b.txt", "two fish")
    assert await outside.found("fish") == ["two fish"]


async def test_who_came_while_a_space_was_let_go_has_all_its_points(outside: Outside) -> None:
    """A version that was begun just then is waited for, and gets back what went with the space."""
    await outside.ingest("/a.txt", "one fish")
    (space,) = await outside.vectors.spaces()
    await outside.vectors.drop(space)
    await outside.store.queue.submit([a_job("/b.txt")])
    (lease,) = await outside.store.queue.claim(WorkerId("w1"), 1)

    def begin(tx: Transaction) -> tuple[VersionId, StageId]:
        shelf = declared(tx)
        document = tx.documents.admit(new_document(shelf.id, "/b.txt"))
        stage = tx.stages.begin(lease, document.id, StageKind.INGEST)
        return write_version(tx, document.id, shelf.generation, ["half", "done"]).id, stage

    version, stage = await outside.store.write(begin)
    assert not await outside.projection.let_go(space)

    def publish(tx: Transaction) -> None:
        tx.documents.publish(version, chunks=2)
        tx.stages.finish(lease, stage)

    await outside.store.write(publish)
    await outside.store.queue.settle([(lease, DONE)])
    assert await outside.projection.let_go(space)

    assert len(await points(outside)) == 3
    assert await outside.projection.flaws(limit=10) == []


async def test_what_a_failed_document_left_unbuilt_keeps_no_space(outside: Outside) -> None:
    """Nobody works on it: whoever tries it again makes the space anew."""
    document = await outside.ingest("/a.txt", "one fish")

    def build(tx: Transaction) -> None:
        shelf = declared(tx)
        other = tx.documents.admit(new_document(shelf.id, "/b.txt"))
        tx.documents.begin(other.id, shelf.generation, blob_of("b"), 1)

    await outside.store.write(build)
    await outside.store.write(lambda tx: tx.documents.hide(document.id))
    await outside.purge()

    (space,) = await outside.projection.unneeded()
    assert await outside.projection.let_go(space)


async def test_a_question_under_way_outlives_its_space(outside: Outside) -> None:
    """The last document and its space went between two looks: there is nothing to find, and no error."""
    document = await outside.ingest("/a.txt", "one fish")
    before = outside.vectors.nearest

    async def gone(space: Space, legs: Sequence[Leg]) -> list[list[Found]]:
        outside.vectors.nearest = before  # type: ignore[method-assign]
        await outside.store.write(lambda tx: tx.documents.hide(document.id))
        await outside.purge()
        assert await outside.projection.let_go(space)
        return await before(space, legs)

    outside.vectors.nearest = gone  # type: ignore[method-assign]

    assert await outside.found("fish") == []


async def change(qdrant_url: str, outside: Outside, verb: str, path: str, body: dict[str, object]) -> None:
    """Change points behind everybody's back, as any program that reaches the server may."""
    (space,) = await outside.vectors.spaces()
    name = name_of(await outside.store.manifest.home(), space)
    async with httpx.AsyncClient(base_url=qdrant_url) as http:
        told = await http.request(verb, f"/collections/{name}/points{path}?wait=true", json=body)
        assert told.status_code == 200, told.text


def dense(*numbers: float) -> dict[str, object]:
    return {"vector": {"dense": list(numbers)}}


@pytest.mark.parametrize(
    ("verb", "path", "body"),
    [
        ("PUT", "/vectors", {"points": [{"id": 1, **dense(0.5, 0.5, -0.5, 0.5)}]}),
        ("PUT", "/vectors", {"points": [{"id": 1, "vector": {"words": {"indices": [7], "values": [1.0]}}}]}),
        ("POST", "/vectors/delete", {"points": [1], "vector": ["words"]}),
        ("POST", "/vectors/delete", {"points": [1], "vector": ["dense"]}),
        ("POST", "/payload", {"points": [1], "payload": {"tenant": "another"}}),
        ("POST", "/payload", {"points": [1], "payload": {"number": 99}}),
    ],
)
async def test_a_point_that_is_not_its_chunk_is_put_again(
    outside: Outside, qdrant_url: str, verb: str, path: str, body: dict[str, object]
) -> None:
    """A vector, words or marks that somebody changed: a deep look finds them, the repair needs no model."""
    await outside.ingest("/a.txt", "one fish")
    await outside.ingest("/b.txt", "two fish")
    assert await outside.projection.flaws(limit=10, deep=True) == []
    await change(qdrant_url, outside, verb, path, body)

    assert await outside.projection.flaws(limit=10) == []
    (flaw,) = await outside.projection.flaws(limit=10, deep=True)
    assert (flaw.flaw, flaw.sentence) == (
        Flaw.VECTORS_DIFFER,
        "a.txt: 1 of 1 chunks differ in the vector store",
    )
    assert await outside.projection.mend(flaw)
    assert await outside.projection.flaws(limit=10, deep=True) == []


async def test_a_recipe_that_cannot_be_read_ends_no_look(outside: Outside, tmp_path: Path) -> None:
    """Where its points belong nobody can say then; what the database tells of it is mended first."""
    await outside.ingest("/a.txt", "one fish")
    by_hand(tmp_path, "UPDATE generations SET recipe_json = '{'")

    assert await outside.projection.flaws(limit=10, deep=True) == []
    assert await outside.projection.unneeded() == []
