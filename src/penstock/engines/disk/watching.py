"""Watching a folder: settled changes, none missed.

News from the kernel only say where to look. Everything is looked at at the start, after lost news, when the
folder itself was away, and once in a while for good measure; where the kernel has no news to give (too many
folders, a network's file system), looking is all there is. Where one cannot look, nothing is told as gone.
"""

from __future__ import annotations

import asyncio
import logging
import os
import stat
from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from penstock.engines.disk.aside import Stop, aside
from penstock.engines.disk.dirt import Dirt, Feed
from penstock.engines.disk.ledger import Files, Ledger, folder_of, within
from penstock.engines.disk.mounts import tells_all_news
from penstock.engines.disk.sieve import Sieve
from penstock.engines.disk.walking import OVERLOOKED_MAX, Walk
from penstock.engines.system.clock import SystemClock
from penstock.model.errors import Fault
from penstock.model.files import Away, Back, Change, FoundFile, Overlooked, Selection
from penstock.ports.clock import Clock

log = logging.getLogger("penstock.watching")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long things take, in seconds."""

    quiet: float = 1.0
    """How long a file must look the same before it is told."""
    poll: float = 5.0
    """How often everything is looked at where no news come, and how often for a folder that is away."""
    rescan: float = 600.0
    """How often everything is looked at although news come."""


class DiskWatcher:
    """Watches folders of this machine."""

    def __init__(self, clock: Clock | None = None, pace: Pace | None = None) -> None:
        self._clock, self._pace = clock or SystemClock(), pace or Pace()

    async def watch(
        self, root: Path, selection: Selection, known: Iterable[FoundFile]
    ) -> AsyncGenerator[tuple[Change, ...], None]:
        """Changes from what is known on, for as long as somebody listens."""
        watch = _Watch(
            root, Sieve.of(selection), Ledger(known, quiet=self._pace.quiet), self._clock, self._pace
        )
        try:
            while True:
                changes = await watch.round()
                if changes:
                    yield changes
                await watch.rest()
        finally:
            watch.feed.stop()


class _Watch:
    """One watched folder."""

    def __init__(self, root: Path, sieve: Sieve, ledger: Ledger, clock: Clock, pace: Pace) -> None:
        self._root, self._sieve, self._ledger = root, sieve, ledger
        self._clock, self._pace = clock, pace
        self._dirt = Dirt()
        self.feed = Feed(self._dirt)
        self._place: tuple[int, int] | None = None
        """Device and inode of the folder while it is there."""
        self._device: int | None = None
        self._is_away = False
        self._looked_at = clock.steady()
        self._complained: set[str] = set()
        self._blind: set[str] = set()
        """Where known files could not be looked at; looked at again soon."""

    async def round(self) -> tuple[Change, ...]:
        """Look where something may have changed, and tell what has settled."""
        place = await aside(lambda _: self._look_for_root())
        if place is None:
            return self._leave()
        changes: tuple[Change, ...] = (Back(root=str(self._root)),) if self._is_away else ()
        if place != self._place:
            self._arrive(place)
        if not await self._look():
            # The folder went while it was looked at; the next round tells.
            return changes
        return changes + self._ledger.settle(self._clock.steady())

    async def rest(self) -> None:
        """Until there is something to do."""
        if self._is_away:
            await asyncio.sleep(self._pace.poll)
            return
        now = self._clock.steady()
        waits = [self._looked_at + (self._pace.rescan if self.feed.is_live else self._pace.poll) - now]
        due = self._ledger.next_due()
        if due is not None:
            waits.append(due - now)
        if self._blind:
            waits.append(self._pace.poll)
        await self._dirt.wait(max(min(waits), 0.0))
        # A burst of news is looked at once; half-way to the quiet time nothing is late.
        await asyncio.sleep(min(self._pace.quiet / 4, 0.1))
        if self._clock.steady() >= self._looked_at + (
            self._pace.rescan if self.feed.is_live else self._pace.poll
        ):
            self._dirt.mark_all()
        self._dirt.mark_places(self._blind)

    def _look_for_root(self) -> tuple[int, int] | None:
        """Device and inode of the folder; None if it is away.

        It is, too, where it stands empty on another disk than before, or from the start though files of it
        are known: most often the disk that belongs there is not.
        """
        try:
            about = os.lstat(self._root)
            if not stat.S_ISDIR(about.st_mode):
                return None
            expected = self._device == about.st_dev or (self._device is None and self._ledger.is_empty)
            if not expected and not os.listdir(self._root):
                return None
        except OSError:
            return None
        return about.st_dev, about.st_ino

    def _leave(self) -> tuple[Change, ...]:
        if self._is_away:
            return ()
        self._is_away, self._place = True, None
        self.feed.stop()
        self._ledger.forget_seen()
        return (Away(root=str(self._root)),)

    def _arrive(self, place: tuple[int, int]) -> None:
        self._is_away, self._place, self._device = False, place, place[0]
        self.feed.is_exhausted = not tells_all_news(self._root)
        if self.feed.is_exhausted:
            self.feed.stop()
        else:
            self.feed.start()
        self._dirt.mark_all()

    async def _look(self) -> bool:
        everything, names, folders = self._dirt.take()
        now = self._clock.steady()
        names |= set(self._ledger.ripe(now))
        try:
            if everything:
                found, blind = await aside(self._walking([str(self._root)]))
                self._compare({str(self._root)}, set(), found, blind, now)
                self._looked_at = self._clock.steady()
            else:
                # What lies below another of them is walked with it.
                outermost = [each for each in sorted(folders) if within(folder_of(each), folders) is None]
                found, blind = await aside(self._walking(outermost, names))
                self._compare(folders, names, found, blind, now)
        except Fault as fault:
            if fault.code != "ERR_FOLDER_NOT_FOUND":
                raise
            self._dirt.mark_all()
            return False
        return True

    def _compare(self, folders: set[str], names: set[str], found: Files, blind: set[str], now: float) -> None:
        paths = names | found.keys() | (self._ledger.below(folders) if folders else set())
        unseen = {path: within(path, blind) for path in paths - found.keys()} if blind else {}
        hidden = {path: place for path, place in unseen.items() if place is not None}
        self._blind = set(hidden.values())
        self._ledger.forget(hidden)
        self._ledger.compare(paths - hidden.keys(), found, now)

    def _walking(
        self, folders: list[str], names: Iterable[str] = ()
    ) -> Callable[[Stop], tuple[Files, set[str]]]:
        """The files of these folders and among these names as they are now, and where one could not look."""

        def work(stop: Stop) -> tuple[Files, set[str]]:
            found: Files = {}
            blind: set[bytes] = set()
            for folder in folders:
                walk = self._walk(stop)
                found |= {file.path: file for file in walk.files(self._below(folder))}
                blind |= walk.blind
                self._complain(walk.overlooked())
            walk = self._walk(stop)
            for name in names:
                stop.look()
                file = walk.look_at(self._below(name)) if name not in found else None
                if file is not None:
                    found[name] = file
            self._complain(walk.overlooked())
            top = os.fsencode(self._root)
            return found, {os.fsdecode(top + b"/" + path if path else top) for path in blind | walk.blind}

        return work

    def _complain(self, overlooked: Iterable[Overlooked]) -> None:
        """Say once of each what nobody will take: whoever put it there waits for it."""
        for each in overlooked:
            if each.path not in self._complained and len(self._complained) < OVERLOOKED_MAX:
                self._complained.add(each.path)
                log.warning("%s is passed over: %s", each.path, each.why)

    def _walk(self, stop: Stop) -> Walk:
        return Walk(root=self._root, sieve=self._sieve, enter=self.feed.follow, stop=stop)

    def _below(self, path: str) -> bytes:
        return os.fsencode(path).removeprefix(os.fsencode(self._root)).lstrip(b"/")
