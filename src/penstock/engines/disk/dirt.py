"""Where something may have changed: single names, whole folders, or everything; never more than a bound."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress

from penstock.engines.disk.inotify import Inotify, Lost, Notice
from penstock.model.ignoring import IGNORE_FILES

PLACES_MAX = 10_000
"""Names and folders that are remembered one by one; beyond, all is looked at."""


class Dirt:
    """What is to be looked at again, and a bell that rings when there is some."""

    def __init__(self) -> None:
        self.everything = True
        self.names: set[str] = set()
        self.folders: set[str] = set()
        self._bell = asyncio.Event()

    def mark_all(self) -> None:
        """Nobody knows what changed."""
        self.everything = True
        self._bell.set()

    def mark(self, notice: Notice) -> None:
        """Something happened to that name."""
        if not self.everything:
            self._remember(notice)
        self._bell.set()

    def mark_places(self, places: Iterable[str]) -> None:
        """Something may have happened there, or below."""
        if not self.everything:
            self.names.update(places)
            self.folders.update(places)

    def _remember(self, notice: Notice) -> None:
        path = f"{notice.folder}/{notice.name}" if notice.name else notice.folder
        if notice.name in IGNORE_FILES:
            self.folders.add(notice.folder)
        else:
            self.names.add(path)
            if notice.is_folder:
                self.folders.add(path)
        if len(self.names) + len(self.folders) > PLACES_MAX:
            self.everything, self.names, self.folders = True, set(), set()

    def take(self) -> tuple[bool, set[str], set[str]]:
        """Everything?, names and folders; from now on there is none."""
        taken = self.everything, self.names, self.folders
        self.everything, self.names, self.folders = False, set(), set()
        self._bell.clear()
        return taken

    async def wait(self, seconds: float) -> None:
        """Until the bell rings, or so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._bell.wait()


class Feed:
    """Brings the kernel's news to the dirt, as long as it can."""

    def __init__(self, dirt: Dirt) -> None:
        self._dirt = dirt
        self._inotify: Inotify | None = None
        self._loop = asyncio.get_running_loop()
        self.is_exhausted = False

    @property
    def is_live(self) -> bool:
        """Whether news come by themselves; otherwise one must look."""
        return self._inotify is not None and not self.is_exhausted

    def start(self) -> None:
        """Listen from now on; without a descriptor to be had, one will have to look."""
        self.stop()
        try:
            self._inotify = Inotify()
        except OSError:
            self.is_exhausted = True
            return
        self._loop.add_reader(self._inotify.fileno(), self._read, self._inotify)

    def follow(self, folder: str) -> None:
        """Listen to a folder too; called from the thread that walks."""
        if self._inotify is not None and not self.is_exhausted:
            try:
                self._inotify.add(folder)
            except OSError:
                self.is_exhausted = True

    def stop(self) -> None:
        """Listen no more."""
        if self._inotify is not None:
            self._loop.remove_reader(self._inotify.fileno())
            self._inotify.close()
            self._inotify = None

    def _read(self, inotify: Inotify) -> None:
        try:
            for notice in inotify.read():
                self._dirt.mark(notice)
        except Lost:
            self._dirt.mark_all()
