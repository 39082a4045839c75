"""Where a dropped file lies now: its document keeps the path it was dropped at, which is empty afterwards.

People are shown where the file lies, so that is what they call it by: the way back is found here too.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path

from penstock.intake.incoming import SourceFolders
from penstock.model.catalogue import BlobId, Document, DocumentState, Source, WorkspaceId
from penstock.model.errors import Fault
from penstock.model.files import blob_hash
from penstock.ports.catalogue import Catalogue
from penstock.ports.files import Mover

SIZE_MAX = 16 * 1024 * 1024
"""A larger file is not read through to tell whether it is the one."""
PAGE = 500
_NUMBER = re.compile(r" \([0-9]+\)(?=(\.[^.]*)?$)")
"""What a move adds to a name that was taken."""


class Whereabouts:
    """Finds files that were moved from incoming to processed."""

    def __init__(self, folders: SourceFolders, mover: Mover) -> None:
        self._folders = folders
        self._mover = mover

    def has_moved(self, collection: str, identity: str) -> bool:
        """Was it dropped into the collection's incoming folder, and is it there no more?"""
        return self._folders.holds(collection, Path(identity)) and not os.path.lexists(identity)

    async def now(self, collection: str, identity: str, blob: BlobId) -> str:
        """The path of the moved file, by its bytes; its name alone where it cannot be told."""
        name = Path(identity).name
        folder = self._folders.outcome(collection, done=True)
        try:
            found = await self._mover.find(folder, name, digest=blob_hash(blob), size_max=SIZE_MAX)
        except Fault:
            found = None
        return name if found is None else str(found)

    async def documents_at(self, catalogue: Catalogue, workspace: WorkspaceId, path: str) -> list[Document]:
        """The documents whose file lies there, or in that folder, since it was moved; often none."""
        there = Path(path)
        if (name := self._folders.finished_in(there)) is not None:
            return [
                document
                async for page in self._dropped(catalogue, workspace, name)
                for document in page
                if await self._lies_at(document, there)
            ]
        if (name := self._folders.finishing_in(there)) is None:
            return []
        moved = [
            document
            async for page in self._dropped(catalogue, workspace, name)
            for document in await asyncio.to_thread(self._moved, page)
        ]
        names, files = await asyncio.to_thread(_names_in, there)
        called = Counter(self._mover.fitting(each.name) for each in moved if _is_in(each))
        return [
            document
            for document in moved
            if (known := self._mover.fitting(document.name)) in files
            and (
                (_is_in(document) and known in names and files[known] == called[known] == 1)
                or await self._lies_in(document, there)
            )
        ]

    async def _dropped(
        self, catalogue: Catalogue, workspace: WorkspaceId, name: str
    ) -> AsyncIterator[list[Document]]:
        """The documents of a collection that were dropped into its incoming folder, page by page."""
        collection = await catalogue.collection(workspace, name)
        if collection is None:
            return
        under, after = str(self._folders.incoming(name)), None
        while page := await catalogue.documents(
            workspace, collection=collection.id, source=Source.FILE, under=under, after=after, limit=PAGE
        ):
            after = page[-1].identity
            yield page

    def _moved(self, documents: Sequence[Document]) -> list[Document]:
        return [each for each in documents if self.has_moved(each.collection_name, each.identity)]

    async def _lies_in(self, document: Document, folder: Path) -> bool:
        """By its bytes: several files, or documents, may be called so."""
        if document.blob is None:
            return False
        now = await self.now(document.collection_name, document.identity, document.blob)
        return Path(now).parent == folder

    async def _lies_at(self, document: Document, path: Path) -> bool:
        known = self._mover.fitting(document.name)
        if known not in (path.name, _NUMBER.sub("", path.name)) or document.blob is None:
            return False
        if not self.has_moved(document.collection_name, document.identity):
            return False
        return await self.now(document.collection_name, document.identity, document.blob) == str(path)


def _is_in(document: Document) -> bool:
    """Whether its file went where those go that are ingested; one in error may lie elsewhere."""
    return document.state is DocumentState.INGESTED


def _names_in(folder: Path) -> tuple[set[str], Counter[str]]:
    """Its files' names, and how many may be called so, for all the names a move may have brought there."""
    names, found = set[str](), Counter[str]()
    with suppress(OSError, ValueError):  # what no path can be holds nothing
        for name in os.listdir(folder):
            names.add(name)
            found.update({name, _NUMBER.sub("", name)})
    return names, found
