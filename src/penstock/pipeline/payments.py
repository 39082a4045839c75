"""How each kind of debt is paid: purges, bytes let go, collections rebuilt."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import assert_never

from penstock.model.catalogue import (
    BlobId,
    Debt,
    Document,
    DocumentId,
    DocumentState,
    GenerationId,
    NewDebt,
    Source,
)
from penstock.model.errors import Broken
from penstock.model.files import BlobHash, blob_hash, is_blob_hash
from penstock.model.jobs import JobId, NewJob
from penstock.model.options import Options, Origin
from penstock.model.payloads import Content, File, Library, Payload
from penstock.pipeline.payer import Later
from penstock.pipeline.projection import Projection, points_debt, space_debt, space_of, subject_of
from penstock.pipeline.workshop import Workshop
from penstock.ports.clock import Clock
from penstock.ports.database import Transaction

log = logging.getLogger("penstock.payments")
SPARE_SECONDS = 2.0
"""Bytes captured so lately may be about to be used."""
PORTION = 200
PURGE_LOOK_SECONDS = 1.0
REBUILD_LOOK_SECONDS = 2.0
REBUILD_PRIORITY = 0
"""Deferred and bulk, by the guideline: a rebuild must not stand before what people wait for."""


class Payments:
    """What the payer does for the catalogue's debts."""

    def __init__(self, shop: Workshop, clock: Clock) -> None:
        self._shop = shop
        self._clock = clock

    async def purge(self, debt: Debt) -> bool:
        """A portion of a purge; what it leaves outside the database is owed before it begins."""
        if self._shop.projection is not None:
            await self._shop.database.write(lambda tx: tx.debts.owe(points_debt(debt)))
        return await self._shop.catalogue.purge(debt)

    async def purge_points(self, debt: Debt) -> bool:
        """Remove the points whose chunks were purged, once they are; nothing where none are kept outside."""
        projection = self._shop.projection
        if projection is not None and not await self._purge_points(projection, debt):
            raise Later(PURGE_LOOK_SECONDS)
        await self._paid(debt)
        return True

    async def _purge_points(self, projection: Projection, debt: Debt) -> bool:
        if (space := space_of(debt)) is not None:
            return await projection.let_go(space)
        if not await projection.is_purged(debt):
            return False
        await projection.clear(subject_of(debt))
        for unneeded in await projection.unneeded():
            await self._shop.database.write(partial(_owe, debt=space_debt(unneeded)))
        return True

    async def free_blob(self, debt: Debt) -> bool:
        """Let bytes go, unless something refers to them, is about to, or has just captured them again."""
        if is_blob_hash(debt.about):  # what somebody wrote by hand may be none
            await self._let_go(blob_hash(debt.about))
        await self._paid(debt)
        return True

    async def _let_go(self, blob: BlobHash) -> None:
        if not await self._in_use(blob):
            before = self._clock.now() - SPARE_SECONDS
            removed = await self._shop.blobs.remove(blob, before=before, unless=partial(self._in_use, blob))
            if not removed and await self._is_there(blob):
                raise Later(SPARE_SECONDS)

    async def _in_use(self, blob: BlobHash) -> bool:
        return await self._shop.catalogue.blob_in_use(BlobId(blob))

    async def _is_there(self, blob: BlobHash) -> bool:
        try:
            file = await self._shop.blobs.open(blob)
        except Broken:
            return False
        file.close()
        return True

    async def rebuild(self, debt: Debt) -> bool:
        """See to it that each document is built into the new generation; swap when all are or have failed."""
        generation = GenerationId(int(debt.about))
        if await self._shop.database.write(lambda tx: _swapped(tx, debt, generation)):
            return True
        async for unbuilt in self._unbuilt(generation):
            jobs = [(document.id, await self._job(generation, document)) for document in unbuilt]
            await self._shop.database.write(partial(_submit, jobs=jobs))
        # Those that still have no job at work on them had theirs, and it failed for good.
        failed = [
            document
            async for unbuilt in self._unbuilt(generation)
            for document in unbuilt
            if document.state is DocumentState.ERROR
        ]
        if failed and await self._end(debt, generation, failed):
            return True
        raise Later(REBUILD_LOOK_SECONDS)

    async def _unbuilt(self, generation: GenerationId) -> AsyncIterator[list[Document]]:
        after = ""
        while unbuilt := await self._shop.catalogue.unbuilt(generation, after=after, limit=PORTION):
            yield unbuilt
            after = unbuilt[-1].identity

    async def _end(self, debt: Debt, generation: GenerationId, failed: Sequence[Document]) -> bool:
        """End a rebuild some documents failed in, once nobody works for it any more (decision 10).

        They keep their last good version where its vectors fit. Where more failed than were built, the recipe
        is at fault and not they: the old generation goes on answering.
        """
        collection = failed[0].collection
        seen, built = await self._shop.database.write(lambda tx: tx.shelves.coverage(collection))
        if seen - built > len(failed):
            return False
        if len(failed) > built:
            log.warning("the rebuild of %s is given up: %d of %d failed", collection, len(failed), seen)
            return await self._shop.database.write(lambda tx: _given_up(tx, debt, generation))
        for document in failed:
            await self._carry(document, generation)
        return await self._shop.database.write(lambda tx: _swapped(tx, debt, generation, without=failed))

    async def _carry(self, document: Document, generation: GenerationId) -> None:
        """Let the last good version of a document answer in the new generation too, if its vectors fit."""
        version = await self._shop.database.write(lambda tx: tx.documents.carry(document.id, generation))
        if version is None:
            return
        if self._shop.projection is not None:
            await self._shop.projection.put(version.id)
        await self._shop.database.write(
            lambda tx: tx.documents.publish(version.id, chunks=version.chunks, carried=True)
        )

    async def _job(self, generation: GenerationId, document: Document) -> NewJob:
        """The job that builds a document into the generation, from its kept bytes; always the same one."""
        payload = await self._payload(document)
        seed = f"rebuild:{generation}:{document.id}:{document.blob}"
        return NewJob(
            id=JobId(str(uuid.uuid5(uuid.NAMESPACE_URL, seed))),
            tenant=document.tenant,
            collection=document.collection_name,
            payload=payload,
            priority=REBUILD_PRIORITY,
            branch=document.branch,
            document_id=None if _names(document) else document.id,
            metadata=Options(origin=Origin.SCANNED, reindex=True).as_metadata(),
        )

    async def _payload(self, document: Document) -> Payload:
        match document.source:
            case Source.FILE | Source.UPLOAD:
                return File(file_path=document.identity)
            case Source.LIBRARY:
                name, _, version = document.identity.rpartition(":")
                return Library(library_name=name, library_version=version)
            case Source.CONTENT:
                return Content(content=await self._text(document))
            case _:
                assert_never(document.source)

    async def _text(self, document: Document) -> str:
        """What was given as text; where it is gone, the job says so when it looks for it."""
        try:
            file = await self._shop.blobs.open(blob_hash(document.blob or ""))
        except Broken:
            return f"the text of {document.id} is gone"
        with file:
            return (await asyncio.to_thread(file.read)).decode()

    async def _paid(self, debt: Debt) -> None:
        await self._shop.database.write(lambda tx: tx.debts.paid(debt))


