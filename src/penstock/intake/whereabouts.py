"""Where a dropped file lies now: its document keeps the path it was dropped at, which is empty afterwards."""

from __future__ import annotations

import os
from pathlib import Path

from penstock.intake.incoming import SourceFolders
from penstock.model.catalogue import BlobId
from penstock.model.errors import Fault
from penstock.model.files import blob_hash
from penstock.ports.files import Mover

SIZE_MAX = 16 * 1024 * 1024
"""A larger file is not read through to tell whether it is the one."""


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
