"""Names from git become found files: looked at on the disk, without following a link anywhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from penstock.engines.disk.aside import Stop
from penstock.engines.disk.ignores import IgnoreFileUnusable, Ignores
from penstock.engines.disk.opening import FOLDER
from penstock.engines.disk.sieve import Sieve
from penstock.engines.disk.walking import (
    OVERLOOKED_MAX,
    PORTION,
    found_file,
    open_root,
    overlooked,
    oversight_of,
    too_large,
)
from penstock.model.files import FoundFile, Overlooked, Oversight, Portion

OURS = (".penstockignore",)
"""Git has read its own ignore files already."""


@dataclass(slots=True, kw_only=True)
class _Rung:
    """A folder on the way down; without a descriptor, nothing below it is wanted."""

    part: bytes
    folder: int | None
    ignores: Ignores


@dataclass(slots=True, kw_only=True)
class Listing:
    """One pass over names in order; used by one thread at a time."""

    root: Path
    sieve: Sieve
    stop: Stop = field(default_factory=Stop)
    _rungs: list[_Rung] = field(default_factory=list)
    _found: int = 0
    _complaints: int = 0
    _files: list[FoundFile] = field(default_factory=list)
    _overlooked: list[Overlooked] = field(default_factory=list)

    def step(self, portions: Iterator[Portion]) -> Callable[[Stop], Portion | None]:
        """The next portion as work for a thread; None at the end."""

        def work(stop: Stop) -> Portion | None:
            self.stop = stop
            return next(portions, None)

        return work

    def portions(self, names: Iterable[bytes]) -> Generator[Portion, None, None]:
        """The wanted files among the names, which come sorted by their parts."""
        try:
            self._rungs.append(self._rung(b"", open_root(self.root), Ignores(), b""))
            for name in names:
                self.stop.look()
                self._take(name)
                if len(self._files) >= PORTION:
                    yield self._portion()
            if self._files or self._overlooked:
                yield self._portion()
        finally:
            while self._rungs:
                self._leave()

    def _take(self, name: bytes) -> None:
        *folders, last = name.rstrip(b"/").split(b"/")
        if len(folders) > self.sieve.selection.depth or not last or b".." in folders:
            return
        rung = self._climb(folders)
        if rung.folder is None:
            return
        text, path = os.fsdecode(last), name.rstrip(b"/")
        try:
            about = os.stat(text, dir_fd=rung.folder, follow_symlinks=False)
        except FileNotFoundError:
            return
        except OSError as error:
            self._overlook(path, oversight_of(error))
            return
        if stat.S_ISDIR(about.st_mode):
            # Git names a folder instead of its files when another repository owns them.
            if self.sieve.enters(text, path):
                self._overlook(path, Oversight.OTHER_REPOSITORY)
        elif stat.S_ISREG(about.st_mode) and self._wanted(text, path, rung.ignores):
            self._add(path, about)

    def _wanted(self, name: str, path: bytes, ignores: Ignores) -> bool:
        return self.sieve.takes(name, path) and not ignores.leaves_out(path, is_folder=False)

    def _add(self, path: bytes, about: os.stat_result) -> None:
        file = found_file(self.root, path, about)
        if isinstance(file, Oversight):
            self._overlook(path, file)
            return
        self._found += 1
        if self._found > self.sieve.selection.files_max:
            raise too_large(self.root, self.sieve.selection.files_max)
        self._files.append(file)

    def _climb(self, folders: list[bytes]) -> _Rung:
        """The rung of a folder; names come in order, so most of the way is there already."""
        held = [rung.part for rung in self._rungs[1:]]
        while held != folders[: len(held)]:
            self._leave()
            held.pop()
        for number in range(len(held), len(folders)):
            self._rungs.append(self._below(self._rungs[-1], folders[: number + 1]))
        return self._rungs[-1]

    def _below(self, rung: _Rung, folders: list[bytes]) -> _Rung:
        part, path = folders[-1], b"/".join(folders)
        nothing = _Rung(part=part, folder=None, ignores=rung.ignores)
        name = os.fsdecode(part)
        if rung.folder is None or not self.sieve.enters(name, path):
            return nothing
        if rung.ignores.leaves_out(path, is_folder=True):
            return nothing
        try:
            folder = os.open(name, FOLDER, dir_fd=rung.folder)
        except OSError as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                self._overlook(path, oversight_of(error))
            return nothing
        return self._rung(part, folder, rung.ignores, path)

    def _rung(self, part: bytes, folder: int, ignores: Ignores, path: bytes) -> _Rung:
        try:
            return _Rung(part=part, folder=folder, ignores=ignores.below(folder, path, OURS))
        except IgnoreFileUnusable:
            os.close(folder)
            self._overlook(path, Oversight.IGNORE_FILE)
            return _Rung(part=part, folder=None, ignores=ignores)

    def _leave(self) -> None:
        folder = self._rungs.pop().folder
        if folder is not None:
            os.close(folder)

    def _overlook(self, path: bytes, why: Oversight) -> None:
        if self._complaints < OVERLOOKED_MAX:
            self._complaints += 1
            self._overlooked.append(overlooked(self.root, path, why))

    def _portion(self) -> Portion:
        files, told = self._files, self._overlooked
        self._files, self._overlooked = [], []
        return Portion(files=tuple(files), overlooked=tuple(told))
