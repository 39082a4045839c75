"""Sources: folders that are watched, so that what people do with their files becomes jobs.

A collection's incoming folder is ours: what is dropped there is taken in and moved away. A source folder is
the user's own: it is only read, and kept in step. One process watches for a data folder at a time; what
changed while none did is found by comparing with what the catalogue knows.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import assert_never

from penstock.intake.admission import Admission, Order
from penstock.intake.incoming import SourceFolders
from penstock.model.catalogue import CollectionId, WorkspaceId
from penstock.model.errors import Exhausted, Unavailable
from penstock.model.files import (
    Appeared,
    Away,
    Back,
    Change,
    FoundFile,
    Modified,
    Moved,
    Selection,
    Vanished,
    file_of,
    mark_of,
)
from penstock.model.jobs import Operation, TenantId
from penstock.model.options import Options, Origin
from penstock.model.payloads import Rename
from penstock.ports.catalogue import Catalogue
from penstock.ports.files import Watcher

log = logging.getLogger("penstock.sources")
WATCH_PRIORITY = 5
"""Normal file watcher events, by the guideline."""
PAGE = 500
PAUSE_SECONDS = 1.0
PAUSE_SECONDS_MAX = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A folder that is watched for a collection."""

    root: Path
    collection: str
    tenant: TenantId
    origin: Origin
    selection: Selection = field(default_factory=Selection)


class Sources:
    """Turns what happens in one folder into jobs."""

    def __init__(
        self,
        source: Source,
        watcher: Watcher,
        admission: Admission,
        catalogue: Catalogue,
        ours: SourceFolders,
    ) -> None:
        """What was dropped into one of `ours` and moved away is not missed where the root is around them."""
        self._ours = ours
        self._source = source
        self._watcher = watcher
        self._admission = admission
        self._catalogue = catalogue
        options = Options(origin=source.origin, root=str(source.root))
        self._order = Order(
            tenant=source.tenant,
            collection=source.collection,
            priority=WATCH_PRIORITY,
            options=options,
        )

    async def run(self, workspace: WorkspaceId, collection: CollectionId) -> None:
        """Watch until cancelled; a store that is away is waited for, and nothing told is dropped."""
        known = [file async for file in self._known(workspace, collection)]
        watch = self._watcher.watch(self._source.root, self._source.selection, known)
        async with aclosing(watch):
            async for changes in watch:
                await self._take(changes)

    async def _known(self, workspace: WorkspaceId, collection: CollectionId) -> AsyncIterator[FoundFile]:
        """The files under the root as they looked when they were taken in."""
        if self._source.origin is Origin.INCOMING:
            return  # what still lies there was not taken, or not moved yet
        after = None
        while True:
            page = await self._catalogue.documents(
                workspace, collection=collection, under=str(self._source.root), after=after, limit=PAGE
            )
            if not page:
                return
            after = page[-1].identity
            names = [
                document.identity
                for document in page
                if document.tenant == self._source.tenant and not self._ours.took(document)
            ]
            marks = await self._catalogue.marks(self._source.tenant, collection, names)
            for name in names:
                yield file_of(name, marks.get(name, "")) or FoundFile(path=name, size=-1, mtime_ns=0, inode=0)

    async def _take(self, changes: Sequence[Change]) -> None:
        """Submit what the changes mean, in order; alike neighbours go together."""
        pause = PAUSE_SECONDS
        while True:
            try:
                return await self._submit(changes)
            except (Unavailable, Exhausted) as fault:
                log.warning("cannot submit changes under %s: %s", self._source.root, fault.message)
                await asyncio.sleep(pause)
                pause = min(pause * 2, PAUSE_SECONDS_MAX)

    async def _submit(self, changes: Sequence[Change]) -> None:
        files: list[FoundFile] = []
        for change in changes:
            match change:
                case Appeared(file=file) | Modified(file=file):
                    files.append(file)
                    continue
                case _:
                    await self._ingest(files)
                    files = []
            match change:
                case Moved(old=old, file=file):
                    await self._moved(old, file)
                case Vanished(path=path):
                    await self._vanished(path)
                case Away(root=root):
                    log.warning("%s is gone or empty; its documents stay until it is back or deleted", root)
                case Back(root=root):
                    log.info("%s is back", root)
                case _:
                    assert_never(change)
        await self._ingest(files)

    async def _ingest(self, files: Sequence[FoundFile]) -> None:
        if files:
            marks = {file.path: mark_of(file) for file in files}
            await self._admission.files(self._order, list(marks), marks=marks)

    async def _moved(self, old: str, file: FoundFile) -> None:
        if self._source.origin is Origin.INCOMING:
            await self._ingest([file])
        else:
            rename = Rename(old_path=old, new_path=file.path)
            await self._admission.job(self._order, rename, Operation.UPDATE, mark=mark_of(file))

    async def _vanished(self, path: str) -> None:
        if self._source.origin is not Origin.INCOMING:
            await self._admission.removals(self._order, [path])
