"""Vectors outside the database: a projection of the manifest, which readers check against it.

V1  `put` answers once every point would be found; putting a point again replaces it.
V2  `nearest` gives each leg's best of a generation, the larger the score the better; points of other
     generations are never seen and change no score.
V3  `remove` leaves nothing of the points it names; removing them again changes nothing.
V4  `page` gives the points of a space, or those of a subject, in the order of their numbers.
V5  Putting makes the space that is not there; asking one that is not there raises ERR_VECTORS_MISSING.
V6  A vector of another length than the space's, and a space of another shape, raise ERR_VECTORS_SHAPE.
V7  What cannot be reached raises Unavailable within the deadline; what is half done then is finished by
     repeating the call.
V8  `drop` leaves nothing of a space; dropping it again changes nothing, and putting makes it anew.
V9  `differing` compares all of a point: its vector, its words and what it says of itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from penstock.model.catalogue import VersionId
from penstock.model.points import Found, Leg, Point, Space, Subject


class Vectors(Protocol):
    """Keeps points and finds the nearest."""

    async def put(self, space: Space, points: Sequence[Point]) -> None:
        """Store points (V1, V5, V6)."""
        ...

    async def nearest(self, space: Space, legs: Sequence[Leg]) -> list[list[Found]]:
        """The best points of each leg, asked in one call (V2)."""
        ...

    async def spaces(self) -> list[Space]:
        """Those that are there."""
        ...

    async def count(self, space: Space) -> int:
        """How many points a space has."""
        ...

    async def page(
        self, space: Space, *, subject: Subject | None = None, after: int = 0, limit: int = 1000
    ) -> list[int]:
        """The numbers of points higher than `after` (V4)."""
        ...

    async def known(self, space: Space, chunks: Sequence[int]) -> Mapping[int, VersionId]:
        """Which of these points are there, and of which version each is."""
        ...

    async def differing(self, space: Space, points: Sequence[Point]) -> list[int]:
        """Which of these points are there and are not as they are given (V9), by number."""
        ...

    async def remove(self, space: Space, chunks: Sequence[int]) -> None:
        """Remove points by number (V3)."""
        ...

    async def drop(self, space: Space) -> None:
        """Remove a space and all it holds (V8)."""
        ...

    async def close(self) -> None:
        """Let go of the connections."""
        ...
