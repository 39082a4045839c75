"""How sure a search is, from three signs that fail in different ways.

A cosine alone does not tell: some question is always nearest to something, and how near depends on how it is
put. Whether the passages hold the question's own words, and whether both legs found the same chunks, are
signs of another kind; together they tell a question about something else quite well. The weights and floors
were measured with the bundled model (docs/explanation/answers.md says how well they do).

They were measured with sentences. A few bare words lie near to nothing, however well they are found; whoever
types them looks for them, and where the first hit holds them all there is nothing to doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.answer.echoes import is_ended, reads_as_question
from penstock.answer.words import content_words, coverage
from penstock.model.answers import Confidence, Evidence, Hit
from penstock.model.passages import Candidates

COVERING_HITS = 3
AGREEING_CHUNKS = 10
KEYWORDS_MAX = 5
"""More words than these are taken for a sentence, whatever it ends with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """How signs become a grade: a weighted sum and two floors."""

    cosine: float
    coverage: float
    agreement: float
    weak: float
    """Below it nothing was found."""
    strong: float
    """Below it what was found is called weak."""


MEASURED = Gauge(cosine=1.0, coverage=0.5, agreement=0.2, weak=0.6, strong=0.85)
BY_WORDS = Gauge(cosine=0.0, coverage=1.0, agreement=0.3, weak=0.4, strong=0.75)
"""For models whose cosines nobody measured, or where there are none."""


def evidence_of(question: str, found: Sequence[Candidates], hits: Sequence[Hit]) -> Evidence:
    """The three signs."""
    words = content_words(question)
    return Evidence(
        cosine=max((each.dense[0].score for each in found if each.dense), default=None),
        coverage=max((coverage(words, _all_words(hit)) for hit in hits[:COVERING_HITS]), default=0.0),
        agreement=max((_agreement(each) for each in found), default=0.0),
    )


def judged(evidence: Evidence, *, measured: bool) -> Confidence:
    """The grade; `measured` says whether the cosines are those of the model the gauge was made for."""
    cosine = evidence.cosine
    gauge = MEASURED if measured and cosine is not None else BY_WORDS
    sign = (
        gauge.cosine * (cosine or 0.0)
        + gauge.coverage * evidence.coverage
        + gauge.agreement * evidence.agreement
    )
    if sign < gauge.weak:
        return Confidence.NONE
    return Confidence.STRONG if sign >= gauge.strong else Confidence.WEAK


def keywords_stand(question: str, hits: Sequence[Hit]) -> bool:
    """Is the question nothing but a few words, and does the first hit hold every one of them?"""
    is_sentence = is_ended(question) or reads_as_question(question)
    if not hits or is_sentence or len(question.split()) > KEYWORDS_MAX:
        return False
    return coverage(content_words(question), _all_words(hits[0])) == 1.0


def _all_words(hit: Hit) -> str:
    return " ".join([hit.head.document_title or "", *hit.head.headings, hit.text])


def _agreement(found: Candidates) -> float:
    dense, lexical = ({each.chunk for each in leg[:AGREEING_CHUNKS]} for leg in (found.dense, found.lexical))
    # Divided by what there could be: in a collection of three chunks the legs agree on nothing much.
    return len(dense & lexical) / AGREEING_CHUNKS
