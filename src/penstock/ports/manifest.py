"""The manifest: what a projection is made of, and what its answers are checked against.

N1  `points` tells a version's chunks as they are committed, in their order; a chunk's number is never used
     again, so a point whose chunk is not there can never be needed.
N2  `seen` tells what readers see at this moment; whoever asked a projection drops everything else.
N3  The weights of a question's words depend on its generation's own chunks.
N4  `home` is another for every database, and stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from penstock.model.catalogue import (
    CollectionId,
    DebtKind,
    DocumentId,
    GenerationId,
    VersionId,
    VersionState,
)
from penstock.model.passages import Scope
from penstock.model.points import Point, Space


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """One answering generation of a scope; `documents` are the only ones wanted, where any filter is set."""

    collection: CollectionId
    generation: GenerationId
    revision: int
    """Rises with every change a reader of the collection could see."""
    model: str | None
    space: Space | None
    """None while readers see nothing there."""
    documents: tuple[int, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A current version, and what it should have outside."""

    version: VersionId
    document: DocumentId
    name: str
    space: Space
    chunks: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What some chunks are at this moment, and how far their collection is."""

    states: Mapping[int, tuple[VersionId, VersionState]]
    revision: int | None
    """None where the generation answers no more."""


class Manifest(Protocol):
    """Looks at what is committed."""

    async def home(self) -> str:
        """By what this database is told from others (N4)."""
        ...

    async def space_of(self, version: VersionId) -> Space | None:
        """Where a version's points belong; None once it is gone, or while it has no chunk."""
        ...

    async def points(self, version: VersionId, *, first: int = 0, limit: int = 256) -> list[Point]:
        """Some chunks of a version, from this ordinal on (N1)."""
        ...

    async def grounds(self, scope: Scope) -> list[Ground]:
        """What a scope comes to; a collection of another workspace is not there."""
        ...

    async def weights(self, generation: GenerationId, text: str) -> Mapping[str, float]:
        """What the words of a question weigh (N3)."""
        ...

    async def seen(self, generation: GenerationId, chunks: Sequence[int]) -> Seen:
        """Which of these chunks are there in this generation, and what their versions are (N2)."""
        ...

    async def current(self, *, after: int = 0, limit: int = 100) -> list[Listed]:
        """Current versions of generations in use, with a higher number than that."""
        ...

    async def size(self) -> int:
        """How many chunks the current versions of generations in use have."""
        ...

    async def missing(self, chunks: Sequence[int]) -> list[int]:
        """Which of these chunks are not there (N1)."""
        ...

    async def is_needed(self, space: Space, *, building: bool = False) -> bool:
        """Whether any version belongs there, or is being built there."""
        ...

    async def is_owed(self, kind: DebtKind, about: str) -> bool:
        """Is such a debt still unpaid?"""
        ...
