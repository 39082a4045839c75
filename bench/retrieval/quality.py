"""How good the rankings are: nDCG@10 of each leg and of both together, and what the confidence is worth."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from math import log2

from bench.retrieval.corpora import Corpus
from penstock.answer.reading import Reader
from penstock.answer.scoping import Ground
from penstock.answer.search import Searcher
from penstock.model.answers import Confidence
from penstock.model.passages import Candidate, Question
from penstock.ports.index import Index

DEPTH = 10
LEG_LIMIT = 50

Ranker = Callable[[str], Awaitable[list[str]]]


def ndcg(ranked: Sequence[str], relevant: frozenset[str]) -> float:
    """Gains are 0 or 1, discounted by the logarithm of the rank, over the best there could be."""
    gained = sum(1 / log2(rank + 1) for rank, name in enumerate(ranked[:DEPTH], start=1) if name in relevant)
    best = sum(1 / log2(rank + 1) for rank in range(1, min(DEPTH, len(relevant)) + 1))
    return gained / best


async def mean_ndcg(corpus: Corpus, ranker: Ranker) -> float:
    """Over all questions."""
    gains = [ndcg(await ranker(text), corpus.relevant[key]) for key, text in corpus.questions.items()]
    return sum(gains) / len(gains)


def rankers(ground: Ground, index: Index, reader: Reader, searcher: Searcher) -> Mapping[str, Ranker]:
    """Documents by words, by vectors, and by the search itself."""

    async def leg(text: str, chosen: Callable[[object], tuple[Candidate, ...]]) -> list[str]:
        (vector,) = await reader.read([text])
        question = Question(text=text, vectors={reader.model: vector})
        (found,) = await index.candidates(ground.scope, question, limit=LEG_LIMIT)
        passages = await index.passages(ground.scope, [each.chunk for each in chosen(found)])
        return _once(each.document_name for each in passages)

    async def lexical(text: str) -> list[str]:
        return await leg(text, lambda found: found.lexical)  # type: ignore[attr-defined]

    async def dense(text: str) -> list[str]:
        return await leg(text, lambda found: found.dense)  # type: ignore[attr-defined]

    async def hybrid(text: str) -> list[str]:
        findings = await searcher.search(ground, text, top=2 * DEPTH)
        return _once(hit.head.document_name for hit in findings.hits)

    return {"words": lexical, "vectors": dense, "both": hybrid}


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


async def grades(ground: Ground, searcher: Searcher, questions: Iterable[str]) -> dict[Confidence, float]:
    """The share of questions that each grade gets."""
    met = [(await searcher.search(ground, text)).confidence for text in questions]
    return {grade: met.count(grade) / len(met) for grade in Confidence}
