"""The answer without a language model: the sentences that speak of the question, quoted exactly.

Sentences of the best hits are compared with the question by vector and by words; those near the best one are
quoted, neighbours in one piece. Everything quoted keeps its span in the stored text. How much is looked at
is bounded, so a question costs a few dozen short texts to embed, whatever was found.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul

from penstock.answer.citations import citation_of
from penstock.answer.reading import Reader
from penstock.answer.sentences import sentence_spans
from penstock.answer.words import content_words, coverage
from penstock.model.answers import NOT_FOUND, Answer, AnswerKind, Confidence, Findings, Hit, Quote
from penstock.model.chunks import Vector
from penstock.model.errors import Unavailable
from penstock.model.passages import Passage

HITS_READ = 5
SENTENCES_READ = 40
QUOTES_MAX = 4
WORDS_WEIGHT = 0.3
"""How much all of the question's words count beside a cosine of one."""
NEAR_THE_BEST = 0.12
"""How far below the best a sentence may score and still be quoted."""
CRUMB_CHARACTERS = 25
"""Shorter ones are headings and labels: quoted only where there is nothing else."""
PROSE_SHARE_MIN = 0.85
"""The share of letters, digits and spaces below which a sentence reads as a table's row or as code."""
NO_PROSE_MALUS = 0.15
SECONDS_MAX = 30.0

QUOTED_ONLY = "The best passages, quoted; no language model is configured."
QUOTED_BY_WISH = "The best passages, quoted; no language model was asked."
WEAK = "The evidence is weak: these passages may not answer the question."


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of a hit, by its place in one of the hit's parts."""

    hit: int
    part: Passage
    start: int
    end: int

    @property
    def text(self) -> str:
        """What it says, exactly."""
        return self.part.text[self.start : self.end]


async def extracted(findings: Findings, reader: Reader | None, *, note: str = QUOTED_ONLY) -> Answer:
    """The extractive answer to what was asked."""
    if findings.confidence is Confidence.NONE:
        return not_found(findings)
    sentences = _readable(findings)
    scores = await _scores(findings.question, sentences, reader)
    chosen = _chosen(sentences, scores)
    numbers = {hit: number for number, hit in enumerate(dict.fromkeys(each.hit for each in chosen), start=1)}
    quotes = _quotes(chosen)
    weak = (WEAK,) if findings.confidence is Confidence.WEAK else ()
    return Answer(
        question=findings.question,
        kind=AnswerKind.EXTRACTIVE,
        text="\n\n".join(f"\u201c{quote.text}\u201d [{numbers[hit]}]" for hit, quote in quotes),
        confidence=findings.confidence,
        citations=tuple(
            citation_of(number, findings.hits[hit], [quote for at, quote in quotes if at == hit])
            for hit, number in numbers.items()
        ),
        notes=(note, *weak, *findings.notes),
    )


def not_found(findings: Findings) -> Answer:
    """The honest answer where nothing found speaks of the question."""
    return Answer(
        question=findings.question,
        kind=AnswerKind.NOT_FOUND,
        text=NOT_FOUND,
        confidence=Confidence.NONE,
        notes=findings.notes,
    )


def _readable(findings: Findings) -> list[Sentence]:
    """The sentences worth a look: those that share most words with the question, where there are too many."""
    read = [each for at, hit in enumerate(findings.hits[:HITS_READ]) for each in _sentences(at, hit)]
    long = [each for each in read if len(each.text) >= CRUMB_CHARACTERS] or read
    asked = _plain(findings.question)
    # A sentence that says the question again is the nearest of all, and answers nothing.
    long = [each for each in long if asked not in _plain(each.text)] or long
    if len(long) > SENTENCES_READ:
        words = content_words(findings.question)
        long.sort(key=lambda each: -coverage(words, each.text))
    once = {each.text: each for each in reversed(long[:SENTENCES_READ])}
    return list(reversed(once.values()))


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _sentences(at: int, hit: Hit) -> list[Sentence]:
    return [
        Sentence(hit=at, part=part, start=start, end=end)
        for part in hit.parts
        for start, end in sentence_spans(part.text)
    ]


async def _scores(question: str, sentences: Sequence[Sentence], reader: Reader | None) -> list[float]:
    words = content_words(question)
    by_words = [WORDS_WEIGHT * coverage(words, each.text) - _malus(each.text) for each in sentences]
    if reader is None:
        return by_words
    try:
        async with asyncio.timeout(SECONDS_MAX):
            asked, *others = await reader.read([question, *(each.text for each in sentences)])
    except Unavailable:
        # The search said already that there are no vectors now; words still tell a good deal.
        return by_words
    return [score + _cosine(asked, other) for score, other in zip(by_words, others, strict=True)]


def _malus(text: str) -> float:
    plain = sum(char.isalnum() or char.isspace() for char in text)
    return 0.0 if plain >= PROSE_SHARE_MIN * len(text) else NO_PROSE_MALUS


def _cosine(one: Vector, other: Vector) -> float:
    # Both have length one, so their product is the cosine.
    return float(sum(map(mul, memoryview(one).cast("f"), memoryview(other).cast("f"))))


def _chosen(sentences: Sequence[Sentence], scores: Sequence[float]) -> list[Sentence]:
    ranked = sorted(zip(scores, range(len(sentences)), strict=True), key=lambda each: (-each[0], each[1]))
    best = ranked[0][0] if ranked else 0.0
    return [sentences[at] for score, at in ranked[:QUOTES_MAX] if score >= best - NEAR_THE_BEST]


def _quotes(chosen: Sequence[Sentence]) -> list[tuple[int, Quote]]:
    """Each hit's chosen sentences in the order of the text, neighbours as one quote; best hit first."""
    quotes: list[tuple[int, Quote]] = []
    for hit in dict.fromkeys(each.hit for each in chosen):
        mine = [each for each in chosen if each.hit == hit]
        runs: list[Sentence] = []
        for each in sorted(mine, key=lambda one: (one.part.start, one.start)):
            last = runs[-1] if runs else None
            if last and last.part == each.part and not each.part.text[last.end : each.start].strip():
                runs[-1] = Sentence(hit=hit, part=each.part, start=last.start, end=each.end)
            else:
                runs.append(each)
        quotes += [(hit, _quote(run)) for run in runs]
    return quotes


def _quote(run: Sentence) -> Quote:
    return Quote(
        text=run.text,
        start=run.part.start + run.start,
        end=run.part.start + run.end,
        page_first=run.part.page_first,
        page_last=run.part.page_last,
    )
