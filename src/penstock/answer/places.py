"""Where exactly a quotation stands: its own page and headings, not those of the chunk it was found in.

A short document is one chunk, so the chunk knows all its pages and the headings they share, which is too
coarse to look a sentence up by. The kept parse knows the place of every character. It is believed only where
it reads, at the quotation's offsets, as the quotation does; otherwise the chunk's place stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import BinaryIO, Protocol

from penstock.model.answers import Answer, Citation, Findings, Quote
from penstock.model.catalogue import BlobId, Document, DocumentId, WorkspaceId
from penstock.model.errors import Fault
from penstock.model.files import BlobHash
from penstock.model.parsed import Parsed, page_at
from penstock.model.passages import Scope
from penstock.model.sections import Sections
from penstock.ports.blobs import Blobs
from penstock.ports.catalogue import Catalogue
from penstock.ports.codec import decode_parsed

PARSE_BYTES_MAX = 32 * 1024 * 1024
"""A kept parse larger than this is not read for one citation; such a document has many chunks."""


class Whereabouts(Protocol):
    """Knows where files lie that were moved after they were taken in."""

    def has_moved(self, collection: str, identity: str) -> bool: ...

    async def now(self, collection: str, identity: str, blob: BlobId) -> str: ...

    async def documents_at(
        self, catalogue: Catalogue, workspace: WorkspaceId, path: str
    ) -> Sequence[Document]: ...


class Places:
    """Narrows citations down; one for a workspace."""

    def __init__(
        self,
        catalogue: Catalogue,
        workspace: WorkspaceId,
        blobs: Blobs,
        whereabouts: Whereabouts | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._workspace = workspace
        self._blobs = blobs
        self._whereabouts = whereabouts

    async def meant(self, scope: Scope) -> Scope:
        """The same scope; files named by where they or their folder lie now are named by their documents."""
        if scope.path_prefix is None or self._whereabouts is None:
            return scope
        found = await self._whereabouts.documents_at(self._catalogue, self._workspace, scope.path_prefix)
        there = tuple(each.id for each in found if not scope.documents or each.id in scope.documents)
        return replace(scope, path_prefix=None, documents=there) if there else scope

    async def narrowed(self, answer: Answer) -> Answer:
        """The same answer; what it quotes is cited by its own place, in the file where that lies now."""
        citations = [await self._narrow(each) for each in answer.citations]
        return replace(
            answer,
            citations=tuple(
                [
                    replace(each, identity=await self._lies(each.document, each.collection, each.identity))
                    for each in citations
                ]
            ),
        )

    async def located(self, findings: Findings) -> Findings:
        """The same findings; a file that was moved is named where it lies now."""
        heads = {hit.head.document: hit.head for hit in findings.hits}
        lies = {
            document: await self._lies(document, head.collection, head.identity)
            for document, head in heads.items()
        }
        return replace(
            findings,
            hits=tuple(
                replace(hit, parts=tuple(replace(part, identity=lies[part.document]) for part in hit.parts))
                for hit in findings.hits
            ),
        )

    async def _lies(self, document: DocumentId, collection: str, identity: str) -> str:
        if self._whereabouts is None or not self._whereabouts.has_moved(collection, identity):
            return identity
        found = await self._catalogue.document(self._workspace, document)
        if found is None or found.blob is None:
            return identity
        return await self._whereabouts.now(collection, identity, found.blob)

    async def _narrow(self, citation: Citation) -> Citation:
        if not citation.quotes:
            return citation
        try:
            parsed = await self._parsed(citation.document, citation.quotes)
        except Fault:
            return citation
        return citation if parsed is None else placed(citation, parsed)

    async def _parsed(self, document: DocumentId, quotes: Sequence[Quote]) -> Parsed | None:
        found = await self._catalogue.document(self._workspace, document)
        if found is None or found.blob is None:
            return None
        for kept in await self._catalogue.parses(found.blob):
            parsed = await self._read(kept.result)
            if parsed and all(parsed.text[each.start : each.end] == each.text for each in quotes):
                return parsed
        return None

    async def _read(self, result: BlobId) -> Parsed | None:
        file = await self._blobs.open(BlobHash(result))
        return await asyncio.to_thread(_decoded, file)


def _decoded(file: BinaryIO) -> Parsed | None:
    with file:
        data = file.read(PARSE_BYTES_MAX + 1)
    return decode_parsed(data) if len(data) <= PARSE_BYTES_MAX else None


def placed(citation: Citation, parsed: Parsed) -> Citation:
    """The citation at the pages of its quotes, under the headings all of them stand under."""
    quotes = tuple(
        replace(
            each,
            page_first=page_at(parsed.pages, each.start),
            page_last=page_at(parsed.pages, each.end - 1),
        )
        for each in citation.quotes
    )
    pages = [page for each in quotes for page in (each.page_first, each.page_last) if page is not None]
    sections = Sections(parsed.headings)
    paths = [sections.titles(each.start, each.end)[0] for each in quotes]
    return replace(
        citation,
        quotes=quotes,
        pages=(min(pages), max(pages)) if pages else None,
        headings=_shared(paths),
    )


def _shared(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    shared: list[str] = []
    for titles in zip(*paths, strict=False):
        if len(set(titles)) > 1:
            break
        shared.append(titles[0])
    return tuple(shared)
