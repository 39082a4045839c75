"""Passages and findings as tests need them, cut from a text of their own."""

from __future__ import annotations

from penstock.model.answers import Confidence, Evidence, Findings, Hit
from penstock.model.catalogue import DocumentId
from penstock.model.passages import Passage


def a_passage(
    text: str,
    *,
    chunk: int = 1,
    document: str = "handbook",
    ordinal: int = 0,
    start: int = 0,
    headings: tuple[str, ...] = (),
    page: int | None = None,
    title: str | None = None,
) -> Passage:
    """A chunk of a document, standing at `start` of its stored text."""
    return Passage(
        chunk=chunk,
        document=DocumentId(document),
        document_name=f"{document}.pdf",
        document_title=title,
        identity=f"/docs/{document}.pdf",
        collection="house",
        ordinal=ordinal,
        start=start,
        end=start + len(text),
        text=text,
        headings=headings,
        page_first=page,
        page_last=page,
    )


def a_hit(*passages: Passage, score: float = 0.1, cosine: float | None = 0.7) -> Hit:
    """A hit of these parts."""
    return Hit(parts=passages, score=score, cosine=cosine)


def some_findings(
    question: str, *hits: Hit, confidence: Confidence = Confidence.STRONG, notes: tuple[str, ...] = ()
) -> Findings:
    """What a search might have found."""
    evidence = Evidence(cosine=0.7, coverage=1.0, agreement=0.5)
    return Findings(question=question, hits=hits, confidence=confidence, evidence=evidence, notes=notes)
