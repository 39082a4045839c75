"""The small steps tests of the catalogue are made of."""

import math
from array import array
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from penstock.model.catalogue import (
    LOCAL_WORKSPACE,
    BlobId,
    Collection,
    CollectionId,
    DebtKind,
    Document,
    DocumentId,
    GenerationId,
    NewChunk,
    NewDocument,
    Source,
    Version,
    VersionId,
    WorkspaceId,
)
from penstock.model.chunks import Chunk, Vector, text_key
from penstock.model.jobs import JobId, Lease, NewJob, TenantId, WorkerId
from penstock.model.passages import Question, Scope
from penstock.ports.catalogue import Catalogue
from penstock.ports.database import Database, Transaction
from penstock.ports.queue import Queue
from tests.support.jobs import COLLECTION, TENANT, a_job

MODEL = "toy"
RECIPE = '{"model":"toy"}'
PURGES = (DebtKind.PURGE_VERSION, DebtKind.PURGE_DOCUMENT, DebtKind.PURGE_GENERATION)


def vector(*numbers: float) -> Vector:
    """A vector of length one in the direction of these numbers; four in all."""
    padded = [*numbers, *[0.0] * (4 - len(numbers))]
    length = math.sqrt(sum(each * each for each in padded))
    return Vector(array("f", [each / length for each in padded]).tobytes())


def vector_of(text: str) -> Vector:
    """Some direction that is always the same for a text."""
    return vector(*[byte - 127.5 for byte in sha256(text.encode()).digest()[:4]])


def blob_of(text: str) -> BlobId:
    return BlobId(sha256(text.encode()).hexdigest())


def new_chunks(texts: Sequence[str], *, lead: str = "", first: int = 0) -> list[NewChunk]:
    """One chunk for each text, as if they stood one after another."""
    return [
        NewChunk(
            chunk=Chunk(
                ordinal=first + at, start=at * 100, end=at * 100 + len(text), tokens=len(text.split())
            ),
            text=text,
            lead=lead,
            key=text_key(text),
        )
        for at, text in enumerate(texts)
    ]


def declared(tx: Transaction, name: str = COLLECTION, tenant: TenantId = TENANT) -> Collection:
    return tx.shelves.declare(tx.shelves.workspace_of(tenant), name, recipe_json=RECIPE)


def new_document(
    collection: CollectionId, identity: str = "/a.txt", tenant: TenantId = TENANT, **metadata: object
) -> NewDocument:
    return NewDocument(
        tenant=tenant,
        collection=collection,
        source=Source.FILE,
        identity=identity,
        name=identity.rsplit("/", 1)[-1],
        metadata=metadata,
    )


def write_version(
    tx: Transaction, document: DocumentId, generation: GenerationId, texts: Sequence[str], *, lead: str = ""
) -> Version:
    """A version with its chunks and vectors, not yet published."""
    version = tx.documents.begin(document, generation, blob_of("\n".join(texts)), 100)
    tx.kept.keep_vectors(MODEL, [(text_key(text), vector_of(text)) for text in texts])
    tx.documents.add_chunks(version.id, MODEL, new_chunks(texts, lead=lead))
    return version


def ingest(
    tx: Transaction,
    identity: str = "/a.txt",
    texts: Sequence[str] = ("hello world",),
    *,
    lead: str = "",
    collection: str = COLLECTION,
    tenant: TenantId = TENANT,
    **metadata: object,
) -> Document:
    """A document readers see, without a job."""
    shelf = declared(tx, collection, tenant)
    document = tx.documents.admit(new_document(shelf.id, identity, tenant, **metadata))
    version = write_version(tx, document.id, shelf.generation, texts, lead=lead)
    tx.documents.publish(version.id, chunks=len(texts))
    found = tx.documents.get(document.id)
    assert found is not None
    return found


async def ingested(
    database: Database, identity: str = "/a.txt", texts: Sequence[str] = ("hello world",), **chosen: Any
) -> Document:
    """The same in a transaction of its own."""
    return await database.write(lambda tx: ingest(tx, identity, texts, **chosen))


async def admitted(database: Database, path: str = "/a.txt") -> tuple[Document, JobId]:
    """A document that awaits its job."""

    def work(tx: Transaction) -> tuple[Document, JobId]:
        shelf = declared(tx)
        (receipt,) = tx.submit([a_job(path)])
        return tx.documents.admit(new_document(shelf.id, path), job=receipt.job_id), receipt.job_id

    return await database.write(work)


async def submitted(database: Database, job: NewJob) -> JobId:
    return (await database.write(lambda tx: tx.submit([job])))[0].job_id


async def claimed_job(queue: Queue, worker: str = "w1") -> Lease:
    (lease,) = await queue.claim(WorkerId(worker), 1)
    return lease


async def pay_purges(catalogue: Catalogue, *, limit: int = 1000) -> int:
    """Pay every purge that is owed; how many portions it took."""
    portions = 0
    while debts := await catalogue.take_debts(PURGES, "payer"):
        for debt in debts:
            done = False
            while not done:
                done = await catalogue.purge(debt, limit=limit)
                portions += 1
    return portions


def scope_of(*collections: CollectionId, workspace: WorkspaceId = LOCAL_WORKSPACE, **filters: Any) -> Scope:
    return Scope(workspace=workspace, collections=collections, **filters)


def question(text: str, near: Vector | None = None) -> Question:
    return Question(text=text, vectors={} if near is None else {MODEL: near})


def version_id(document: Document) -> VersionId:
    assert document.version is not None
    return document.version
