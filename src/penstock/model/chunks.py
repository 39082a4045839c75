"""Chunks: pieces of a version's text, each with its span and the words that lead to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NewType

Vector = NewType("Vector", bytes)
"""Little-endian 32-bit floats of length one, one after another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of text; `text[start:end]` of the stored text is exactly this chunk."""

    ordinal: int
    start: int
    end: int
    tokens: int
    headings: tuple[str, ...] = ()
    """The titles above it, highest first."""
    page_first: int | None = None
    page_last: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A text to embed; its token ids, where the splitter already knows them, save a second look."""

    text: str
    token_ids: Sequence[int] = field(default=(), compare=False, repr=False)
    key: bytes = field(init=False, compare=False, repr=False)
    """What its vector is remembered by."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", text_key(self.text))


def text_key(text: str) -> bytes:
    """The SHA-256 of a text, the half of the cache key that is not the model."""
    return sha256(text.encode()).digest()
