"""Search: a question becomes hits, best first, and a grade of how sure that is.

The question is embedded once for each model the ground uses, both legs are asked, their rankings fused, and
what the chunks say is read under the same scope again, so nothing that vanished meanwhile comes back. Where
something did vanish, all is asked once more: its document may only have been replaced by a newer version.
Where no vectors can be had, words alone are searched, and the findings say so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from penstock.answer.confidence import evidence_of, judged, keywords_stand
from penstock.answer.fusion import fuse, rankings_of
from penstock.answer.gathering import gathered
from penstock.answer.questions import checked
from penstock.answer.reading import Reader
from penstock.answer.scoping import Ground
from penstock.model.answers import Confidence, Findings
from penstock.model.chunks import Vector
from penstock.model.errors import Unavailable
from penstock.model.passages import Question
from penstock.ports.index import Index

TOP_DEFAULT = 10
TOP_MAX = 100
LEG_LIMIT = 50
"""What each leg gives at least; more than is shown, since the other leg may think better of it."""
SECONDS_MAX = 30.0
LOOKS_MAX = 3
"""How often a search is made while documents change under it."""

Read = tuple[dict[str, Vector], list[str]]
"""A question's vectors by model, and what a person should know about them."""


class Searcher:
    """Finds passages; one for a process, so that model and index stay warm."""

    def __init__(
        self, index: Index, readers: Sequence[Reader], *, measured: frozenset[str] = frozenset()
    ) -> None:
        """`measured` names the models whose cosines the confidence was made for."""
        self._index = index
        self._readers = {each.model: each for each in readers}
        self._measured = measured

    async def search(self, ground: Ground, text: str, *, top: int = TOP_DEFAULT) -> Findings:
        """The best hits for a question, at most `top`; TimeoutError after SECONDS_MAX."""
        question = checked(text)
        reading = asyncio.create_task(self._vectors(ground, question))  # words are looked for meanwhile
        try:
            async with asyncio.timeout(SECONDS_MAX):
                return await self._find(ground, question, reading, top)
        except TimeoutError as error:
            raise TimeoutError(f"the search took longer than {SECONDS_MAX:g} seconds") from error
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _find(self, ground: Ground, text: str, reading: asyncio.Task[Read], top: int) -> Findings:
        async def vectors() -> Mapping[str, Vector]:
            return (await reading)[0]

        limit, words = max(LEG_LIMIT, 2 * top), Question(text=text, vectors={})
        for _ in range(LOOKS_MAX):
            found = await self._index.candidates(ground.scope, words, limit=limit, vectors=vectors)
            ranked = fuse(rankings_of(found, ground.models))[:limit]
            passages = await self._index.passages(ground.scope, [chunk for chunk, _ in ranked])
            if len(passages) == len(ranked):
                break
        question, notes = Question(text=text, vectors=(await reading)[0]), (await reading)[1]
        cosines = {each.chunk: each.score for leg in found for each in leg.dense}
        hits = gathered(passages, dict(ranked), cosines, top=top)
        evidence = evidence_of(question.text, found, hits)
        measured = bool(question.vectors) and question.vectors.keys() <= self._measured
        return Findings(
            question=question.text,
            hits=hits,
            confidence=Confidence.STRONG
            if keywords_stand(question.text, hits)
            else judged(evidence, measured=measured),
            evidence=evidence,
            notes=tuple(notes),
        )

    async def _vectors(self, ground: Ground, question: str) -> Read:
        models = sorted(set(ground.models.values()))
        all_read = await asyncio.gather(*(self._read(model, question) for model in models))
        read = dict(zip(models, all_read, strict=True))
        vectors = {model: vector for model, (vector, _) in read.items() if vector is not None}
        return vectors, [note for _, note in read.values() if note is not None]

    async def _read(self, model: str, question: str) -> tuple[Vector | None, str | None]:
        """The question's vector where there can be one, and what a person should know about it."""
        reader = self._readers.get(model)
        if reader is None:
            return None, (
                f"Documents embedded with {model} were searched by words alone, because that model is not"
                " configured; a reindex embeds them with the one that is."
            )
        try:
            (vector,) = await reader.read([question])
        except Unavailable as error:
            return None, f"Searched by words alone; the question could not be embedded: {error.message}."
        if reader.takes(question):
            return vector, None
        return (
            vector,
            "Only the beginning of the question was compared by meaning: it is too long for the model.",
        )
