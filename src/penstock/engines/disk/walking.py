"""Walking a folder: every wanted file once, in order, without being led out of it.

Each folder is opened relative to its parent and never through a link, so a folder that turns into a link
while we walk leads nowhere. Only names are held for sorting, one folder per level at a time; a portion is
made in a thread when it is asked for, so nothing runs ahead of whoever reads.
"""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from penstock.engines.disk.aside import Stop, aside
from penstock.engines.disk.faults import printable
from penstock.engines.disk.ignores import IgnoreFileUnusable, Ignores
from penstock.engines.disk.opening import FOLDER
from penstock.engines.disk.sieve import Sieve
from penstock.model.errors import Refused, Unavailable
from penstock.model.files import FoundFile, Overlooked, Oversight, Portion, Selection
from penstock.model.payloads import DEPTH_MAX, PATH_LENGTH_MAX

PORTION = 1000
OVERLOOKED_MAX = 1000
"""How many oversights one walk tells; a folder full of pipes must not fill the memory with complaints."""

NAMES_MAX = 1_000_000
"""Names of one folder that are held to be sorted, whatever the limit on files."""

Enter = Callable[[str], None]


class DiskFinder:
    """Looks for files on this machine."""

    async def walk(self, root: Path, selection: Selection) -> AsyncGenerator[Portion, None]:
        """The files of a folder, a thousand at a time."""
        walk = Walk(root=root, sieve=Sieve.of(selection))
        portions = walk.portions()
        try:
            while (portion := await aside(walk.step(portions))) is not None:
                yield portion
        finally:
            # Still running means a disk that hangs: the thread closes what it holds when it comes back.
            with suppress(ValueError):
                portions.close()


@dataclass(slots=True, kw_only=True)
class Walk:
    """One pass over a folder; used by one thread at a time."""

    root: Path
    sieve: Sieve
    enter: Enter | None = None
    """Told each folder before its names are read, so that a watch set there misses nothing."""
    stop: Stop = field(default_factory=Stop)
    blind: set[bytes] = field(default_factory=set)
    """Where nobody could look: what is there, or below, is neither told nor known to be gone."""
    _found: int = 0
    _complaints: int = 0
    _overlooked: list[Overlooked] = field(default_factory=list)

    def step(self, portions: Iterator[Portion]) -> Callable[[Stop], Portion | None]:
        """The next portion as work for a thread; None at the end."""

        def work(stop: Stop) -> Portion | None:
            self.stop = stop
            return next(portions, None)

        return work

    def portions(self) -> Generator[Portion, None, None]:
        """Files and oversights as they come, PORTION of them at a time."""
        files: list[FoundFile] = []
        for file in self.files():
            files.append(file)
            if len(files) >= PORTION:
                yield self._portion(files)
                files = []
        if files or self._overlooked:
            yield self._portion(files)

    def files(self, start: bytes = b"") -> Iterator[FoundFile]:
        """Every wanted file below the root, or below a folder in it."""
        inside = self._down_to(start)
        if inside is not None:
            folder, ignores, level = inside
            yield from self._within(folder, ignores, start, level)

    def look_at(self, path: bytes) -> FoundFile | None:
        """One file by its path below the root, if it is there and wanted."""
        above, _, part = path.rpartition(b"/")
        inside = self._down_to(above)
        if inside is None:
            return None
        folder, ignores, _ = inside
        name = os.fsdecode(part)
        try:
            ignores = ignores.below(folder, above)
            if not self.sieve.takes(name, path) or ignores.leaves_out(path, is_folder=False):
                return None
            return self._look(folder, name, path)
        except IgnoreFileUnusable:
            self.blind.add(above)
            return None
        finally:
            os.close(folder)

    def _down_to(self, path: bytes) -> tuple[int, Ignores, int] | None:
        """A folder below the root, opened, and what is ignored on the way; None if nobody wants it."""
        folder, ignores = open_root(self.root), Ignores()
        parts = path.split(b"/") if path else []
        for level, part in enumerate(parts):
            inner = self._descend(folder, ignores, parts[:level], part)
            if inner is None:
                return None
            folder, ignores = inner
        return folder, ignores, len(parts)

    def _descend(
        self, folder: int, ignores: Ignores, above: list[bytes], part: bytes
    ) -> tuple[int, Ignores] | None:
        """One folder further, and the one above is closed."""
        name, path = os.fsdecode(part), b"/".join((*above, part))
        try:
            ignores = ignores.below(folder, b"/".join(above))
            wanted = self.sieve.enters(name, path) and not ignores.leaves_out(path, is_folder=True)
            if not wanted or len(above) >= self.sieve.selection.depth:
                return None
            opened = self._open(folder, name, path)
            return None if opened is None else (opened, ignores)
        except IgnoreFileUnusable:
            self.blind.add(b"/".join(above))
            return None
        finally:
            os.close(folder)

    def _within(self, folder: int, ignores: Ignores, path: bytes, level: int) -> Iterator[FoundFile]:
        """The files below one folder, which is closed at the end."""
        try:
            if self.enter is not None:
                self.enter(os.fsdecode(_joined(self.root, path)))
            try:
                ignores = ignores.below(folder, path)
                names = self._names(folder, ignores, path, level)
            except IgnoreFileUnusable:
                self._overlook(path, Oversight.IGNORE_FILE)
                return
            except OSError:
                self._overlook(path, Oversight.UNREADABLE)
                return
            for name, is_folder in names:
                self.stop.look()
                inner = path + b"/" + os.fsencode(name) if path else os.fsencode(name)
                if is_folder:
                    opened = self._open(folder, name, inner)
                    if opened is not None:
                        yield from self._within(opened, ignores, inner, level + 1)
                elif (file := self._look(folder, name, inner)) is not None:
                    yield file
        finally:
            os.close(folder)

    def _names(self, folder: int, ignores: Ignores, path: bytes, level: int) -> list[tuple[str, bool]]:
        """What is wanted of a folder, by name, and whether each is a folder."""
        kept: list[tuple[bytes, str, bool]] = []
        files = 0
        with os.scandir(folder) as entries:
            for entry in entries:
                self.stop.look()
                name = os.fsencode(entry.name)
                inner = path + b"/" + name if path else name
                kind = self._kind(entry, ignores, inner, level)
                if kind is not None:
                    kept.append((name, entry.name, kind))
                    files += not kind
                    self._check_count(files, len(kept))
        kept.sort()
        return [(name, kind) for _, name, kind in kept]

    def _kind(self, entry: os.DirEntry[str], ignores: Ignores, path: bytes, level: int) -> bool | None:
        """Whether it is a folder to enter (True), a file to take (False), or neither."""
        if entry.is_dir(follow_symlinks=False):
            if not self.sieve.enters(entry.name, path) or ignores.leaves_out(path, is_folder=True):
                return None
            if level >= self.sieve.selection.depth:
                # The depth that was asked for is no oversight; the deepest there can be is one.
                if level == DEPTH_MAX:
                    self._overlook(path, Oversight.TOO_DEEP)
                return None
            return True
        if not self.sieve.takes(entry.name, path) or ignores.leaves_out(path, is_folder=False):
            return None
        if entry.is_file(follow_symlinks=False):
            return False
        if not entry.is_symlink():
            self._overlook(path, Oversight.SPECIAL)
        return None

    def _open(self, folder: int, name: str, path: bytes) -> int | None:
        try:
            return os.open(name, FOLDER, dir_fd=folder)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self._overlook(path, oversight_of(error))
            return None

    def _look(self, folder: int, name: str, path: bytes) -> FoundFile | None:
        try:
            about = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._overlook(path, oversight_of(error))
            return None
        if not stat.S_ISREG(about.st_mode):
            return None
        file = found_file(self.root, path, about)
        if isinstance(file, Oversight):
            self._overlook(path, file)
            return None
        self._found += 1
        self._check_count(0, 0)
        return file

    def _check_count(self, waiting: int, names: int) -> None:
        most = self.sieve.selection.files_max
        if self._found + waiting > most or names > NAMES_MAX:
            raise too_large(self.root, most)

    def _overlook(self, path: bytes, why: Oversight) -> None:
        if why in (Oversight.UNREADABLE, Oversight.IGNORE_FILE):
            self.blind.add(path)
        if self._complaints < OVERLOOKED_MAX:
            self._complaints += 1
            self._overlooked.append(overlooked(self.root, path, why))

    def overlooked(self) -> tuple[Overlooked, ...]:
        """What was left out since the last time this was asked."""
        told, self._overlooked = self._overlooked, []
        return tuple(told)

    def _portion(self, files: list[FoundFile]) -> Portion:
        return Portion(files=tuple(files), overlooked=self.overlooked())


