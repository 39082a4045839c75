"""A document's text as it is stored: what chunks are cut from and quotations are taken from."""

from __future__ import annotations

import asyncio

from penstock.model.browsing import ShownChunk
from penstock.model.catalogue import BlobId, Document, DocumentId, DocumentState, WorkspaceId
from penstock.model.files import BlobHash
from penstock.model.parsed import Parsed
from penstock.ports.blobs import Blobs
from penstock.ports.browsing import Browser
from penstock.ports.catalogue import Catalogue
from penstock.ports.codec import decode_parsed


class Texts:
    """Reads kept parses."""

    def __init__(self, catalogue: Catalogue, browser: Browser, blobs: Blobs) -> None:
        self._catalogue = catalogue
        self._browser = browser
        self._blobs = blobs

    async def text_of(self, workspace: WorkspaceId, document: DocumentId) -> str | None:
        """The text readers see, else the one that was parsed last; None until there is one.

        Equal bytes may have been parsed under several names, each its own way: the chunks tell which it is.
        """
        found = await self._catalogue.document(workspace, document)
        # That somebody else's equal bytes were parsed already is nobody's business.
        if found is None or (found.version is None and found.state is not DocumentState.PARSED):
            return None
        first = await self._first_chunk(workspace, found)
        blob = found.blob or await self._catalogue.last_bytes(found.id)
        for kept in [] if blob is None else await self._catalogue.parses(blob):
            parsed = await self._read(kept.result)
            if first is None or parsed.text[first.chunk.start : first.chunk.end] == first.text:
                return parsed.text
        return None

    async def _first_chunk(self, workspace: WorkspaceId, document: Document) -> ShownChunk | None:
        if document.version is None:
            return None
        chunks = await self._browser.chunks(workspace, document.version, limit=1)
        return chunks[0] if chunks else None

    async def _read(self, result: BlobId) -> Parsed:
        file = await self._blobs.open(BlobHash(result))
        with file:
            return decode_parsed(await asyncio.to_thread(file.read))
