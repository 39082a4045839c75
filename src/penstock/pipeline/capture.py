"""Capture: the bytes of a document are kept before anybody reads them.

A reindex, and any later attempt at a file in one of our own folders, reads the bytes that were kept; a user's
own file is looked at anew each time, so that what is searched is what is there. A rebuild looks too, and
where nothing can be taken any more it reads what was kept: it mends what is there and is to lose nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from penstock.model.catalogue import (
    BlobId,
    Document,
    NewDocument,
    Source,
    content_identity,
    library_identity,
)
from penstock.model.errors import Refused
from penstock.model.files import Blob, BlobHash
from penstock.model.jobs import Lease
from penstock.model.options import Options, Origin
from penstock.model.payloads import Content, File, Library
from penstock.model.provenance import provenance_of
from penstock.model.uploads import uploaded_blob
from penstock.pipeline.changes import named
from penstock.pipeline.workshop import Workshop
from penstock.ports.database import Transaction
from penstock.ports.lookup import collection_of
from penstock.ports.web import Fetcher


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """A document's bytes, kept, and what the document is known by."""

    blob: BlobId
    size: int
    source: Source
    identity: str
    name: str

    def new_document(self, tx: Transaction, lease: Lease, options: Options) -> NewDocument:
        """The document as the catalogue takes it in."""
        return NewDocument(
            tenant=lease.tenant,
            collection=collection_of(tx, lease.tenant, lease.collection).id,
            source=self.source,
            identity=self.identity,
            name=self.name,
            branch=lease.branch,
            metadata=options.document,
            size=self.size,
        )


class Capturer:
    """Takes bytes from wherever a job says they are."""

    def __init__(self, shop: Workshop, fetcher: Fetcher) -> None:
        self._shop = shop
        self._fetcher = fetcher

    async def capture(self, lease: Lease, options: Options) -> Captured | None:
        """The bytes; None where their absence means that the document was deleted."""
        if options.reindex:
            document = await self._document(lease)
            return None if document is None else await self._bytes_of(document)
        try:
            return await self._take(lease, options)
        except Refused as refused:
            if options.rebuild and (found := await self._begun_before(lease)) is not None:
                return found
            if refused.code != "ERR_FILE_NOT_FOUND":
                raise
            if options.origin is Origin.INCOMING:
                found = await self._begun_before(lease)
                if found is not None:
                    return found
            if options.origin is not Origin.ASKED and not options.demanded:
                return None
            raise

    async def _take(self, lease: Lease, options: Options) -> Captured:
        match lease.payload:
            case File(file_path=path) if (sent := uploaded_blob(path)) is not None:
                return await self._sent(lease, path, sent)
            case File(file_path=path):
                blob = await self._from(lease, path, options.root)
                return _captured(blob, Source.FILE, path, PurePosixPath(path).name)
            case Content() as content:
                blob = await self._shop.blobs.put_bytes(content.content.encode())
                name = f"{content.main_tag or content.source_type}.txt"
                return _captured(blob, Source.CONTENT, content_identity(content.content), name)
            case Library(library_name=name, library_version=version, source_path=str() as path):
                blob, known_by = await self._from(lease, path), library_identity(name, version)
                return _captured(blob, Source.LIBRARY, known_by, PurePosixPath(path).name)
            case Library(library_name=name, library_version=version, source_url=str() as url):
                fetched = await self._fetcher.fetch(url, limit=await self._shop.file_bytes(lease))
                return _captured(fetched.blob, Source.LIBRARY, library_identity(name, version), fetched.name)
            case other:
                raise Refused(f"{type(other).__name__} names no bytes to read", code="ERR_PAYLOAD_INVALID")

    async def _from(self, lease: Lease, path: str, root: str | None = None) -> Blob:
        """The bytes at a path; below a root it was found in, no link is followed on the way."""
        beneath = None if root is None or not Path(path).is_relative_to(root) else Path(root)
        limit = await self._shop.file_bytes(lease)
        return await self._shop.blobs.put_file(Path(path), limit=limit, beneath=beneath)

    async def _sent(self, lease: Lease, path: str, blob: BlobId) -> Captured:
        """An upload's bytes: those of a document of this tenant, or those this very job brought."""
        name = await self._shop.write(lease, lambda tx: _name_of_upload(tx, lease, path, blob))
        if name is None:
            raise Refused("the bytes of this upload are not kept; send them again", code="ERR_BLOB_MISSING")
        kept = await self._shop.blobs.verify(BlobHash(blob))
        if kept.size > (limit := await self._shop.file_bytes(lease)):
            raise Refused(
                f"{name} has {kept.size:,} bytes, the limit is {limit:,}", code="ERR_FILE_TOO_LARGE"
            )
        return _captured(kept, Source.UPLOAD, path, name)

    async def _begun_before(self, lease: Lease) -> Captured | None:
        """What an earlier attempt, or an earlier job on the document, captured."""
        document = await self._document(lease)
        if document is None:
            return None
        return await self._kept(document, await self._shop.catalogue.last_bytes(document.id))

    async def _bytes_of(self, document: Document) -> Captured:
        """What readers see; of a document that a rebuild left out, what it was last begun with."""
        blob = document.blob or await self._shop.catalogue.last_bytes(document.id)
        found = await self._kept(document, blob)
        if found is None:
            raise Refused(f"no bytes of {document.name} are kept", code="ERR_BLOB_MISSING")
        return found

    async def _kept(self, document: Document, blob: BlobId | None) -> Captured | None:
        if blob is None:
            return None
        kept = await self._shop.blobs.verify(BlobHash(blob))
        return _captured(kept, document.source, document.identity, document.name)

    async def _document(self, lease: Lease) -> Document | None:
        return await self._shop.write(lease, lambda tx: named(tx, lease))


def _name_of_upload(tx: Transaction, lease: Lease, path: str, blob: BlobId) -> str | None:
    """What an upload is called; None if this job may not read it, or nobody can."""
    collection = collection_of(tx, lease.tenant, lease.collection)
    document = tx.documents.at(lease.tenant, collection.id, path)
    if document is not None and document.source is Source.UPLOAD:
        return document.name
    if tx.kept.held(lease.job_id) != blob:
        return None
    # A delete that was accepted before this job took the document away; the bytes came after it.
    return provenance_of(lease.metadata_json).filename or PurePosixPath(path).name


def _captured(blob: Blob, source: Source, identity: str, name: str) -> Captured:
    return Captured(blob=BlobId(blob.hash), size=blob.size, source=source, identity=identity, name=name)
