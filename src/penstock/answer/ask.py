"""Asking: search, then quote, or let a language model write and check what it wrote.

The model is asked only where the search found something; what it writes is sifted while it streams and
checked when it is complete. An endpoint that fails is an error of the question, told as such: an answer never
quietly becomes another kind of answer. Whoever asked has the findings by then, and may ask for quotations.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from penstock.answer.citations import CitationSieve, cited, claims_of
from penstock.answer.dialogue import Said
from penstock.answer.extract import QUOTED_BY_WISH, QUOTED_ONLY, WEAK, extracted
from penstock.answer.grounding import CONTEXT_TOKENS_DEFAULT, SOURCES_MAX, Prompt, prompt_of
from penstock.answer.reading import Reader
from penstock.answer.scoping import Ground
from penstock.answer.search import Searcher
from penstock.model.answers import (
    NOT_FOUND,
    Answer,
    AnswerKind,
    Confidence,
    Delta,
    Findings,
    Finished,
    Retrieved,
    Telling,
    Usage,
)
from penstock.model.errors import Broken
from penstock.ports.answerer import Answerer

ANSWER_CHARACTERS_MAX = 50_000
"""Where a model that does not end is cut off."""

UNGROUNDED = "This answer cites none of your documents: take it for the model's own words."
NOT_IN_PASSAGES = "The language model found no answer in the passages that were retrieved."
CUT_OFF = "The answer was cut off: the model did not come to an end."


class Asker:
    """Answers questions; one for a process."""

    def __init__(
        self,
        searcher: Searcher,
        *,
        reader: Reader | None,
        answerer: Answerer | None = None,
        context_tokens: int = CONTEXT_TOKENS_DEFAULT,
    ) -> None:
        """`reader` compares sentences for quotations; without an answerer quotations are all there is."""
        self._searcher = searcher
        self._reader = reader
        self._answerer = answerer
        self._context_tokens = context_tokens

    async def ask(
        self,
        ground: Ground,
        text: str,
        *,
        only_quote: bool = False,
        said: Said | None = None,
        top: int = SOURCES_MAX,
        nearest: float = 0.0,
    ) -> AsyncGenerator[Telling, None]:
        """Tell what was retrieved, the words of the answer as they come, and the whole answer, checked.

        In a conversation `text` is what is searched for, `said` what was asked in fact, and before. What is
        less near to it than `nearest` is left out.
        """
        findings = (await self._searcher.search(ground, text, top=min(top, SOURCES_MAX))).within(nearest)
        yield Retrieved(findings=findings)
        if self._answerer is None or only_quote or findings.confidence is Confidence.NONE:
            note = QUOTED_ONLY if self._answerer is None else QUOTED_BY_WISH
            answer = await extracted(findings, self._reader, note=note)
            yield Delta(text=answer.text)
            yield Finished(answer=answer)
            return
        async with aclosing(self._written(findings, self._answerer, said)) as tellings:
            async for telling in tellings:
                yield telling

    async def _written(
        self, findings: Findings, answerer: Answerer, said: Said | None
    ) -> AsyncGenerator[Telling, None]:
        prompt = prompt_of(
            findings.question if said is None else said.question,
            findings.hits,
            turns=() if said is None else said.turns,
            context_tokens=self._context_tokens,
        )
        sieve = CitationSieve(len(prompt.sources))
        written, left = "", ANSWER_CHARACTERS_MAX
        usage: Usage | None = None
        async with aclosing(answerer.write(prompt.instructions, prompt.question)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Usage):
                    usage = piece
                    continue
                if shown := sieve.feed(piece[:left]):
                    written += shown
                    yield Delta(text=shown)
                # What came counts, not what is shown: a model may send nothing but open brackets.
                left -= len(piece)
                if left <= 0:
                    break
        if rest := sieve.finish():
            written += rest
            yield Delta(text=rest)
        if not written.strip():
            raise Broken("the answering endpoint sent no text", code="ERR_ANSWERER_ANSWER")
        answer = _checked(findings, prompt, written, sieve.unknown)
        notes = answer.notes if left > 0 else (*answer.notes, CUT_OFF)
        yield Finished(answer=replace(answer, model=answerer.model, usage=usage, notes=notes))


def _checked(findings: Findings, prompt: Prompt, text: str, unknown: tuple[int, ...]) -> Answer:
    claims = claims_of(text)
    citations, unverified = cited(text, claims, prompt.sources)
    kind = AnswerKind.GROUNDED if citations else AnswerKind.UNGROUNDED
    notes = [*findings.notes]
    if not citations and text.strip().startswith(NOT_FOUND.rstrip(".")):
        kind = AnswerKind.NOT_FOUND
        notes.append(NOT_IN_PASSAGES)
    elif not citations:
        notes.append(UNGROUNDED)
    if findings.confidence is Confidence.WEAK and kind is not AnswerKind.NOT_FOUND:
        notes.append(WEAK)
    if unknown:
        notes.append(f"Taken out: citations of {_numbers(unknown)}, which no source has.")
    if unverified:
        notes.append("Quotation marks around words that no cited source says; they are not highlighted.")
    return Answer(
        question=findings.question,
        kind=kind,
        text=text,
        confidence=findings.confidence,
        citations=citations,
        claims=claims,
        unknown_citations=unknown,
        unverified_quotes=unverified,
        notes=tuple(notes),
    )


def _numbers(numbers: tuple[int, ...]) -> str:
    told = ", ".join(map(str, numbers[:10]))
    return told if len(numbers) <= 10 else f"{told} and {len(numbers) - 10} more"
