"""What a job made of its document: the numbers its records and its status tell."""

from __future__ import annotations

from functools import partial

from penstock.model.catalogue import Document, DocumentId
from penstock.model.jobs import JobId
from penstock.model.records import Yield
from penstock.ports.catalogue import Catalogue
from penstock.ports.database import Database, Transaction


class Yields:
    """Looked up in the catalogue, by job."""

    def __init__(self, database: Database, catalogue: Catalogue) -> None:
        self._database = database
        self._catalogue = catalogue

    async def of(self, job: JobId) -> Yield:
        """Nothing where the job had no document, or its document no version."""
        return await self.of_document(await self.document(job))

    async def of_document(self, document: Document | None) -> Yield:
        """The same of a document that was looked up already."""
        if document is None or document.version is None:
            return Yield()
        tokens = await self._catalogue.tokens(document.version)
        return Yield(chunks=document.chunks, embeddings=document.chunks, tokens=tokens)

    async def document(self, job: JobId) -> Document | None:
        """The document a job is about."""
        for stage in await self._catalogue.stages_of_job(job):
            found = await self._database.write(partial(_find, document=stage.document))
            if found is not None:
                return found
        return None


def _find(tx: Transaction, document: DocumentId) -> Document | None:
    return tx.documents.get(document)
