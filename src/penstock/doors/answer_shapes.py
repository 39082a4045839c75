"""What a search and an answer are told as, by the command line and by the API; the names are promises.

`TypedDict` is that of typing_extensions: the API's description is made from it, which needs that one before
Python 3.12.
"""

from __future__ import annotations

from typing_extensions import TypedDict


class SpanFacts(TypedDict):
    """Words of a document: exactly the characters from `start` to `end` of its stored text."""

    text: str
    start: int
    end: int
    page_first: int | None
    page_last: int | None


class PlaceFacts(TypedDict):
    """Where something stands; pages count from 1 and are null where the format has none."""

    label: str
    document_id: str
    document: str
    title: str | None
    identity: str
    collection: str
    headings: list[str]
    page_first: int | None
    page_last: int | None
    start: int
    end: int
    spans: list[SpanFacts]


class HitFacts(PlaceFacts):
    """One stretch of a document; `cosine` is null where only words found it."""

    rank: int
    score: float
    cosine: float | None


class EvidenceFacts(TypedDict):
    """What the confidence was judged from."""

    cosine: float | None
    coverage: float
    agreement: float


class Found(TypedDict):
    """What a search found; `found` is false where nothing speaks of the question, whatever the hits hold."""

    question: str
    found: bool
    confidence: str
    evidence: EvidenceFacts
    hits: list[HitFacts]
    notes: list[str]


class CitationFacts(PlaceFacts):
    """A numbered source of an answer; `quotes` is what the answer quotes of it word for word."""

    number: int
    quotes: list[SpanFacts]


class ClaimFacts(TypedDict):
    """A sentence of the answer, its characters from `start` to `end`, and the numbers it cites."""

    text: str
    start: int
    end: int
    citations: list[int]


class UsageFacts(TypedDict):
    """What the endpoint says the answer used."""

    prompt_tokens: int
    completion_tokens: int


class Answered(TypedDict):
    """An answer; `kind` is extractive, grounded, ungrounded or not_found."""

    question: str
    found: bool
    kind: str
    confidence: str
    text: str
    citations: list[CitationFacts]
    claims: list[ClaimFacts]
    unknown_citations: list[int]
    unverified_quotes: list[str]
    model: str | None
    usage: UsageFacts | None
    notes: list[str]
