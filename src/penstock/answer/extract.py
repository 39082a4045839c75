"""The answer without a language model: the sentences that speak of the question, quoted exactly.

Sentences of the best hits are compared with the question by vector and by words, and lose a little for each
place their hit stands behind the first; those near the best one are quoted, neighbours in one piece. What
merely says the question again is the nearest of all and answers nothing, so it is passed over, unless nothing
else speaks of the question at all: who types the words of a note that says no more is shown that note.
Everything quoted keeps its span in the stored text. How much is looked at is bounded, so a question costs a
few dozen short texts to embed, whatever was found.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul

from penstock.answer.citations import citation_of
from penstock.answer.echoes import is_ended, says_again
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
SPEAKING_MIN = 0.3
"""A sentence with none of the question's words speaks of it from this score on."""
NEAR_THE_BEST = 0.12
"""How far below the best a sentence may score and still be quoted."""
PLACE_MALUS = 0.04
"""What each place behind the first hit costs: the search has read more of a passage than one sentence."""
CRUMB_CHARACTERS = 25
CRUMB_WORDS = 4
"""Shorter ones that do not end like a sentence are headings and labels."""
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
    heading: str = ""
    """The heading's line above it in its part: under a question, its answer need not repeat a word of it."""

    @property
    def read(self) -> str:
        """What is compared with the question."""
        return f"{self.heading}\n{self.text}" if self.heading else self.text

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
    chosen = _chosen(_speaking(findings.question, list(zip(scores, sentences, strict=True))))
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
    """The sentences worth a look: those sharing most words with the question, where there are too many."""
    read = [
        each for at, hit in enumerate(findings.hits[:HITS_READ]) for each in _telling(_sentences(at, hit))
    ]
    if len(read) > SENTENCES_READ:
        words = content_words(findings.question)
        read.sort(key=lambda each: (says_again(findings.question, each.text), -coverage(words, each.read)))
    once = {each.text: each for each in reversed(read[:SENTENCES_READ])}
    return list(reversed(once.values()))


def _telling(sentences: list[Sentence]) -> list[Sentence]:
    """A hit's sentences without headings, labels and pieces of rows; all where there are no others."""
    return [each for each in sentences if not _is_crumb(each.text)] or sentences


def _is_crumb(text: str) -> bool:
    if _is_heading(text) or not any(map(str.isalnum, text)) or text.startswith("|") != text.endswith("|"):
        return True
    is_short = len(text) < CRUMB_CHARACTERS and len(text.split()) < CRUMB_WORDS
    return is_short and ": " not in text and not is_ended(text)


def _sentences(at: int, hit: Hit) -> list[Sentence]:
    found: list[Sentence] = []
    for part in hit.parts:
        heading = ""
        for start, end in sentence_spans(part.text):
            if _is_heading(part.text[start:end]):
                heading = part.text[start:end].lstrip("# \t")
                found.append(Sentence(hit=at, part=part, start=start, end=end))
            else:
                found.append(Sentence(hit=at, part=part, start=start, end=end, heading=heading))
    return found


def _is_heading(text: str) -> bool:
    return text.startswith("#") and text.lstrip("#").startswith((" ", "\t"))


async def _scores(question: str, sentences: Sequence[Sentence], reader: Reader | None) -> list[float]:
    words = content_words(question)
    by_words = [WORDS_WEIGHT * coverage(words, each.read) - _malus(each) for each in sentences]
    if reader is None:
        return by_words
    try:
        async with asyncio.timeout(SECONDS_MAX):
            asked, *others = await reader.read([question, *(each.read for each in sentences)])
    except (Unavailable, TimeoutError):
        # No vectors now (the search said so already), or too late; words still tell a good deal.
        return by_words
    return [score + _cosine(asked, other) for score, other in zip(by_words, others, strict=True)]


def _malus(sentence: Sentence) -> float:
    text = sentence.text
    plain = sum(char.isalnum() or char.isspace() for char in text)
    no_prose = 0.0 if plain >= PROSE_SHARE_MIN * len(text) else NO_PROSE_MALUS
    return no_prose + PLACE_MALUS * sentence.hit


def _cosine(one: Vector, other: Vector) -> float:
    # Both have length one, so their product is the cosine.
    return float(sum(map(mul, memoryview(one).cast("f"), memoryview(other).cast("f"))))


def _speaking(question: str, scored: list[tuple[float, Sentence]]) -> list[tuple[float, Sentence]]:
    """Without what merely says the question again, where another sentence speaks of it."""
    others = [each for each in scored if not says_again(question, each[1].text)]
    words = content_words(question)
    speaks = any(score >= SPEAKING_MIN or coverage(words, each.read) for score, each in others)
    return others if speaks else scored


def _chosen(scored: list[tuple[float, Sentence]]) -> list[Sentence]:
    ranked = sorted(scored, key=lambda each: -each[0])
    best = ranked[0][0] if ranked else 0.0
    return [sentence for score, sentence in ranked[:QUOTES_MAX] if score >= best - NEAR_THE_BEST]


def _quotes(chosen: Sequence[Sentence]) -> list[tuple[int, Quote]]:
    """Each hit's chosen sentences in the order of the text, neighbours as one quote; best hit first."""
    quotes: list[tuple[int, Quote]] = []
    for hit in dict.fromkeys(each.hit for each in chosen):
        mine = [each for each in chosen if each.hit == hit]
        runs: list[Sentence] = []
        for each in sorted(mine, key=lambda one: (one.part.start, one.start)):
            last = runs[-1] if runs else None
            if last and last.part == each.part and _are_neighbours(each.part.text[last.end : each.start]):
                runs[-1] = Sentence(hit=hit, part=each.part, start=last.start, end=each.end)
            else:
                runs.append(each)
        quotes += [(hit, _quote(run)) for run in runs]
    return quotes


def _are_neighbours(between: str) -> bool:
    # Over an empty line may lie a heading that looks like any other paragraph.
    return not between.strip() and between.count("\n") < 2


def _quote(run: Sentence) -> Quote:
    return Quote(
        text=run.text,
        start=run.part.start + run.start,
        end=run.part.start + run.end,
        page_first=run.part.page_first,
        page_last=run.part.page_last,
    )
