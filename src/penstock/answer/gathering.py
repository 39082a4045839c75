"""Chunks become hits: neighbours are read as one stretch, and no document crowds out the others.

Two chunks that follow each other in a section and were both found are one hit, at the better one's place.
A document's hits beyond PER_DOCUMENT go behind those of other documents; nothing is left out for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from penstock.model.answers import Hit, joined
from penstock.model.passages import Passage

PER_DOCUMENT = 3
STRETCH_CHUNKS_MAX = 3


@dataclass(slots=True, kw_only=True)
class _Stretch:
    """Neighbouring chunks of one document, as they are met."""

    score: float
    passages: list[Passage] = field(default_factory=list)

    def touches(self, passage: Passage) -> bool:
        ordinals = [each.ordinal for each in self.passages]
        return (
            len(ordinals) < STRETCH_CHUNKS_MAX
            and self.passages[0].document == passage.document
            and self.passages[0].headings == passage.headings
            and min(ordinals) - 1 <= passage.ordinal <= max(ordinals) + 1
        )


def gathered(
    passages: Sequence[Passage], scores: Mapping[int, float], cosines: Mapping[int, float], *, top: int
) -> tuple[Hit, ...]:
    """The hits that passages, best first, amount to; at most `top`."""
    stretches: list[_Stretch] = []
    for passage in passages:
        near = next((each for each in stretches if each.touches(passage)), None)
        if near is None:
            near = _Stretch(score=scores[passage.chunk])
            stretches.append(near)
        near.passages.append(passage)
    return tuple(_hit(each, cosines) for each in _spread(stretches)[:top])


def _spread(stretches: Sequence[_Stretch]) -> list[_Stretch]:
    met: dict[str, int] = {}
    first: list[_Stretch] = []
    behind: list[_Stretch] = []
    for stretch in stretches:
        document = stretch.passages[0].document
        met[document] = met.get(document, 0) + 1
        (first if met[document] <= PER_DOCUMENT else behind).append(stretch)
    return first + behind


def _hit(stretch: _Stretch, cosines: Mapping[int, float]) -> Hit:
    known = [cosines[each.chunk] for each in stretch.passages if each.chunk in cosines]
    return Hit(parts=joined(stretch.passages), score=stretch.score, cosine=max(known, default=None))