def _owe(tx: Transaction, debt: NewDebt) -> None:
    tx.debts.owe(debt)


def _names(document: Document) -> bool:
    """Whether a job is ordered by what its payload says; those on uploads and texts are by their document."""
    return document.source in (Source.FILE, Source.LIBRARY)


def _swapped(
    tx: Transaction, debt: Debt, generation: GenerationId, *, without: Sequence[Document] = ()
) -> bool:
    """True when the rebuild has come to its end: swapped, given up, or overtaken by another."""
    found = tx.shelves.generation(generation)
    if (
        found is not None
        and tx.shelves.is_building(generation)
        and not tx.shelves.swap(found.collection, without=[document.id for document in without])
    ):
        return False
    tx.debts.paid(debt)
    return True


def _given_up(tx: Transaction, debt: Debt, generation: GenerationId) -> bool:
    found = tx.shelves.generation(generation)
    if found is not None and tx.shelves.is_building(generation):
        tx.shelves.abandon(found.collection)
    tx.debts.paid(debt)
    return True


def _submit(tx: Transaction, jobs: Sequence[tuple[DocumentId, NewJob]]) -> None:
    receipts = tx.submit([job for _, job in jobs])
    for (document, _), receipt in zip(jobs, receipts, strict=True):
        tx.stages.expect(document, receipt.job_id)
