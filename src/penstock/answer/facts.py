"""Citations and answers as the JSON a message keeps; the names are those of `penstock ask --json`."""

from __future__ import annotations

import json

from penstock.model.answers import Answer, Citation, Quote, Usage


def citations_json(answer: Answer) -> str:
    """The numbered places an answer leans on."""
    return _text([_citation(each) for each in answer.citations])


def usage_json(*used: Usage | None) -> str | None:
    """What all calls for an answer used together; None where no endpoint said so."""
    known = [each for each in used if each is not None]
    if not known:
        return None
    return _text(
        {
            "prompt_tokens": sum(each.prompt_tokens for each in known),
            "completion_tokens": sum(each.completion_tokens for each in known),
        }
    )


def metadata_json(answer: Answer) -> str:
    """What stands behind an answer; `question` is the one that was searched for."""
    return _text(
        {
            "kind": answer.kind.value,
            "confidence": answer.confidence.value,
            "model": answer.model,
            "question": answer.question,
            "notes": list(answer.notes),
        }
    )


def _citation(citation: Citation) -> dict[str, object]:
    first, last = citation.pages or (None, None)
    return {
        "number": citation.number,
        "label": citation.label,
        "document_id": citation.document,
        "document": citation.document_name,
        "title": citation.document_title,
        "identity": citation.identity,
        "collection": citation.collection,
        "headings": list(citation.headings),
        "page_first": first,
        "page_last": last,
        "start": citation.spans[0].start,
        "end": citation.spans[-1].end,
        "spans": [_span(each) for each in citation.spans],
        "quotes": [_span(each) for each in citation.quotes],
    }


def _span(quote: Quote) -> dict[str, object]:
    return {
        "text": quote.text,
        "start": quote.start,
        "end": quote.end,
        "page_first": quote.page_first,
        "page_last": quote.page_last,
    }


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
