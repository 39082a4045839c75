"""What lies in a folder whose files are taken away: files that wait, and what nobody will ever take.

A walk tells what it leaves out to whoever asked for it; an incoming folder is watched by nobody's order, so
what is never taken would lie there and nobody be told. This looks once, changes nothing, and ends after some
thousand entries: it serves to be told, not to be counted on.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from penstock.engines.disk.aside import Stop, aside
from penstock.engines.disk.faults import printable
from penstock.engines.disk.sieve import Sieve
from penstock.engines.disk.walking import found_file
from penstock.model.files import Oversight, Selection

ENTRIES_MAX = 5000
LINK = "a symbolic link is not followed"
WORDS = {
    Oversight.UNREADABLE: "the folder may not be read",
    Oversight.NAME_NOT_TEXT: "its name is no text in UTF-8",
    Oversight.PATH_TOO_LONG: "its path is too long",
    Oversight.SPECIAL: "it is no ordinary file",
    Oversight.TOO_DEEP: "it lies too deep",
}
"""Why something is never taken, for people."""


@dataclass(slots=True, kw_only=True)
class Lying:
    """How many files wait to be taken and how much else there is, each with its first."""

    files: int = 0
    first: str = ""
    untaken: int = 0
    example: str = ""
    why: str = ""
    """Why the example is not taken."""
    is_whole: bool = True
    """False where there is more than was looked at."""

    def add(self, path: bytes, why: str | None) -> None:
        """One more; `why` it is never taken, None where it will be."""
        name = printable(os.fsdecode(path))
        if why is None:
            self.files, self.first = self.files + 1, self.first or name
        else:
            self.untaken += 1
            self.example, self.why = (self.example, self.why) if self.example else (name, why)


async def lying(root: Path) -> Lying:
    """What lies there and below; nothing where the folder is not there."""

    def work(stop: Stop) -> Lying:
        found = Lying()
        if os.path.islink(root):
            found.add(os.fsencode(root), LINK)
            return found
        look = _Look(root=root, sieve=Sieve.of(Selection()), stop=stop, left=ENTRIES_MAX)
        for path, why in look.below(b""):
            found.add(path, why)
        found.is_whole = look.left >= 0
        return found

    return await aside(work)


@dataclass(slots=True, kw_only=True)
class _Look:
    """One look, which ends when it has met as much as it may."""

    root: Path
    sieve: Sieve
    stop: Stop
    left: int
    """So many more entries, of whatever kind; less than none where there were more."""

    def below(self, folder: bytes) -> Iterator[tuple[bytes, str | None]]:
        """Everything but what is left out by its name on purpose, by its path below the root, with why."""
        root = os.fsencode(self.root)
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                for entry in entries:
                    self.stop.look()
                    self.left -= 1
                    if self.left < 0:
                        return
                    yield from self._at(os.path.join(folder, entry.name), entry)
        except FileNotFoundError:
            return
        except OSError:
            yield folder or root, WORDS[Oversight.UNREADABLE]

    def _at(self, path: bytes, entry: os.DirEntry[bytes]) -> Iterator[tuple[bytes, str | None]]:
        name = os.fsdecode(entry.name)
        if not entry.is_dir(follow_symlinks=False):
            if self.sieve.takes(name, path):
                yield path, _why_untaken(self.root, path, entry)
        elif self.sieve.enters(name, path):
            if path.count(b"/") >= self.sieve.selection.depth:
                yield path, WORDS[Oversight.TOO_DEEP]
            else:
                yield from self.below(path)


def _why_untaken(root: Path, path: bytes, entry: os.DirEntry[bytes]) -> str | None:
    if entry.is_symlink():
        return LINK
    try:
        about = entry.stat(follow_symlinks=False)
    except OSError:  # taken just now, or not to be looked at for the moment
        return None
    if not stat.S_ISREG(about.st_mode):
        return WORDS[Oversight.SPECIAL]
    found = found_file(root, path, about)
    return WORDS[found] if isinstance(found, Oversight) else None
