"""Where a dropped file lies now: its document keeps the path it was dropped at, which is empty afterwards.

People are shown where the file lies, so that is what they call it by: the way back is found here too.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from penstock.intake.incoming import SourceFolders
from penstock.model.catalogue import BlobId, Document, Source, WorkspaceId
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
        """The documents whose file lies there since it was moved; empty where none was moved there."""
        name = self._folders.finished_in(Path(path))
        collection = None if name is None else await catalogue.collection(workspace, name)
        if collection is None:
            return []
        found: list[Document] = []
        under, after = str(self._folders.incoming(collection.name)), None
        while page := await catalogue.documents(
            workspace, collection=collection.id, source=Source.FILE, under=under, after=after, limit=PAGE
        ):
            after = page[-1].identity
            found += [each for each in page if await self._lies_at(each, Path(path))]
        return found

    async def _lies_at(self, document: Document, path: Path) -> bool:
        if document.name not in (path.name, _NUMBER.sub("", path.name)) or document.blob is None:
            return False
        if not self.has_moved(document.collection_name, document.identity):
            return False
        return await self.now(document.collection_name, document.identity, document.blob) == str(path)
