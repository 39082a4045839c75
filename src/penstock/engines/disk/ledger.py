"""What was told about a folder's files, what was seen since, and which of that has settled.

Nothing here believes an event. Files are looked at, compared with what was told, and a difference is told
when it looked the same for the quiet time: so half-written files wait, an editor's dance of temporary names
comes to one modification, and a lost event costs a delay, never a change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from penstock.model.files import Appeared, Change, FoundFile, Modified, Moved, Vanished

Files = dict[str, FoundFile]


@dataclass(frozen=True, slots=True)
class _Seen:
    """How a file was last seen, None for not at all, and since when it looks so."""

    file: FoundFile | None
    since: float


class Ledger:
    """The files of one watched folder, by path; grouped by folder, so that a part can be compared alone."""

    def __init__(self, known: Iterable[FoundFile], *, quiet: float) -> None:
        self._quiet = quiet
        self._told: dict[str, Files] = {}
        self._seen: dict[str, _Seen] = {}
        for file in known:
            self._tell(file.path, file)

    @property
    def is_empty(self) -> bool:
        """Whether no file is known."""
        return not self._told

    def below(self, folders: Set[str]) -> set[str]:
        """The paths known or seen below some folders, in one pass however many these are."""
        told = (
            path
            for place, files in self._told.items()
            if within(place, folders) is not None
            for path in files
        )
        return {*told, *(path for path in self._seen if within(folder_of(path), folders) is not None)}

    def compare(self, paths: Iterable[str], found: Mapping[str, FoundFile], now: float) -> None:
        """Take note of how these paths look now; what is not in `found` is not there."""
        for path in paths:
            file = found.get(path)
            if file == self._known(path):
                self._seen.pop(path, None)
            elif path not in self._seen or self._seen[path].file != file:
                self._seen[path] = _Seen(file, now)

    def forget(self, paths: Iterable[str]) -> None:
        """Drop what was seen of these: nobody can say now how they look."""
        for path in paths:
            self._seen.pop(path, None)

    def ripe(self, now: float) -> list[str]:
        """Paths whose difference is as old as the quiet time: to be looked at once more, then settled."""
        return [path for path, seen in self._seen.items() if now - seen.since >= self._quiet]

    def next_due(self) -> float | None:
        """When the first difference will be ripe."""
        first = min((seen.since for seen in self._seen.values()), default=None)
        return None if first is None else first + self._quiet

    def settle(self, now: float) -> tuple[Change, ...]:
        """The changes that are ripe, moves first; from here on they count as told."""
        ripe = set(self.ripe(now))
        pairs = self._pairs()
        waiting = {path for pair in pairs.items() if not ripe.issuperset(pair) for path in pair}
        changes: list[Change] = []
        for old, new in sorted(pairs.items()):
            if new not in waiting and (file := self._seen[new].file) is not None:
                changes.append(Moved(old=old, file=file))
                ripe -= {old, new}
                self._tell(old, None)
                self._tell(new, file)
        changes += [self._change(path) for path in sorted(ripe - waiting)]
        return tuple(changes)

    def forget_seen(self) -> None:
        """Drop every unsettled difference, as after the folder itself was away."""
        self._seen.clear()

    def _pairs(self) -> dict[str, str]:
        """Old path to new where a known file went and the same one, by all signs, came."""
        gone: dict[tuple[int, int, int], str] = {}
        for path, seen in self._seen.items():
            known = self._known(path)
            if seen.file is None and known is not None:
                gone[_signs(known)] = path
        pairs: dict[str, str] = {}
        for path, seen in sorted(self._seen.items()):
            if seen.file is not None and self._known(path) is None:
                old = gone.pop(_signs(seen.file), None)
                if old is not None:
                    pairs[old] = path
        return pairs

    def _change(self, path: str) -> Change:
        file, known = self._seen[path].file, self._known(path)
        self._tell(path, file)
        if file is None:
            return Vanished(path=path)
        return Appeared(file=file) if known is None else Modified(file=file)

    def _known(self, path: str) -> FoundFile | None:
        return self._told.get(folder_of(path), {}).get(path)

    def _tell(self, path: str, file: FoundFile | None) -> None:
        self._seen.pop(path, None)
        folder = folder_of(path)
        if file is not None:
            self._told.setdefault(folder, {})[path] = file
        elif folder in self._told:
            self._told[folder].pop(path, None)
            if not self._told[folder]:
                del self._told[folder]


def within(path: str, places: Set[str]) -> str | None:
    """The place that is this path, or the nearest folder above it; None if none is."""
    while path:
        if path in places:
            return path
        path = folder_of(path)
    return None


def folder_of(path: str) -> str:
    """The folder a path lies in."""
    return path.rpartition("/")[0]


def _signs(file: FoundFile) -> tuple[int, int, int]:
    return file.inode, file.size, file.mtime_ns