def open_root(root: Path) -> int:
    """A descriptor of the folder a walk starts at."""
    name = printable(root)
    try:
        return os.open(root, FOLDER)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        linked = False
        with suppress(OSError, ValueError):
            linked = stat.S_ISLNK(os.lstat(root).st_mode)
        why = "is a symbolic link: name the folder it leads to" if linked else "is no folder"
        raise Refused(f"{name} {why}", code="ERR_FOLDER_NOT_FOUND") from error
    except PermissionError as error:
        raise Refused(f"{name} may not be read", code="ERR_FILE_UNREADABLE") from error
    except OSError as error:
        raise Unavailable(f"{name} cannot be read ({error.strerror})", code="ERR_FILE_UNREADABLE") from error


def found_file(root: Path, path: bytes, about: os.stat_result) -> FoundFile | Oversight:
    """The file as it is told, or why it cannot be told."""
    whole = _joined(root, path)
    if len(whole) > PATH_LENGTH_MAX:
        return Oversight.PATH_TOO_LONG
    try:
        text = whole.decode()
    except UnicodeDecodeError:
        return Oversight.NAME_NOT_TEXT
    return FoundFile(path=text, size=about.st_size, mtime_ns=about.st_mtime_ns, inode=about.st_ino)


def overlooked(root: Path, path: bytes, why: Oversight) -> Overlooked:
    """An oversight with a path people can read."""
    return Overlooked(path=_joined(root, path).decode(errors="backslashreplace"), why=why)


def _joined(root: Path, path: bytes) -> bytes:
    return os.path.join(os.fsencode(root), path) if path else os.fsencode(root)


def oversight_of(error: OSError) -> Oversight:
    """Why something could not be looked at."""
    return Oversight.PATH_TOO_LONG if "too long" in (error.strerror or "") else Oversight.UNREADABLE


def too_large(root: Path, most: int) -> Refused:
    """The sentence for a folder with too many files."""
    return Refused(f"{printable(root)} holds more than {most} files", code="ERR_FOLDER_TOO_LARGE")
