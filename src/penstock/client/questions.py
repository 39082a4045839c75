"""Search and questions in one workspace, outside conversations."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TypedDict, Unpack

from penstock.client import talk, telling
from penstock.client.line import STREAM, Request
from penstock.client.place import Place
from penstock.client.values import Answer, Found

ANSWER_SECONDS = 300.0
"""How long an answer may take to be written."""


class Asking(TypedDict, total=False):
    """How a question is asked; whatever is left out is as `_question` has it."""

    collections: Sequence[str]
    documents: Sequence[str]
    path: str | None
    metadata: Mapping[str, object] | None
    top_k: int
    threshold: float
    quote: bool
    """Only quoted from the sources, by no language model."""
    timeout: float
    """Seconds until the answer is there."""


class Questions(Place):
    """What is asked of the documents there."""

    async def search(
        self,
        query: str,
        *,
        collections: Sequence[str] = (),
        documents: Sequence[str] = (),
        path: str | None = None,
        metadata: Mapping[str, object] | None = None,
        top_k: int = 8,
        threshold: float = 0.0,
    ) -> Found:
        """The stretches of documents that speak of it, best first."""
        body = {
            "query": query,
            "top_k": top_k,
            "threshold": threshold,
            "filters": _filters(collections, documents, path, metadata),
        }
        request = Request(method="POST", path=await self._at("search"), body=body, repeats=True)
        return await self._line.ask(request, Found)

    async def ask(self, question: str, **asking: Unpack[Asking]) -> Answer:
        """A question answered, with its sources; or only quoted from them, by no language model."""
        return await self._line.ask(_question(await self._at("query"), question, **asking), Answer)

    async def telling(
        self, question: str, **asking: Unpack[Asking]
    ) -> AsyncGenerator[talk.Delta | Answer, None]:
        """The same with the words as they are written; the last that comes is the whole answer."""
        request = _question(await self._at("query"), question, **asking)
        events = self._line.listen(replace(request, headers={"Accept": STREAM}))
        async with aclosing(telling.told(events)) as told:
            async for each in told:
                yield each


def _question(
    at: str,
    question: str,
    *,
    collections: Sequence[str] = (),
    documents: Sequence[str] = (),
    path: str | None = None,
    metadata: Mapping[str, object] | None = None,
    top_k: int = 8,
    threshold: float = 0.0,
    quote: bool = False,
    timeout: float = ANSWER_SECONDS,
) -> Request:
    body = {
        "question": question,
        "top_k": top_k,
        "threshold": threshold,
        "quote": quote,
        "filters": _filters(collections, documents, path, metadata),
    }
    return Request(method="POST", path=at, body=body, repeats=True, seconds=timeout)


def _filters(
    collections: Sequence[str],
    documents: Sequence[str],
    path: str | None,
    metadata: Mapping[str, object] | None,
) -> dict[str, object]:
    return {
        "collections": list(collections),
        "documents": list(documents),
        "path": path,
        "metadata": dict(metadata or {}),
    }
