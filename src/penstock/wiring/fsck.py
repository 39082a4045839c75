"""Proving that catalogue, vectors, words, bytes and queue agree, and mending what does not.

The database is asked first, in one snapshot; bytes are compared with it afterwards, both ways. Bytes younger
than an hour are left alone, and what seems to be missing is asked for again before it is told: so workers may
go on meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path

from penstock.engines.disk import DiskBlobs, DiskMover
from penstock.engines.disk.blobs import UNFINISHED
from penstock.engines.disk.durable import abandoned
from penstock.engines.disk.faults import printable
from penstock.engines.disk.strays import put_aside, strays
from penstock.intake.admission import Admission, Order
from penstock.model.catalogue import BlobId, CollectionId, Document, DocumentId, Source
from penstock.model.collections import RecreationPolicy
from penstock.model.diagnosis import Disagreement, Flaw, Need
from penstock.model.errors import Broken, Displaced, Fault, Refused, Unavailable
from penstock.model.files import BlobHash, blob_hash
from penstock.model.jobs import Job, JobId
from penstock.model.options import Options, Origin, options_of
from penstock.model.payloads import Content, ItemType, Library
from penstock.model.uploads import Uploaded, uploaded_blob
from penstock.ports.codec import decode_payload
from penstock.ports.database import Transaction
from penstock.settings import RecipeChoice, Settings
from penstock.wiring.collections import rebuilder, recipe_for
from penstock.wiring.intake import last_job
from penstock.wiring.spans import misplaced
from penstock.wiring.store import Store
from penstock.wiring.vectors import open_projection
from penstock.wiring.watching import folders_of

SPARE_SECONDS = 3600.0
"""Bytes captured so lately may be about to be used."""
PAGE = 500
MEND_PRIORITY = 5
STRAYS = "strays"
"""Where in the data folder what was found among the stored bytes is put."""
REBUILT = frozenset(
    {
        Flaw.VERSION_CHUNKS,
        Flaw.CHUNK_VECTORS,
        Flaw.CHUNK_TEXTS,
        Flaw.CHUNK_SPANS,
        Flaw.DOCUMENT_VERSIONLESS,
        Flaw.DOCUMENT_WAITING,
    }
)
"""Flaws that are mended by building their document anew."""


class Audit:
    """One look at everything a data folder keeps."""

    def __init__(self, store: Store, settings: Settings, *, limit: int = 1000) -> None:
        self._store = store
        self._settings = settings
        self._limit = limit
        self._folder = settings.data / "blobs"
        self._blobs = DiskBlobs(self._folder)

    async def flaws(self, *, deep: bool = False) -> list[Disagreement]:
        """Everything that does not agree."""
        declared = tuple(self._settings.collections)
        found = await self._store.auditor.disagreements(limit=self._limit, deep=deep, declared=declared)
        async with open_projection(self._settings, self._store.manifest) as projection:
            found += [] if projection is None else await projection.flaws(limit=self._limit, deep=deep)
        if deep:
            rebuilt = {each.document for each in found if each.flaw in REBUILT}
            found += await self._some(misplaced(self._store.auditor, self._blobs, known=rebuilt))
        # Before the bytes themselves: one may lie where these belong.
        found += [_stray(path) for path in await asyncio.to_thread(self._strays)]
        found += await self._some(self._missing(deep=deep))
        found += await self._some(self._unused())
        left = await asyncio.to_thread(lambda: sum(map(abandoned, self._desks())))
        if left:
            told = f"{left} half-written files of writers that are gone"
            found.append(Disagreement(flaw=Flaw.UNFINISHED_FILES, about=str(left), sentence=told))
        return found

    async def _some(self, flaws: AsyncGenerator[Disagreement, None]) -> list[Disagreement]:
        """As many as are asked for."""
        found: list[Disagreement] = []
        async with aclosing(flaws):
            async for each in flaws:
                found.append(each)
                if len(found) >= self._limit:
                    break
        return found

    async def mend(self, flaws: Sequence[Disagreement]) -> list[bool]:
        """Mend what can be; True for each that is, or will be once a worker has done the job."""
        # The database first: a vector that does not fit must be gone before its document is built anew.
        done = await self._store.auditor.mend(flaws)
        return [is_mended or await self._mended(each) for each, is_mended in zip(flaws, done, strict=True)]

    async def _mended(self, each: Disagreement) -> bool:
        """What cannot be mended keeps nothing else from it; a store that is away keeps all."""
        try:
            return await self._mend(each)
        except Displaced:
            raise
        except (Broken, Refused):
            return False

    async def _mend(self, each: Disagreement) -> bool:
        match each.flaw:
            case flaw if flaw in REBUILT and each.document is not None:
                return await self._build_anew(each.document)
            case Flaw.VECTORS_MISSING | Flaw.VECTORS_DIFFER | Flaw.VECTORS_UNUSED:
                async with open_projection(self._settings, self._store.manifest) as projection:
                    return projection is not None and await projection.mend(each)
            case Flaw.COLLECTION_INDEX:
                await self._store.write(partial(_restore, settings=self._settings, about=each.about))
                return True
            case Flaw.JOB_ASTRAY:
                await self._store.desk.cancel([JobId(each.about)])
                return True
            case Flaw.BLOB_MISSING | Flaw.BLOB_DAMAGED:
                return await self._take_again(each)
            case Flaw.BLOB_UNUSED:
                return await self._let_go(blob_hash(each.about))
            case Flaw.BLOB_FOREIGN:
                await asyncio.to_thread(self._put_aside, each.about)
                return True
            case Flaw.UNFINISHED_FILES:
                for desk in await asyncio.to_thread(self._desks):
                    await DiskMover().sweep(desk)
                return True
            case _:
                return False

    def _strays(self) -> list[Path]:
        before = self._store.clock.now() - SPARE_SECONDS
        return list(islice(strays(self._folder, before=before), self._limit))

    def _put_aside(self, about: str) -> None:
        for path in self._strays():
            if printable(path) == about:
                put_aside(path, self._settings.data / STRAYS)

    def _desks(self) -> list[Path]:
        """The folders files are written in: the blobs' own, and those of the collections."""
        sources = folders_of(self._settings)
        names = sorted(path.name for path in sources.root.glob("*") if path.is_dir())
        return [self._folder / UNFINISHED, *(desk for name in names for desk in sources.all(name))]

    async def _missing(self, *, deep: bool) -> AsyncGenerator[Disagreement, None]:
        after = ""
        while needs := await self._store.auditor.needed(after=after, limit=PAGE):
            after = needs[-1].blob
            for need in needs:
                flaw = await self._state_of(need.blob, deep=deep)
                if flaw is not None and await self._store.catalogue.blob_in_use(BlobId(need.blob)):
                    yield _told(flaw, need)

    async def _state_of(self, blob: str, *, deep: bool) -> Flaw | None:
        try:
            if deep:
                await self._blobs.verify(blob_hash(blob))
            else:
                (await self._blobs.open(blob_hash(blob))).close()
        except Broken as broken:
            return Flaw.BLOB_DAMAGED if broken.code == "ERR_BLOB_DAMAGED" else Flaw.BLOB_MISSING
        except Unavailable as fault:
            if fault.code != "ERR_STORE_UNAVAILABLE":
                raise
            # This one cannot be read, for a bad sector, say; a folder that may not be is another matter.
            return Flaw.BLOB_DAMAGED
        return None

    async def _unused(self) -> AsyncGenerator[Disagreement, None]:
        portion: list[BlobHash] = []
        async for blob in self._blobs.all():
            portion.append(blob.hash)
            if len(portion) == PAGE:
                for each in await self._unused_of(portion):
                    yield each
                portion = []
        for each in await self._unused_of(portion):
            yield each

    async def _unused_of(self, blobs: Sequence[BlobHash]) -> list[Disagreement]:
        found = []
        for blob in await self._store.auditor.unneeded(blobs):
            if await self._is_old(blob_hash(blob)):
                told = f"nothing refers to {blob[:16]}…"
                found.append(Disagreement(flaw=Flaw.BLOB_UNUSED, about=blob, sentence=told))
        return found

    async def _is_old(self, blob: BlobHash) -> bool:
        try:
            async with self._blobs.path_of(blob) as path:
                put_at = (await asyncio.to_thread(path.stat)).st_mtime
        except (Broken, FileNotFoundError):
            return False
        return put_at < self._store.clock.now() - SPARE_SECONDS

    async def _let_go(self, blob: BlobHash) -> bool:
        if await self._store.catalogue.blob_in_use(BlobId(blob)):
            return True
        in_use = partial(self._store.catalogue.blob_in_use, BlobId(blob))
        await self._blobs.remove(blob, before=self._store.clock.now() - SPARE_SECONDS, unless=in_use)
        return True

    async def _take_again(self, each: Disagreement) -> bool:
        """From the file itself, if it still holds these bytes; a kept parse is simply made anew."""
        if each.document is None:
            await self._store.auditor.forget_parse(each.about)
            return True
        document = await self._document(each.document)
        if document is not None and document.source is Source.CONTENT:
            return await self._say_again(document, each.about)
        if document is None or document.source is not Source.FILE:
            return False
        try:
            found = await self._blobs.put_file(
                Path(document.identity), limit=self._settings.limits.file_bytes
            )
        except Fault:
            return False
        if found.hash == each.about:
            return True
        # Other bytes are there now: what is searched should be these.
        return await self._build_anew(document.id)

    async def _say_again(self, document: Document, blob: str) -> bool:
        """A text, from the job that brought it, while that is kept."""
        last = await last_job(self._store, document)
        payload = None if last is None else decode_payload(last.item_type, last.payload_json)
        if not isinstance(payload, Content) or sha256(data := payload.content.encode()).hexdigest() != blob:
            return False
        await self._blobs.put_bytes(data)
        return True

    async def _build_anew(self, document_id: str) -> bool:
        document = await self._document(document_id)
        if document is None:
            return True
        last = await last_job(self._store, document)
        order = Order(
            tenant=document.tenant,
            collection=document.collection_name,
            priority=MEND_PRIORITY,
            options=_anew(last),
            max_retries=self._settings.worker.max_retries,
            branch=document.branch,
        )
        return await self._submit(document, order, last)

    async def _submit(self, document: Document, order: Order, last: Job | None) -> bool:
        admission = Admission(self._store)
        match document.source:
            case Source.FILE:
                await admission.files(order, [document.identity])
            case Source.CONTENT:
                text = await self._text(document)
                if text is None:
                    return False
                await admission.text(order, Content(content=text), name=document.name)
            case Source.LIBRARY:
                await admission.library(order, _library(document, last), name=document.name)
            case Source.UPLOAD:
                blob = uploaded_blob(document.identity)
                if blob is None:
                    return False
                sent = Uploaded(blob=blob, size=document.size or 0, name=document.name)
                await admission.uploads(order, [sent])
        return True

    async def _text(self, document: Document) -> str | None:
        blob = document.blob or await self._store.catalogue.last_bytes(document.id)
        if blob is None:
            return None
        # Other bytes would be another document.
        await self._blobs.verify(blob_hash(blob))
        with await self._blobs.open(blob_hash(blob)) as file:
            return (await asyncio.to_thread(file.read)).decode()

    async def _document(self, document_id: str) -> Document | None:
        """Of any workspace; None if it, or its collection, was deleted meanwhile."""
        found = await self._store.write(lambda tx: tx.documents.get(DocumentId(document_id)))
        return None if found is None or found.hidden else found


