"""What the API says and takes about searches and answers."""

from __future__ import annotations

from pydantic import Field

from penstock.doors.http.shapes import NAME_MAX, Asked, Said
from penstock.model.conversations import SCOPE_NAMES_MAX

TOP_MAX = 50


class Filtered(Asked):
    """What a search is narrowed to; nothing given is everything the workspace has."""

    collections: list[str] = Field(default=[], max_length=SCOPE_NAMES_MAX)
    documents: list[str] = Field(default=[], max_length=SCOPE_NAMES_MAX)
    path: str | None = Field(default=None, max_length=4_096)
    metadata: dict[str, str | int | float | bool | None] = Field(default={}, max_length=20)


class QueryAsked(Asked):
    """A question to be answered from one workspace, or from one collection of it."""

    question: str = Field(min_length=1, max_length=1_000_000)
    workspace_id: str | None = Field(default=None, max_length=100)
    collection: str | None = Field(default=None, max_length=NAME_MAX)
    top_k: int = Field(default=8, ge=1, le=TOP_MAX)
    threshold: float = Field(default=0.0, ge=0.0, le=1.0, description="The least cosine a source may have.")
    filters: Filtered = Filtered()


class SearchAsked(Asked):
    """Words to search for."""

    query: str = Field(min_length=1, max_length=1_000_000)
    top_k: int = Field(default=8, ge=1, le=TOP_MAX)
    threshold: float = Field(default=0.0, ge=0.0, le=1.0, description="The least cosine a hit may have.")
    filters: Filtered = Filtered()


class Span(Said):
    """Words of a document: exactly the characters from `start` to `end` of its stored text."""

    text: str
    start: int
    end: int
    page_first: int | None
    page_last: int | None


class Place(Said):
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
    spans: list[Span]


class HitSaid(Place):
    """One stretch of a document; `cosine` is null where only words found it."""

    rank: int
    score: float
    cosine: float | None


class EvidenceSaid(Said):
    """What the confidence was judged from."""

    cosine: float | None
    coverage: float
    agreement: float


class Found(Said):
    """What a search found; `found` is false where nothing speaks of the question, whatever the hits hold."""

    question: str
    found: bool
    confidence: str
    evidence: EvidenceSaid
    hits: list[HitSaid]
    notes: list[str]


class CitationSaid(Place):
    """A numbered source of an answer; `quotes` is what the answer quotes of it word for word."""

    number: int
    quotes: list[Span]


class ClaimSaid(Said):
    """A sentence of the answer, its characters from `start` to `end`, and the numbers it cites."""

    text: str
    start: int
    end: int
    citations: list[int]


class UsageSaid(Said):
    """What the endpoint says the answer used."""

    prompt_tokens: int
    completion_tokens: int


class Answered(Said):
    """An answer; `kind` is extractive, grounded, ungrounded or not_found."""

    question: str
    found: bool
    kind: str
    confidence: str
    text: str
    citations: list[CitationSaid]
    claims: list[ClaimSaid]
    unknown_citations: list[int]
    unverified_quotes: list[str]
    model: str | None
    usage: UsageSaid | None
    notes: list[str]
