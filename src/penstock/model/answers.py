"""What searching and answering give: hits, how sure they are, and answers whose every claim names its place.

Whatever is quoted keeps the offsets of the stored text it was taken from, so that a reader can check it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from penstock.model.catalogue import DocumentId
from penstock.model.passages import Passage

NOT_FOUND = "Not found in your documents."
"""What is said where nothing found speaks of the question, by us and by a model that was told to."""


class Confidence(StrEnum):
    """How far what was found speaks of what was asked."""

    STRONG = "strong"
    WEAK = "weak"
    NONE = "none"
    """Nothing above the floor: as good as not found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a confidence was judged from."""

    cosine: float | None
    """Of the nearest chunk; None where no vectors could be compared."""
    coverage: float
    """The share of the question's content words that one of the best hits holds."""
    agreement: float
    """The share of the first ten chunks that both legs found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A stretch of one document: neighbouring chunks that were found, in the order of the text.

    Between two parts lies nothing but white space that no chunk holds; each part is exactly the stored text.
    """

    parts: tuple[Passage, ...]
    score: float
    cosine: float | None = None

    @property
    def head(self) -> Passage:
        """The first part, which names the document and the headings."""
        return self.parts[0]

    @property
    def start(self) -> int:
        """Where it starts in the stored text."""
        return self.parts[0].start

    @property
    def end(self) -> int:
        """Where it ends in the stored text."""
        return self.parts[-1].end

    @property
    def text(self) -> str:
        """The words, for reading: parts on lines of their own."""
        return "\n".join(part.text for part in self.parts)

    @property
    def pages(self) -> tuple[int, int] | None:
        """The first and the last page it lies on; None where the format has none."""
        known = [
            page for part in self.parts for page in (part.page_first, part.page_last) if page is not None
        ]
        return (min(known), max(known)) if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a search found, best first, and how sure that is."""

    question: str
    hits: tuple[Hit, ...]
    confidence: Confidence
    evidence: Evidence
    notes: tuple[str, ...] = ()
    """What a person should know: a collection that could only be searched by words."""

    def within(self, nearest: float) -> Findings:
        """Those hits whose cosine is at least that; what words alone found has none. 0 leaves all."""
        if nearest <= 0.0:
            return self
        near = tuple(hit for hit in self.hits if hit.cosine is not None and hit.cosine >= nearest)
        return replace(self, hits=near, confidence=self.confidence if near else Confidence.NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Words of a document; `text` is exactly the stored text's [start:end]."""

    text: str
    start: int
    end: int
    page_first: int | None = None
    page_last: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A numbered place an answer leans on."""

    number: int
    document: DocumentId
    document_name: str
    document_title: str | None
    identity: str
    collection: str
    headings: tuple[str, ...]
    pages: tuple[int, int] | None
    spans: tuple[Quote, ...]
    """The cited stretch itself."""
    quotes: tuple[Quote, ...] = ()
    """What the answer quotes of it, word for word: only this may be highlighted."""

    @property
    def label(self) -> str:
        """The place as people write it: handbook.pdf, page 12, "Rooms > Keys"."""
        words = [self.document_name]
        if self.pages is not None:
            first, last = self.pages
            words.append(f"page {first}" if first == last else f"pages {first}-{last}")
        if self.headings:
            words.append(f'"{" > ".join(self.headings)}"')
        return ", ".join(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence of an answer, `text[start:end]` of it, and the citations it carries."""

    start: int
    end: int
    citations: tuple[int, ...]


class AnswerKind(StrEnum):
    """What stands behind an answer's words."""

    EXTRACTIVE = "extractive"
    """Documents quoted exactly; no language model wrote anything."""
    GROUNDED = "grounded"
    """A language model's words, with citations that lead to what was retrieved."""
    UNGROUNDED = "ungrounded"
    """A language model's words without one valid citation."""
    NOT_FOUND = "not_found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What an endpoint says a call used."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer whose citations were checked against what was retrieved."""

    question: str
    kind: AnswerKind
    text: str
    confidence: Confidence
    citations: tuple[Citation, ...] = ()
    claims: tuple[Claim, ...] = ()
    unknown_citations: tuple[int, ...] = ()
    """Numbers the model cited that no source has; they were taken out of the text."""
    unverified_quotes: tuple[str, ...] = ()
    """What the answer puts in quotation marks and no cited source says."""
    model: str | None = None
    usage: Usage | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """The search is over; what follows is made from these findings."""

    findings: Findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """The next words of the answer, with citations already checked."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The whole answer; its text is all deltas put together."""

    answer: Answer


Telling = Retrieved | Delta | Finished
"""What asking tells, in this order: one Retrieved, any number of Delta, one Finished."""


def joined(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Neighbouring chunks of one document as parts without overlap; those that touch become one."""
    parts: list[Passage] = []
    for passage in sorted(passages, key=lambda each: (each.start, each.end)):
        last = parts[-1] if parts else None
        if last is None or passage.start > last.end:
            parts.append(passage)
        elif passage.end > last.end:
            parts[-1] = replace(
                last,
                end=passage.end,
                text=last.text + passage.text[last.end - passage.start :],
                page_last=passage.page_last if passage.page_last is not None else last.page_last,
            )
    return tuple(parts)
