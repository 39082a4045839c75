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
from penstock.model.answers import Confidence, Delta, Evidence, Findings, Finished, Retrieved, Telling
from penstock.model.catalogue import WorkspaceId
from penstock.ports.catalogue import Catalogue

EMPTY = "There are no documents to search yet."
STILL_AT_WORK = "No document is searchable yet, {count:,} on the way."
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
                if isinstance(telling, Finished) and self._places is not None:
                    yield Finished(answer=await self._places.narrowed(telling.answer))
                    return
                yield telling

    async def _ground(self, filters: Filters) -> Ground | None:
        meant = filters if self._places is None else await self._places.meant(filters)
        return await ground_of(self._catalogue, self._workspace, meant)

    async def _explained(self, findings: Findings, ground: Ground, filters: Filters) -> Findings:
        counts = [await self._catalogue.counts(each.id) for each in ground.collections]
        if any(each.get("chunks", 0) for each in counts):
            note = NO_MATCH if filters.are_narrow else None
        else:
            waiting = sum(each.get(state, 0) for each in counts for state in ("pending", "parsed"))
            note = STILL_AT_WORK.format(count=waiting) if waiting else EMPTY
        return replace(findings, notes=(*findings.notes, note)) if note else findings


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
