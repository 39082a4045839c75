"""How each kind of debt is paid: purges, bytes let go, collections rebuilt."""

from __future__ import annotations

import asyncio
import uuid
from functools import partial
from typing import assert_never

from penstock.model.catalogue import BlobId, Debt, Document, GenerationId, Source
from penstock.model.errors import Broken
from penstock.model.files import BlobHash, blob_hash
from penstock.model.jobs import JobId, NewJob
from penstock.model.options import Options, Origin
from penstock.model.payloads import Content, File, Library, Payload
from penstock.pipeline.payer import Later
from penstock.pipeline.workshop import Workshop
from penstock.ports.clock import Clock
from penstock.ports.database import Transaction

SPARE_SECONDS = 2.0
"""Bytes captured so lately may be about to be used."""
PORTION = 200
REBUILD_LOOK_SECONDS = 2.0
REBUILD_PRIORITY = 0
"""Deferred and bulk, by the guideline: a rebuild must not stand before what people wait for."""


class Payments:
    """What the payer does for the catalogue's debts."""

    def __init__(self, shop: Workshop, clock: Clock) -> None:
        self._shop = shop
        self._clock = clock

    async def purge(self, debt: Debt) -> bool:
        """A portion of a purge."""
        return await self._shop.catalogue.purge(debt)

    async def free_blob(self, debt: Debt) -> bool:
        """Let bytes go, unless something refers to them or has just captured them again."""
        blob = blob_hash(debt.about)
        if await self._shop.catalogue.unused_blobs([BlobId(blob)]):
            before = self._clock.now() - SPARE_SECONDS
            removed = await self._shop.blobs.remove(blob, before=before)
            if not removed and await self._is_there(blob):
                raise Later(SPARE_SECONDS)
        await self._paid(debt)
        return True

    async def _is_there(self, blob: BlobHash) -> bool:
        try:
            file = await self._shop.blobs.open(blob)
        except Broken:
            return False
        file.close()
        return True

    async def rebuild(self, debt: Debt) -> bool:
        """See to it that each document is built into the new generation; swap when all are."""
        generation = GenerationId(int(debt.about))
        if await self._shop.database.write(lambda tx: _swapped(tx, debt, generation)):
            return True
        after = ""
        while unbuilt := await self._shop.catalogue.unbuilt(generation, after=after, limit=PORTION):
            jobs = [await self._job(generation, document) for document in unbuilt]
            await self._shop.database.write(partial(_submit, jobs=jobs))
            after = unbuilt[-1].identity
        raise Later(REBUILD_LOOK_SECONDS)

    async def _job(self, generation: GenerationId, document: Document) -> NewJob:
        """The job that builds a document into the generation, from its kept bytes; always the same one."""
        seed = f"rebuild:{generation}:{document.id}:{document.blob}"
        return NewJob(
            id=JobId(str(uuid.uuid5(uuid.NAMESPACE_URL, seed))),
            tenant=document.tenant,
            collection=document.collection_name,
            payload=await self._payload(document),
            priority=REBUILD_PRIORITY,
            branch=document.branch,
            metadata=Options(origin=Origin.SCANNED, reindex=True).as_metadata(),
        )

    async def _payload(self, document: Document) -> Payload:
        match document.source:
            case Source.FILE:
                return File(file_path=document.identity)
            case Source.LIBRARY:
                name, _, version = document.identity.rpartition(":")
                return Library(library_name=name, library_version=version)
            case Source.CONTENT:
                file = await self._shop.blobs.open(blob_hash(document.blob or ""))
                with file:
                    return Content(content=(await asyncio.to_thread(file.read)).decode())
            case _:
                assert_never(document.source)

    async def _paid(self, debt: Debt) -> None:
        await self._shop.database.write(lambda tx: tx.debts.paid(debt))


def _swapped(tx: Transaction, debt: Debt, generation: GenerationId) -> bool:
    """True when the rebuild has come to its end: swapped, given up, or overtaken by another."""
    found = tx.shelves.generation(generation)
    if found is not None and tx.shelves.is_building(generation) and not tx.shelves.swap(found.collection):
        return False
    tx.debts.paid(debt)
    return True


def _submit(tx: Transaction, jobs: list[NewJob]) -> None:
    tx.submit(jobs)
