"""Embedding: texts become vectors of one model.

E1  One vector per piece, in order, of the stated dimension, finite and of length one.
E2  The same text gives the same vector, whatever it is batched with (up to the model's own rounding).
E3  Tokens are those of the model: a chunk within `tokens_max` is embedded whole; a longer text is refused
    with ERR_TEXT_TOO_LONG, never silently cut.
E4  An endpoint that is down or limits us raises Unavailable with its Retry-After; one that answers nonsense
    raises Broken; one that refuses the text itself raises Refused.
    Trouble with our key or its address is not the text's fault: Unavailable too.
E5  Cancelling a call stops its work; calls beside it go on.
E6  Several pieces that are too much for one call raise Oversized before any of them is embedded; the caller
    asks again in halves, and keeps what each half brings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from penstock.model.chunks import Piece, Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """A text as the model sees it: ids, and the character span of each in the text.

    Tokens of one word share its number in `words`, which never falls. Cut between two words, each side alone
    has the same tokens as before.
    """

    ids: Sequence[int]
    starts: Sequence[int]
    ends: Sequence[int]
    words: Sequence[int]


class Oversized(Exception):
    """A call brought more than the embedder takes at once; fewer pieces may pass."""


class Tokenizer(Protocol):
    """Counts as the model counts."""

    @property
    def tokens_max(self) -> int:
        """The longest piece the model takes, in tokens of its own text (special ones are not counted)."""
        ...

    def tokens(self, text: str) -> Tokens:
        """All tokens of a text of any length; blocking, linear in the text."""
        ...


class Embedder(Protocol):
    """Turns pieces into vectors."""

    @property
    def model(self) -> str:
        """A name that changes whenever the vectors would: vectors are remembered by it."""
        ...

    @property
    def dimension(self) -> int | None:
        """How many numbers a vector has; None where only the first answer will tell."""
        ...

    @property
    def batch(self) -> int:
        """How many pieces one call takes best."""
        ...

    @property
    def calls(self) -> int:
        """How many calls it works on at once."""
        ...

    @property
    def ahead(self) -> int:
        """How many more it likes to be given meanwhile, so that it has the next when one ends."""
        ...

    async def embed(self, pieces: Sequence[Piece]) -> list[Vector]:
        """The vectors of some pieces (E1, E6)."""
        ...

    async def close(self) -> None:
        """Let go of the model or the connections."""
        ...


async def embedded(embedder: Embedder, pieces: Sequence[Piece]) -> list[Vector]:
    """The vectors of some pieces, in as many calls as the embedder wants."""
    try:
        return await embedder.embed(pieces)
    except Oversized:
        half = (len(pieces) + 1) // 2
        return [*await embedded(embedder, pieces[:half]), *await embedded(embedder, pieces[half:])]
