"""Watching: every collection's incoming folder, and the source folders the configuration names."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from penstock.engines.disk.holding import held
from penstock.engines.disk.moving import DiskMover
from penstock.engines.disk.watching import DiskWatcher
from penstock.intake.admission import Admission
from penstock.intake.incoming import SourceFolders
from penstock.intake.sources import Source, Sources
from penstock.model.catalogue import LOCAL_TENANT, LOCAL_WORKSPACE, Collection, CollectionId
from penstock.model.errors import Fault
from penstock.model.files import Selection
from penstock.model.options import Origin
from penstock.settings import Settings
from penstock.wiring.collections import declare_all
from penstock.wiring.store import Store

log = logging.getLogger("penstock.watching")
LOOK_SECONDS = 3.0
"""How soon a new collection's folders are watched."""
AGAIN_SECONDS = 5.0


def folders_of(settings: Settings) -> SourceFolders:
    """Where the collections' own folders are."""
    return SourceFolders(root=settings.data.absolute() / "sources")


async def watch_sources(settings: Settings, store: Store) -> None:
    """Until cancelled; waits while another process watches for the same data folder."""
    async with held(settings.data / "watch.lock"):
        await _Watch(settings, store).run()


class _Watch:
    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._store = store
        self._admission = Admission(store)
        self._tasks: dict[tuple[CollectionId, Path], asyncio.Task[None]] = {}

    async def run(self) -> None:
        try:
            while True:
                try:
                    await self._look()
                except Fault as fault:
                    log.warning("cannot look for collections: %s", fault.message)
                except OSError as error:
                    log.warning("cannot make the folders of the collections: %s", error)
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _look(self) -> None:
        """Begin with collections that are new, leave those that are gone.

        One that was deleted and made again by the same name is another: nothing of its folders is known.
        """
        wanted = {
            (collection.id, source.root): (collection, source)
            for collection in await declare_all(self._store, self._settings)
            for source in self._sources(collection)
        }
        for key in self._tasks.keys() - wanted.keys():
            self._tasks.pop(key).cancel()
        for key in wanted.keys() - self._tasks.keys():
            self._tasks[key] = asyncio.create_task(self._follow(*wanted[key]))

    def _sources(self, collection: Collection) -> list[Source]:
        folders = folders_of(self._settings)
        for folder in folders.all(collection.name):
            folder.mkdir(parents=True, exist_ok=True)
        found = [
            Source(
                root=folders.incoming(collection.name),
                collection=collection.name,
                tenant=LOCAL_TENANT,
                origin=Origin.INCOMING,
            )
        ]
        declared = self._settings.collections.get(collection.name)
        for source in () if declared is None else declared.sources:
            if source.watch:
                found.append(
                    Source(
                        root=source.path,
                        collection=collection.name,
                        tenant=LOCAL_TENANT,
                        origin=Origin.WATCHED,
                        selection=Selection(
                            patterns=source.patterns,
                            ignore_patterns=source.ignore_patterns,
                            recursive=source.recursive,
                            recursive_depth=source.depth,
                            files_max=self._settings.limits.folder_files,
                        ),
                    )
                )
        return found

    async def _follow(self, collection: Collection, source: Source) -> None:
        """Watch one folder, beginning anew when something goes wrong."""
        watcher, ours = DiskWatcher(self._store.clock), folders_of(self._settings)
        sources = Sources(source, watcher, self._admission, self._store.catalogue, ours)
        while True:
            try:
                for folder in ours.all(collection.name):
                    await DiskMover().sweep(folder)
                await sources.run(LOCAL_WORKSPACE, collection.id)
            except Fault as fault:
                log.warning("cannot watch %s: %s", source.root, fault.message)
            except Exception:
                log.exception("watching %s failed", source.root)
            await asyncio.sleep(AGAIN_SECONDS)
