"""Deletes and renames: small writes that readers see at once; what they leave behind is purged later."""

from __future__ import annotations

from pathlib import PurePosixPath

from penstock.model.accounts import tenant_of
from penstock.model.catalogue import (
    Document,
    DocumentId,
    NewDocument,
    Source,
    StageKind,
    content_identity,
    library_identity,
)
from penstock.model.errors import Refused
from penstock.model.ids import child_id
from penstock.model.jobs import JobId, Lease, NewJob
from penstock.model.options import Options, Origin, options_of
from penstock.model.payloads import Content, DeleteDocument, File, Library, Rename
from penstock.model.uploads import uploaded_blob
from penstock.pipeline.workshop import Workshop
from penstock.ports.attempt import Attempt
from penstock.ports.database import Transaction
from penstock.ports.lookup import collection_of

PORTION = 200
"""Documents hidden in one write when a tenant goes."""
TALKS = 10
"""Conversations removed in one write, each with up to a thousand messages."""


class Changes:
    """What is done to documents without looking at their bytes."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop

    async def delete(self, attempt: Attempt) -> None:
        """Take a document out of every answer; one that is not there is deleted already."""
        lease = attempt.lease
        await self._shop.write(lease, lambda tx: hide(tx, lease))

    async def rename(self, attempt: Attempt) -> None:
        """Give a document another path; its vectors stay, and what was never read is read there."""
        lease, payload = attempt.lease, attempt.lease.payload
        if not isinstance(payload, Rename):
            raise TypeError(f"a rename was expected, not {type(payload).__name__}")
        await self._shop.write(lease, lambda tx: _rename(tx, lease, payload))

    async def delete_tenant(self, attempt: Attempt) -> None:
        """Hide everything a tenant has, a portion at a time; nothing of it runs meanwhile.

        With a workspace's own tenant its conversations go too.
        """
        lease, hidden = attempt.lease, 0
        while True:
            some = await self._shop.write(
                lease, lambda tx: tx.documents.hide_some(lease.tenant, limit=PORTION)
            )
            hidden += some
            if some < PORTION:
                break
            await attempt.progress(hidden)
        while await self._shop.write(lease, lambda tx: _forget_talk(tx, lease)):
            await attempt.progress(hidden)


def _rename(tx: Transaction, lease: Lease, payload: Rename) -> None:
    if uploaded_blob(payload.new_path) is not None:
        raise Refused("new_path is of the form uploads are known by", code="ERR_PATH_INVALID")
    collection = collection_of(tx, lease.tenant, lease.collection)
    options = options_of(lease.metadata_json)
    document = tx.documents.at(lease.tenant, collection.id, payload.old_path)
    if document is not None:
        _move(tx, lease, document, payload.new_path)
        if not _is_read(tx, document, options):
            _read_there(tx, lease, payload.new_path)
            if options.origin is not Origin.ASKED and document.version is not None:
                # What was read at the old path may have come there after what moved.
                _submit(tx, lease, payload.old_path)
        return
    there = tx.documents.at(lease.tenant, collection.id, payload.new_path)
    if options.origin is not Origin.ASKED:
        # The file moved before anybody read it, so that its document was taken for deleted.
        if there is None or not _is_read(tx, there, options):
            _read_there(tx, lease, payload.new_path)
    elif there is None:
        raise Refused(f"there is no document at {payload.old_path}", code="ERR_DOCUMENT_UNKNOWN")


def _move(tx: Transaction, lease: Lease, document: Document, path: str) -> None:
    stage = tx.stages.begin(lease, document.id, StageKind.TASK)
    # An upload is known by its bytes, whatever it is called.
    known_by = document.identity if document.source is Source.UPLOAD else path
    tx.documents.rename(document.id, known_by, PurePosixPath(path).name)
    tx.stages.finish(lease, stage)


def _is_read(tx: Transaction, document: Document, options: Options) -> bool:
    """Whether readers see the bytes that moved: those of the look a watcher told, else any."""
    if document.source is not Source.FILE:
        return True
    if options.mark is None:
        return document.version is not None
    return tx.kept.mark_of(document.id) == options.mark


def _read_there(tx: Transaction, lease: Lease, path: str) -> None:
    """Have a path ingested as the rename was asked for; its document awaits that from now on."""
    job = _submit(tx, lease, path)
    collection = collection_of(tx, lease.tenant, lease.collection)
    new = NewDocument(
        tenant=lease.tenant,
        collection=collection.id,
        source=Source.FILE,
        identity=path,
        name=PurePosixPath(path).name,
        branch=lease.branch,
    )
    tx.documents.admit(new, job=job)


def _submit(tx: Transaction, lease: Lease, path: str) -> JobId:
    job = NewJob(
        id=JobId(child_id(lease.job_id, path)),
        tenant=lease.tenant,
        collection=lease.collection,
        payload=File(file_path=path),
        priority=lease.priority,
        branch=lease.branch,
        metadata=options_of(lease.metadata_json).as_metadata(),
    )
    (receipt,) = tx.submit([job])
    return receipt.job_id


def _forget_talk(tx: Transaction, lease: Lease) -> bool:
    """Remove some conversations of a workspace whose own tenant goes; True if more may be left."""
    workspace = tx.shelves.workspace_of(lease.tenant)
    if tenant_of(workspace) != lease.tenant:
        return False
    return tx.conversations.remove_some(workspace, limit=TALKS) == TALKS


def hide(tx: Transaction, lease: Lease) -> None:
    """Hide the document a job names, if there is one."""
    document = named(tx, lease)
    if document is None or document.hidden:
        return
    stage = tx.stages.begin(lease, document.id, StageKind.TASK)
    tx.documents.hide(document.id)
    tx.stages.finish(lease, stage)


def named(tx: Transaction, lease: Lease) -> Document | None:
    """The document a job is about: by its id, else by what its payload says."""
    if lease.document_id is not None:
        return _by_id(tx, lease, lease.document_id)
    match lease.payload:
        case File():
            identity = lease.payload.file_path
        case Content():
            identity = content_identity(lease.payload.content)
        case Library(library_name=name, library_version=version):
            identity = library_identity(name, version)
        case DeleteDocument() if lease.payload.document_id.startswith("/"):
            identity = lease.payload.document_id
        case DeleteDocument():
            return _by_id(tx, lease, lease.payload.document_id)
        case _:
            return None
    collection = tx.shelves.find(tx.shelves.workspace_of(lease.tenant), lease.collection)
    return None if collection is None else tx.documents.at(lease.tenant, collection.id, identity)


def _by_id(tx: Transaction, lease: Lease, name: str) -> Document | None:
    """By id, if it is the tenant's own."""
    document = tx.documents.get(DocumentId(name))
    return document if document is not None and document.tenant == lease.tenant else None
