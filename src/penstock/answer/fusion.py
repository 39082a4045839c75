"""Several rankings become one, by rank alone: scores of unlike kinds are never added up.

Each ranking gives a chunk `weight / (RANK_OFFSET + rank)`; a chunk both legs found thus stands before one
that only one of them found. Cosines of one model mean the same in every collection, so the dense legs of
collections that share a model are first put together by score; BM25 counts a collection's own words, so each
lexical leg stays a ranking of its own. The constants were measured: docs/explanation/retrieval.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from penstock.model.catalogue import GenerationId
from penstock.model.passages import Candidate, Candidates

RANK_OFFSET = 20
DENSE_WEIGHT = 1.0
LEXICAL_WEIGHT = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Chunks, best first, and how much their order counts."""

    chunks: tuple[int, ...]
    weight: float = 1.0


def fuse(rankings: Sequence[Ranking]) -> list[tuple[int, float]]:
    """Every chunk of the rankings once, with its score, best first; ties go to the lower chunk."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, chunk in enumerate(ranking.chunks, start=1):
            scores[chunk] = scores.get(chunk, 0.0) + ranking.weight / (RANK_OFFSET + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def rankings_of(found: Sequence[Candidates], models: Mapping[GenerationId, str]) -> list[Ranking]:
    """The rankings a search's legs amount to; `models` says whose vectors a generation holds."""
    dense: dict[object, list[Candidates]] = {}
    for each in found:
        dense.setdefault(models.get(each.generation, each.generation), []).append(each)
    legs = [by_score(chain.from_iterable(each.dense for each in alike)) for alike in dense.values()]
    return [
        *(Ranking(chunks=leg, weight=DENSE_WEIGHT) for leg in legs),
        *(Ranking(chunks=tuple(one.chunk for one in each.lexical), weight=LEXICAL_WEIGHT) for each in found),
    ]


def by_score(candidates: Iterable[Candidate]) -> tuple[int, ...]:
    """Chunks of comparable scores, best first."""
    ordered = sorted(candidates, key=lambda each: (-each.score, each.chunk))
    return tuple(each.chunk for each in ordered)
