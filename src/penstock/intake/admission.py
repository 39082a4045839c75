"""Admission: a document, its job and its events, accepted together or not at all.

The only way in for what Penstock's own doors bring. A row another program writes into the queue takes the
same road later: its document is admitted when its job first runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath

from penstock.model.catalogue import (
    Collection,
    Document,
    DocumentId,
    NewDocument,
    Source,
    content_identity,
    library_identity,
)
from penstock.model.errors import Refused
from penstock.model.ids import child_id, new_job_id
from penstock.model.jobs import Accepted, BatchId, JobId, Lease, NewJob, Operation, TenantId
from penstock.model.options import Options
from penstock.model.payloads import Content, DeleteDocument, File, Folder, Library, Payload, Project, Rename
from penstock.model.provenance import Provenance
from penstock.model.uploads import Uploaded, upload_name, upload_path
from penstock.ports.database import Database, Transaction
from penstock.ports.lookup import collection_of

SUBMITTER = "api"
"""By whom an upload is said to be submitted, where other programs read of it."""
PORTION = 500
"""Documents admitted in one commit: enough to be quick, few enough to let others write in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """For whom, into what and how urgently."""

    tenant: TenantId
    collection: str
    priority: int
    options: Options = field(default_factory=Options)
    max_retries: int = 3
    branch: str = "main"
    lease: Lease | None = None
    """The attempt that orders it; once that has lost its job, nothing more is accepted from it."""

    def guard(self, tx: Transaction) -> None:
        """Raise LeaseLost if whoever orders may not any more."""
        if self.lease is not None:
            tx.guard(self.lease)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """What became of one request: the job that stands for it, and its document where it has one."""

    job: JobId
    how: Accepted
    name: str
    document: DocumentId | None = None


class Admission:
    """Takes requests in."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def files(
        self,
        order: Order,
        paths: Sequence[str],
        *,
        op: Operation = Operation.INGEST,
        marks: Mapping[str, str] | None = None,
        batch: BatchId | None = None,
        parent: JobId | None = None,
        ids: Mapping[str, JobId] | None = None,
    ) -> list[Admitted]:
        """One job for each file; `parent` makes their ids repeatable, so a second run doubles nothing.

        `marks` tell how the files looked, for the next one who compares; `ids` gives jobs their ids itself.
        """
        looks, chosen = marks or {}, ids or {}
        requests = [
            _Request(
                job=_job(
                    order,
                    File(file_path=path),
                    op,
                    chosen.get(path) or _child(parent, path),
                    looks.get(path),
                ),
                source=Source.FILE,
                identity=path,
                name=PurePosixPath(path).name,
                metadata=order.options.document,
            )
            for path in paths
        ]
        admitted: list[Admitted] = []
        for at in range(0, len(requests), PORTION):
            portion = requests[at : at + PORTION]
            admitted += await self._database.write(
                partial(_admit, order=order, requests=portion, batch=batch)
            )
        return admitted

    async def uploads(self, order: Order, sent: Sequence[Uploaded]) -> list[Admitted]:
        """One document and job for each upload whose bytes are kept already; they are in use from then on.

        The same bytes in the same collection are the same document, under the name they first came by.
        """
        admitted: list[Admitted] = []
        for at in range(0, len(sent), PORTION):
            portion = sent[at : at + PORTION]
            admitted += await self._database.write(partial(admit_uploads, order=order, sent=portion))
        return admitted

    async def text(self, order: Order, content: Content, *, name: str | None = None) -> Admitted:
        """A text given directly."""
        return await self._database.write(partial(admit_text, order=order, content=content, name=name))

    async def library(self, order: Order, library: Library, *, name: str) -> Admitted:
        """A library's documentation that is one document, known to be one."""
        request = _Request(
            job=_job(order, library, Operation.INGEST, None),
            source=Source.LIBRARY,
            identity=library_identity(library.library_name, library.library_version),
            name=name,
            metadata=order.options.document,
        )
        (admitted,) = await self._database.write(partial(_admit, order=order, requests=[request], batch=None))
        return admitted

    async def job(
        self,
        order: Order,
        payload: Folder | Project | Library | Rename,
        op: Operation,
        *,
        mark: str | None = None,
        parent: JobId | None = None,
        batch: BatchId | None = None,
    ) -> Admitted:
        """Work that makes children, or changes what is known of a document; `mark` as with files."""
        job = _job(order, payload, op, _child(parent, repr(payload)), mark)

        def admit(tx: Transaction) -> Admitted:
            order.guard(tx)
            collection_of(tx, order.tenant, order.collection)
            (receipt,) = tx.submit([job], batch=batch)
            return Admitted(job=receipt.job_id, how=receipt.how, name=_name_of(payload))

        return await self._database.write(admit)

    async def removals(
        self,
        order: Order,
        identities: Sequence[str],
        *,
        parent: JobId | None = None,
        batch: BatchId | None = None,
    ) -> list[Admitted]:
        """Deletes, by path or document id, each ordered against other work on the same document."""
        admitted: list[Admitted] = []
        for at in range(0, len(identities), PORTION):
            portion = identities[at : at + PORTION]
            admitted += await self._database.write(
                partial(admit_removals, order=order, identities=portion, parent=parent, batch=batch)
            )
        return admitted


def admit_uploads(tx: Transaction, order: Order, sent: Sequence[Uploaded]) -> list[Admitted]:
    """The same as `Admission.uploads`, together with the caller's own changes; at most a portion."""
    order.guard(tx)
    collection = collection_of(tx, order.tenant, order.collection)
    return [_admit_upload(tx, order, collection, each) for each in sent]


