"""The front of this room: a question and filters in, findings or an answer out, for one workspace."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from penstock.answer.ask import Asker
from penstock.answer.dialogue import Said
from penstock.answer.extract import not_found
from penstock.answer.places import Places
from penstock.answer.questions import checked
from penstock.answer.scoping import Filters, Ground, ground_of
from penstock.answer.search import TOP_DEFAULT, Searcher
from penstock.model.answers import Answer, Confidence, Delta, Evidence, Findings, Finished, Retrieved, Telling
from penstock.model.catalogue import WorkspaceId
from penstock.ports.catalogue import Catalogue

EMPTY = "There are no documents to search yet."
STILL_AT_WORK = "No document is searchable yet, {count:,} on the way."
MORE_TO_COME = "{count:,} more on the way; what they say cannot be found yet."
NO_MATCH = "No document matches the filters."


class Answers:
    """Searches and answers from what a workspace holds."""

    def __init__(
        self,
        catalogue: Catalogue,
        workspace: WorkspaceId,
        *,
        searcher: Searcher,
        asker: Asker,
        places: Places | None = None,
    ) -> None:
        """Without `places` a quotation is cited by the place of its chunk."""
        self._catalogue = catalogue
        self._workspace = workspace
        self._searcher = searcher
        self._asker = asker
        self._places = places

    async def search(
        self, filters: Filters, text: str, *, top: int = TOP_DEFAULT, nearest: float = 0.0
    ) -> Findings:
        """The best hits that are as near as that; where there is nothing to find, a note says why."""
        question = checked(text)
        ground = await self._ground(filters)
        if ground is None:
            return _nothing(question, EMPTY)
        findings = (await self._searcher.search(ground, question, top=top)).within(nearest)
        if not findings.hits:
            return await self._explained(findings, ground, filters)
        return findings if self._places is None else await self._places.located(findings)

    async def ask(
        self,
        filters: Filters,
        text: str,
        *,
        only_quote: bool = False,
        said: Said | None = None,
        top: int = TOP_DEFAULT,
        nearest: float = 0.0,
    ) -> AsyncGenerator[Telling, None]:
        """Tell what was retrieved, the answer's words, and the whole answer."""
        question = checked(text)
        ground = await self._ground(filters)
        if ground is None:
            for telling in _untold(_nothing(question, EMPTY)):
                yield telling
            return
        asked = self._asker.ask(ground, question, only_quote=only_quote, said=said, top=top, nearest=nearest)
        async with aclosing(asked) as tellings:
            async for telling in tellings:
                if isinstance(telling, Retrieved) and not telling.findings.hits:
                    explained = await self._explained(telling.findings, ground, filters)
                    for each in _untold(explained):
                        yield each
                    return
                if isinstance(telling, Finished):
                    yield Finished(answer=await self._completed(telling.answer, ground))
                    return
                yield telling

    async def _ground(self, filters: Filters) -> Ground | None:
        ground = await ground_of(self._catalogue, self._workspace, filters)
        if ground is None or self._places is None:
            return ground
        return replace(ground, scope=await self._places.meant(ground.scope))

    async def _completed(self, answer: Answer, ground: Ground) -> Answer:
        """With exact places; where it is none, or weak, it tells of documents that may know more."""
        if answer.confidence is not Confidence.STRONG:
            _, waiting = await self._standing(ground)
            answer = replace(answer, notes=(*answer.notes, *_more(waiting)))
        return answer if self._places is None else await self._places.narrowed(answer)

    async def _explained(self, findings: Findings, ground: Ground, filters: Filters) -> Findings:
        chunks, waiting = await self._standing(ground)
        if chunks:
            notes = (*((NO_MATCH,) if filters.are_narrow else ()), *_more(waiting))
        else:
            notes = (STILL_AT_WORK.format(count=waiting) if waiting else EMPTY,)
        return replace(findings, notes=(*findings.notes, *notes))

    async def _standing(self, ground: Ground) -> tuple[int, int]:
        """How many chunks can be found there, and how many documents are on the way."""
        counts = [await self._catalogue.counts(each.id) for each in ground.collections]
        waiting = sum(each.get(state, 0) for each in counts for state in ("pending", "parsed"))
        return sum(each.get("chunks", 0) for each in counts), waiting


def _more(waiting: int) -> tuple[str, ...]:
    return (MORE_TO_COME.format(count=waiting),) if waiting else ()


def _nothing(question: str, note: str) -> Findings:
    return Findings(
        question=question,
        hits=(),
        confidence=Confidence.NONE,
        evidence=Evidence(cosine=None, coverage=0.0, agreement=0.0),
        notes=(note,),
    )


def _untold(findings: Findings) -> tuple[Telling, ...]:
    answer = not_found(findings)
    return Retrieved(findings=findings), Delta(text=answer.text), Finished(answer=answer)
