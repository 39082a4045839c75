"""Sections: what lies between two headings, and the titles above a stretch of text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from penstock.model.parsed import Heading


class Sections:
    """The headings of a text, ready to be asked by offset."""

    def __init__(self, headings: Sequence[Heading]) -> None:
        ordered = sorted(headings, key=lambda heading: heading.start)
        self.starts = [heading.start for heading in ordered]
        self._paths = _paths(ordered)

    def next_start(self, offset: int) -> int | None:
        """Where the first section after an offset starts."""
        place = bisect_right(self.starts, offset)
        return self.starts[place] if place < len(self.starts) else None

    def titles(self, start: int, end: int) -> tuple[tuple[str, ...], int]:
        """The titles above all of a stretch, highest first, and how many of them stand before it.

        A stretch over several sections has those titles that its sections share.
        """
        first = bisect_right(self.starts, start) - 1
        last = bisect_right(self.starts, end - 1) - 1
        path = self._paths[first] if first >= 0 else ()
        for place in range(max(first, 0), last + 1):
            path = _shared(path, self._paths[place])
        return tuple(heading.title for heading in path), sum(heading.start < start for heading in path)


def _paths(ordered: Sequence[Heading]) -> list[tuple[Heading, ...]]:
    """For each heading, itself and those above it."""
    paths: list[tuple[Heading, ...]] = []
    path: list[Heading] = []
    for heading in ordered:
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
        paths.append(tuple(path))
    return paths


def _shared(one: tuple[Heading, ...], other: tuple[Heading, ...]) -> tuple[Heading, ...]:
    length = 0
    while length < min(len(one), len(other)) and one[length] is other[length]:
        length += 1
    return one[:length]
