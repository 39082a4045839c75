"""The index: the two legs of a search over what readers may see.

X1  Only chunks of current versions of documents that are not hidden, in answering generations of the scope.
X2  A change is seen by the next search after its commit, whichever process made it.
X3  The dense leg is exact, or says by its recall what it is; ties are broken by chunk id.
X4  The lexical leg ranks by BM25 with stemming over a generation's own chunks: what other collections hold
     changes no score.
X5  Any text may be asked: operators, quotes and odd characters are words or nothing, never an error.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from penstock.model.chunks import Vector
from penstock.model.passages import Candidates, Passage, Question, Scope

VectorsLater = Callable[[], Awaitable[Mapping[str, Vector]]]


class Index(Protocol):
    """Finds chunks."""

    async def candidates(
        self, scope: Scope, question: Question, *, limit: int = 50, vectors: VectorsLater | None = None
    ) -> list[Candidates]:
        """The best of each leg, one value for each collection of the scope.

        The question's vectors may still be on their way: then `vectors` waits for them, and words are looked
        for meanwhile where that can be done.
        """
        ...

    async def passages(self, scope: Scope, chunks: Sequence[int]) -> list[Passage]:
        """What the chunks say and where, in the given order; those no longer visible are left out."""
        ...