def _admit_upload(tx: Transaction, order: Order, collection: Collection, sent: Uploaded) -> Admitted:
    if sent.size < 1:
        raise Refused(f"{sent.name} is empty", code="ERR_FILE_EMPTY")
    path, name = upload_path(sent.blob), upload_name(sent.name)
    options = replace(order.options, document={**order.options.document, **sent.metadata})
    new = NewDocument(
        tenant=order.tenant,
        collection=collection.id,
        source=Source.UPLOAD,
        identity=path,
        name=name,
        branch=order.branch,
        metadata=options.document,
        size=sent.size,
    )
    payload = File(file_path=path, file_hash=f"sha256:{sent.blob}", size_bytes=sent.size)
    job = _job(replace(order, options=options), payload, Operation.INGEST, None)
    told = Provenance(filename=name, submitted_by=SUBMITTER).as_metadata()
    admitted = _admit_by_document(tx, new, replace(job, metadata={**job.metadata, **told}))
    tx.kept.hold(admitted.job, sent.blob)
    if sent.hold is not None:
        tx.kept.let_go(sent.hold)
    if sent.upload is not None:
        tx.uploads.complete(sent.upload, done=sent.size, document=admitted.document)
    return admitted


def _admit_by_document(tx: Transaction, new: NewDocument, job: NewJob) -> Admitted:
    """With a job ordered by its document: so a delete by id, as people delete, ends it while it waits.

    It is told by the name it has, which may be that of an earlier arrival.
    """
    document = tx.documents.admit(new)
    (receipt,) = tx.submit([replace(job, document_id=document.id)])
    tx.documents.admit(new, job=receipt.job_id)
    return Admitted(job=receipt.job_id, how=receipt.how, name=document.name, document=document.id)


def admit_text(tx: Transaction, order: Order, content: Content, *, name: str | None = None) -> Admitted:
    """The same as `Admission.text`, together with the caller's own changes."""
    order.guard(tx)
    new = NewDocument(
        tenant=order.tenant,
        collection=collection_of(tx, order.tenant, order.collection).id,
        source=Source.CONTENT,
        identity=content_identity(content.content),
        name=name or content.main_tag or content.source_type,
        branch=order.branch,
        metadata=order.options.document,
        size=len(content.content.encode(errors="replace")),
    )
    return _admit_by_document(tx, new, _job(order, content, Operation.INGEST, None))


def admit_deletion(tx: Transaction, order: Order, document: Document) -> Admitted:
    """Take a document out of sight now; its job ends what waits on it and waits for what runs.

    A file's is ordered by its path, as its other jobs are; what comes to the path later is not touched.
    """
    name = document.identity if document.source is Source.FILE else document.id
    order.guard(tx)
    # First: what waits on a document that is there would end as an error of the document.
    tx.documents.hide(document.id)
    (admitted,) = admit_removals(tx, order, [name])
    return replace(admitted, name=document.name, document=document.id)


def admit_removals(
    tx: Transaction,
    order: Order,
    identities: Sequence[str],
    *,
    parent: JobId | None = None,
    batch: BatchId | None = None,
) -> list[Admitted]:
    """The same as `Admission.removals`, together with the caller's own changes; at most a portion."""
    order.guard(tx)
    jobs = [
        _job(order, DeleteDocument(document_id=name), Operation.DELETE, _child(parent, name))
        for name in identities
    ]
    return [
        Admitted(job=receipt.job_id, how=receipt.how, name=name)
        for receipt, name in zip(tx.submit(jobs, batch=batch), identities, strict=True)
    ]


def _job(
    order: Order, payload: Payload, op: Operation, job_id: JobId | None, mark: str | None = None
) -> NewJob:
    return NewJob(
        tenant=order.tenant,
        collection=order.collection,
        payload=payload,
        op=op,
        priority=order.priority,
        max_retries=order.max_retries,
        branch=order.branch,
        metadata=replace(order.options, mark=mark).as_metadata(),
        id=job_id or JobId(new_job_id()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """A job, and what its document is known by."""

    job: NewJob
    source: Source
    identity: str
    name: str
    metadata: Mapping[str, object] = field(default_factory=dict)


def _admit(
    tx: Transaction, order: Order, requests: Sequence[_Request], batch: BatchId | None
) -> list[Admitted]:
    order.guard(tx)
    collection = collection_of(tx, order.tenant, order.collection)
    receipts = tx.submit([request.job for request in requests], batch=batch)
    admitted = []
    for request, receipt in zip(requests, receipts, strict=True):
        found = None
        if receipt.how is not Accepted.EXISTING and request.job.op is not Operation.DELETE:
            new = NewDocument(
                tenant=order.tenant,
                collection=collection.id,
                source=request.source,
                identity=request.identity,
                name=request.name,
                branch=order.branch,
                metadata=request.metadata,
            )
            found = tx.documents.admit(new, job=receipt.job_id).id
        admitted.append(Admitted(job=receipt.job_id, how=receipt.how, name=request.name, document=found))
    return admitted


def _child(parent: JobId | None, name: str) -> JobId | None:
    """The id of a parent's child: the same again when the parent runs again."""
    return None if parent is None else JobId(child_id(parent, name))


def _name_of(payload: Folder | Project | Library | Rename) -> str:
    match payload:
        case Folder():
            return payload.folder_path
        case Project():
            return payload.project_root
        case Library():
            return payload.library_name
        case Rename():
            return payload.old_path
