"""Vectors outside the database: points, the spaces they lie in, and what is asked of them.

A point stands for a chunk and has its number. A lexical score is a sum of products: what a word weighs in the
chunk, times what it weighs in the question; so whoever keeps points needs to know nothing about words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from penstock.model.catalogue import CollectionId, DocumentId, GenerationId, VersionId, WorkspaceId
from penstock.model.chunks import Vector
from penstock.model.jobs import TenantId

SATURATION = 1.2
LENGTH_SHARE = 0.75
"""BM25's usual constants, those of SQLite's FTS5 too."""
RARITY_MIN = 1e-6
"""What a word that more than half of all chunks hold still weighs, as in FTS5."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """Vectors that can be compared: of one recipe and one length."""

    recipe: str
    """The recipe's key."""
    dimension: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A chunk as it is found: its vector, its words, and whose it is."""

    chunk: int
    version: VersionId
    generation: GenerationId
    collection: CollectionId
    document: DocumentId
    document_number: int
    tenant: TenantId
    workspace: WorkspaceId
    vector: Vector
    words: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """One leg of a search: by a vector or by words, in a generation, of some documents or of all."""

    generation: GenerationId
    limit: int
    vector: Vector | None = None
    words: Mapping[str, float] | None = None
    documents: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A point a leg found."""

    chunk: int
    version: VersionId
    score: float


class SubjectKind(StrEnum):
    """What points can be removed by."""

    VERSION = "version"
    DOCUMENT = "document"
    GENERATION = "generation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Whose points are meant."""

    kind: SubjectKind
    id: str


def weight_in_chunk(count: float, length: int, average: float) -> float:
    """What a word weighs that a chunk of so many words holds so often."""
    norm = 1 - LENGTH_SHARE + LENGTH_SHARE * length / average
    return count * (SATURATION + 1) / (count + SATURATION * norm)


def weight_in_question(holding: int, chunks: int) -> float:
    """What a word weighs that so many of all chunks hold: the rarer the more."""
    return max(math.log((max(chunks - holding, 0) + 0.5) / (holding + 0.5)), RARITY_MIN)
