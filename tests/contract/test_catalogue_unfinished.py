"""What a failure leaves half built: clauses K5 and K15."""

from penstock.model.catalogue import BlobId, Document, DocumentState, StageKind, VersionId
from penstock.model.chunks import text_key
from penstock.model.jobs import Lease
from penstock.model.outcomes import DONE, Failed, Outcome, Retry
from penstock.ports.database import Transaction
from tests.contract.engines import Home, Store
from tests.support.cataloguing import (
    MODEL,
    PURGES,
    admitted,
    blob_of,
    claimed_job,
    declared,
    ingested,
    new_chunks,
    pay_purges,
    submitted,
    version_id,
    write_version,
)
from tests.support.clock import FakeClock
from tests.support.jobs import a_job, an_error

NEEDS_DATABASE = True

TEXTS = [f"part {at}" for at in range(10)]


async def half_built(
    store: Store, outcome: Outcome, path: str = "/a.txt"
) -> tuple[Document, VersionId, BlobId]:
    """A document whose attempt ended so after it had written its chunks, and before it could publish."""
    document, _ = await admitted(store, path)
    lease = await claimed_job(store.queue)

    def build(tx: Transaction) -> VersionId:
        tx.stages.begin(lease, document.id, StageKind.INGEST)
        return write_version(tx, document.id, declared(tx).generation, TEXTS).id

    version = await store.write(build)
    assert await store.queue.settle([(lease, outcome)]) == [True]
    return document, version, blob_of("\n".join(TEXTS))


def take_up(tx: Transaction, lease: Lease, document: Document, blob: BlobId) -> VersionId:
    """What the next attempt does first."""
    tx.stages.begin(lease, document.id, StageKind.INGEST)
    return tx.documents.begin(document.id, declared(tx).generation, blob, 100).id


async def chunks_of(store: Store, version: VersionId) -> int | None:
    found = await store.catalogue.version(version)
    return None if found is None else found.chunks


async def test_a_failed_version_keeps_its_bytes_and_vectors_alone(store: Store) -> None:
    """K15: its chunks are purged; the next try finds bytes and vectors and need not pay for them again."""
    document, version, blob = await half_built(store, Failed(an_error()))
    assert await chunks_of(store, version) == len(TEXTS)

    assert await pay_purges(store.catalogue, limit=3) == 4

    assert await chunks_of(store, version) == 0
    assert await store.catalogue.tokens(version) == 0
    assert await store.catalogue.last_bytes(document.id) == blob
    keys = [text_key(text) for text in TEXTS]
    assert await store.catalogue.known_vectors(MODEL, keys) == set(keys)
    found = await store.write(lambda tx: tx.documents.get(document.id))
    assert found is not None
    assert (found.state, found.version) == (DocumentState.ERROR, None)


async def test_another_try_takes_up_what_a_purge_left(store: Store) -> None:
    """K15: a purge that meets a job at work leaves the rest to it, and the version comes out whole."""
    document, version, blob = await half_built(store, Failed(an_error()))
    (debt,) = await store.catalogue.take_debts(PURGES, "me")
    assert not await store.catalogue.purge(debt, limit=3)

    await submitted(store, a_job("/a.txt"))
    lease = await claimed_job(store.queue)
    assert await store.write(lambda tx: take_up(tx, lease, document, blob)) == version
    assert await store.catalogue.purge(debt, limit=1000)
    assert await store.catalogue.tokens(version) == 7 * len(TEXTS[0].split())

    def finish(tx: Transaction) -> None:
        tx.documents.add_chunks(version, MODEL, new_chunks(TEXTS))
        tx.documents.publish(version, chunks=len(TEXTS))
        tx.settle([(lease, DONE)])

    await store.write(finish)
    assert await chunks_of(store, version) == len(TEXTS)
    assert await store.catalogue.take_debts(PURGES, "me") == []


async def test_a_failure_that_is_tried_again_owes_nothing(store: Store) -> None:
    """K5: what is written waits for the next attempt."""
    _, version, _ = await half_built(store, Retry(an_error()))

    assert await store.catalogue.take_debts(PURGES, "me") == []
    assert await chunks_of(store, version) == len(TEXTS)


async def test_the_purge_of_a_failed_version_survives_a_crash(
    home: Home, store: Store, clock: FakeClock
) -> None:
    """K15: after a crash half-way the rest goes too."""
    _, version, _ = await half_built(store, Failed(an_error()))
    (debt,) = await store.catalogue.take_debts(PURGES, "me")
    assert not await store.catalogue.purge(debt, limit=4)

    again = await home.crash(store)
    clock.advance(61)
    await pay_purges(again.catalogue)

    assert await chunks_of(again, version) == 0


async def test_bytes_that_came_back_outdate_what_failed(store: Store) -> None:
    """K5: an ingest that finds the current bytes again leaves nothing of those that failed between."""
    current = await ingested(store, "/a.txt", ["good"])
    document, version, _ = await half_built(store, Failed(an_error()))
    assert document.id == current.id

    await store.write(lambda tx: tx.documents.touch(document.id))
    await pay_purges(store.catalogue)

    assert await store.catalogue.version(version) is None
    assert await chunks_of(store, version_id(current)) == 1