def _restore(tx: Transaction, settings: Settings, about: str) -> None:
    """A recipe nobody knows any more is the usual one; the collection answers while it is built anew."""
    usual = recipe_for(settings, RecipeChoice()).to_json()
    restored = tx.shelves.restore(CollectionId(int(about)), usual)
    if restored is not None:
        rebuilder(settings, restored, RecreationPolicy.RECREATE)(tx)


def _anew(last: Job | None) -> Options:
    """As it was treated last, but built anew; nothing is moved, and a file that is gone is no delete."""
    options = Options() if last is None else options_of(last.metadata_json)
    return replace(options, origin=Origin.ASKED, reindex=False, rebuild=True, mark=None, demanded=False)


def _library(document: Document, last: Job | None) -> Library:
    """Where it was taken from; once nobody knows any more, what is kept of it."""
    if last is not None and last.item_type is ItemType.LIBRARY:
        payload = decode_payload(last.item_type, last.payload_json)
        if isinstance(payload, Library):
            return payload
    name, _, version = document.identity.rpartition(":")
    return Library(library_name=name, library_version=version)


def _stray(path: Path) -> Disagreement:
    told = f"{printable(path)} is none of the stored bytes"
    return Disagreement(flaw=Flaw.BLOB_FOREIGN, about=printable(path), sentence=told)


def _told(flaw: Flaw, need: Need) -> Disagreement:
    whose = need.identity or "a kept parse"
    word = "damaged" if flaw is Flaw.BLOB_DAMAGED else "gone"
    return Disagreement(
        flaw=flaw, about=need.blob, sentence=f"the bytes of {whose} are {word}", document=need.document
    )
