"""Documents ingested step by step through the ports, as a worker would, without a model or a parser."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from struct import pack

from penstock.engines.disk import DiskBlobs
from penstock.intake.admission import Admission, Order
from penstock.model.catalogue import (
    LOCAL_TENANT,
    LOCAL_WORKSPACE,
    BlobId,
    DocumentId,
    NewChunk,
    StageKind,
)
from penstock.model.chunks import Chunk, Vector, text_key
from penstock.model.errors import ErrorReport
from penstock.model.jobs import Lease, WorkerId
from penstock.model.outcomes import DONE, Failed
from penstock.model.recipes import Recipe
from penstock.ports.database import Transaction
from penstock.wiring.store import Store

MODEL = "all-MiniLM-L6-v2/int8-1"
WORKER = WorkerId("by-hand")


async def a_collection(store: Store, name: str = "notes") -> None:
    """A collection with the usual recipe."""
    recipe = Recipe(model=MODEL).to_json()
    await store.write(lambda tx: tx.shelves.declare(LOCAL_WORKSPACE, name, recipe_json=recipe))


async def ingested(
    store: Store, data: Path, path: Path, chunks: Sequence[str], *, collection: str = "notes"
) -> DocumentId:
    """A file's document, searchable by these chunks."""
    lease, document = await claimed(store, path, collection=collection)
    blob = await DiskBlobs(data / "blobs").put_file(path, limit=1 << 30)

    def build(tx: Transaction) -> None:
        tx.guard(lease)
        stage = tx.stages.begin(lease, document, StageKind.PARSE)
        found = tx.documents.get(document)
        shelf = tx.shelves.find(LOCAL_WORKSPACE, collection)
        assert found is not None
        assert shelf is not None
        version = tx.documents.begin(document, shelf.generation, BlobId(blob.hash), blob.size)
        tx.documents.describe(document, title=None, media="txt", pages=None, metadata_json="{}")
        tx.stages.finish(lease, stage)
        stage = tx.stages.begin(lease, document, StageKind.INGEST)
        tx.kept.keep_vectors(MODEL, [(text_key(text), a_vector(text)) for text in chunks])
        tx.documents.add_chunks(version.id, MODEL, [_chunk(at, text) for at, text in enumerate(chunks)])
        tx.documents.publish(version.id, chunks=len(chunks))
        tx.stages.finish(lease, stage)
        tx.settle([(lease, DONE)])

    await store.write(build)
    return document


async def failed(store: Store, path: Path, error: ErrorReport, *, collection: str = "notes") -> DocumentId:
    """A file's document that ended in error at its first step."""
    lease, document = await claimed(store, path, collection=collection)

    def fail(tx: Transaction) -> None:
        tx.stages.begin(lease, document, StageKind.PARSE)
        tx.settle([(lease, Failed(error))])

    await store.write(fail)
    return document


async def claimed(store: Store, path: Path, *, collection: str = "notes") -> tuple[Lease, DocumentId]:
    """A file's job, admitted and taken."""
    order = Order(tenant=LOCAL_TENANT, collection=collection, priority=9)
    (admitted,) = await Admission(store).files(order, [str(path)])
    (lease,) = await store.queue.claim(WORKER, 1)
    assert (lease.job_id, admitted.document is None) == (admitted.job, False)
    return lease, DocumentId(str(admitted.document))


def a_vector(text: str) -> Vector:
    """Of the usual length, told apart by the text."""
    at = text_key(text)[0]
    return Vector(pack("<384f", *(1.0 if place == at else 0.0 for place in range(384))))


def _chunk(ordinal: int, text: str) -> NewChunk:
    return NewChunk(
        chunk=Chunk(ordinal=ordinal, start=0, end=len(text), tokens=len(text.split())),
        text=text,
        lead="",
        key=text_key(text),
    )


def by_hand(data: Path, *statements: str) -> None:
    """Change the database behind everybody's back."""
    with closing(sqlite3.connect(data / "penstock.db", isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)
