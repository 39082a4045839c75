"""The index over a projection: points are asked for, and what readers do not see is dropped.

A point may be of a version that is still being built, or gone and not yet purged. So more is asked for than
is wanted, and every answer is checked against the manifest in one look after it; while too little is left
and there may be more, more is asked for. Where a version or the whole generation went between question and
check, its successor may have come too late to be found: then the search is made again, so that no document
falls between two versions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from penstock.engines.qdrant.faults import MISSING
from penstock.model.catalogue import VersionState
from penstock.model.chunks import Vector
from penstock.model.errors import Broken, Refused
from penstock.model.passages import Candidate, Candidates, Passage, Question, Scope
from penstock.model.points import Found, Leg
from penstock.ports.index import Index, VectorsLater
from penstock.ports.manifest import Ground, Manifest, Seen
from penstock.ports.vectors import Vectors

FLOAT_BYTES = 4
SPARE = 2
"""How many times as much is asked for as is wanted."""
GROWTH = 4
ASKED_MAX = 200_000
TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What readers see of an answer."""

    candidates: Candidates
    enough: bool
    """False where more may be found by asking for more."""
    overtaken: bool
    """A version, or the generation, went while the search was under way."""


class ProjectedIndex:
    """Finds chunks among points kept outside; what they say is read from the database."""

    def __init__(self, manifest: Manifest, vectors: Vectors, inside: Index) -> None:
        self._manifest = manifest
        self._vectors = vectors
        self._inside = inside

    async def candidates(
        self, scope: Scope, question: Question, *, limit: int = 50, vectors: VectorsLater | None = None
    ) -> list[Candidates]:
        """The best of each leg, asked for in one call: so it waits for the vectors."""
        if vectors is not None:
            question = replace(question, vectors=await vectors())
        found: list[Checked] = []
        for left in reversed(range(TRIES)):
            grounds = await self._manifest.grounds(scope)
            try:
                found = await asyncio.gather(*(self._search(ground, question, limit) for ground in grounds))
            except Broken as fault:
                # A space is dropped when the last it held has gone: then this scope looks another by now.
                if not left or fault.code != MISSING or await self._manifest.grounds(scope) == grounds:
                    raise
                continue
            if not left or not any(each.overtaken for each in found):
                break
        return [each.candidates for each in found]

    async def passages(self, scope: Scope, chunks: Sequence[int]) -> list[Passage]:
        """What the chunks say and where, in the given order; those no longer visible are left out."""
        return await self._inside.passages(scope, chunks)

    async def _search(self, ground: Ground, question: Question, limit: int) -> Checked:
        vector = _vector(ground, question)
        words = await self._words(ground, question.text)
        asked = limit * SPARE
        while True:
            dense, lexical = await self._ask(ground, vector, words, asked)
            seen = await self._manifest.seen(ground.generation, [each.chunk for each in dense + lexical])
            checked = _checked(ground, dense, lexical, seen, wanted=limit, asked=asked)
            if checked.enough or checked.overtaken or asked >= ASKED_MAX:
                return checked
            asked *= GROWTH

    async def _words(self, ground: Ground, text: str) -> Mapping[str, float]:
        return {} if ground.space is None else await self._manifest.weights(ground.generation, text)

    async def _ask(
        self, ground: Ground, vector: Vector | None, words: Mapping[str, float], limit: int
    ) -> tuple[list[Found], list[Found]]:
        """Both legs in one call; a leg that has nothing to look for finds nothing."""
        if ground.space is None:
            return [], []
        leg = partial(Leg, generation=ground.generation, documents=ground.documents, limit=limit)
        legs = [leg(vector=vector)] if vector is not None else []
        legs += [leg(words=words)] if words else []
        found = await self._vectors.nearest(ground.space, legs) if legs else []
        dense = found[0] if vector is not None else []
        return dense, found[-1] if words else []


def _vector(ground: Ground, question: Question) -> Vector | None:
    vector = None if ground.model is None else question.vectors.get(ground.model)
    if vector is None or ground.space is None:
        return None
    if len(vector) != ground.space.dimension * FLOAT_BYTES:
        raise Refused(
            f"the question has {len(vector) // FLOAT_BYTES} numbers, the vectors of {ground.model} "
            f"{ground.space.dimension}",
            code="ERR_QUERY_INVALID",
        )
    return vector


def _checked(
    ground: Ground, dense: list[Found], lexical: list[Found], seen: Seen, *, wanted: int, asked: int
) -> Checked:
    legs = [_visible(leg, seen) for leg in (dense, lexical)]
    enough = all(
        len(visible) >= wanted or len(leg) < asked
        for visible, leg in zip(legs, (dense, lexical), strict=True)
    )
    gone = any(
        _state(each, seen) not in (VersionState.CURRENT, VersionState.BUILDING) for each in dense + lexical
    )
    return Checked(
        candidates=Candidates(
            generation=ground.generation, dense=tuple(legs[0][:wanted]), lexical=tuple(legs[1][:wanted])
        ),
        enough=enough,
        overtaken=seen.revision is None or (gone and seen.revision != ground.revision),
    )


def _visible(leg: list[Found], seen: Seen) -> list[Candidate]:
    """What readers see of a leg, best first, ties by chunk id."""
    kept = [each for each in leg if _state(each, seen) is VersionState.CURRENT]
    return [
        Candidate(chunk=each.chunk, score=each.score)
        for each in sorted(kept, key=lambda each: (-each.score, each.chunk))
    ]


def _state(found: Found, seen: Seen) -> VersionState | None:
    """What the point's version is; None where the point is not the chunk's of now."""
    version, state = seen.states.get(found.chunk, (None, None))
    return state if version == found.version else None
