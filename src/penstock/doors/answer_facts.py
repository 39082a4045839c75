"""From findings and answers to the documents of `--json`."""

from __future__ import annotations

from penstock.answer.citations import citation_of
from penstock.doors.answer_shapes import (
    Answered,
    CitationFacts,
    ClaimFacts,
    EvidenceFacts,
    Found,
    HitFacts,
    PlaceFacts,
    SpanFacts,
    UsageFacts,
)
from penstock.model.answers import Answer, AnswerKind, Citation, Confidence, Findings, Hit, Quote


def found(findings: Findings) -> Found:
    """What a search found."""
    evidence = findings.evidence
    return Found(
        question=findings.question,
        found=findings.confidence is not Confidence.NONE,
        confidence=findings.confidence.value,
        evidence=EvidenceFacts(
            cosine=_rounded(evidence.cosine),
            coverage=round(evidence.coverage, 4),
            agreement=round(evidence.agreement, 4),
        ),
        hits=[_hit(rank, hit) for rank, hit in enumerate(findings.hits, start=1)],
        notes=list(findings.notes),
    )


def answered(answer: Answer) -> Answered:
    """An answer."""
    usage = answer.usage
    return Answered(
        question=answer.question,
        found=answer.kind is not AnswerKind.NOT_FOUND,
        kind=answer.kind.value,
        confidence=answer.confidence.value,
        text=answer.text,
        citations=[
            CitationFacts(**_place(each), number=each.number, quotes=[_span(one) for one in each.quotes])
            for each in answer.citations
        ],
        claims=[
            ClaimFacts(
                text=answer.text[each.start : each.end],
                start=each.start,
                end=each.end,
                citations=list(each.citations),
            )
            for each in answer.claims
        ],
        unknown_citations=list(answer.unknown_citations),
        unverified_quotes=list(answer.unverified_quotes),
        model=answer.model,
        usage=None
        if usage is None
        else UsageFacts(prompt_tokens=usage.prompt_tokens, completion_tokens=usage.completion_tokens),
        notes=list(answer.notes),
    )


def _hit(rank: int, hit: Hit) -> HitFacts:
    place = _place(citation_of(rank, hit))
    return HitFacts(**place, rank=rank, score=round(hit.score, 6), cosine=_rounded(hit.cosine))


def _place(citation: Citation) -> PlaceFacts:
    first, last = citation.pages or (None, None)
    return PlaceFacts(
        label=citation.label,
        document_id=citation.document,
        document=citation.document_name,
        title=citation.document_title,
        identity=citation.identity,
        collection=citation.collection,
        headings=list(citation.headings),
        page_first=first,
        page_last=last,
        start=citation.spans[0].start,
        end=citation.spans[-1].end,
        spans=[_span(each) for each in citation.spans],
    )


def _span(quote: Quote) -> SpanFacts:
    return SpanFacts(
        text=quote.text,
        start=quote.start,
        end=quote.end,
        page_first=quote.page_first,
        page_last=quote.page_last,
    )


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
