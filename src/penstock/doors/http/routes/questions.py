"""Search, and questions asked outside a conversation."""

from __future__ import annotations

from contextlib import aclosing
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response

from penstock.answer.markdown import MarkdownSieve, safe_to_show
from penstock.answer.questions import checked
from penstock.answer.scoping import Filters
from penstock.doors.answer_facts import answered, found
from penstock.doors.answer_shapes import Answered, Found
from penstock.doors.http.answer_shapes import Filtered, QueryAsked, SearchAsked
from penstock.doors.http.description import MISSING
from penstock.doors.http.house import Admitting, Asker, Here, House, In, chosen
from penstock.doors.http.telling import MEDIA, Say, streamed, wants_stream, whole
from penstock.model.accounts import Workspace
from penstock.model.answers import Delta, Finished
from penstock.model.catalogue import DocumentId
from penstock.model.errors import Broken

router = APIRouter(route_class=Admitting, tags=["questions"])
TOLD: dict[int | str, dict[str, Any]] = {
    200: {"description": "The answer.", "content": {MEDIA: {"schema": {"type": "string"}}}}
}


@router.post("/workspaces/{workspace_id}/search")
async def search(house: In, here: Here, asked: SearchAsked) -> Found:
    """The stretches of documents that speak of it, best first."""
    findings = await house.answers(here.id).search(
        filters_of(asked.filters), asked.query, top=asked.top_k, nearest=asked.threshold
    )
    return found(findings)


@router.post("/workspaces/{workspace_id}/query", response_model=Answered, responses=TOLD)
async def query(request: Request, house: In, here: Here, asked: QueryAsked) -> Answered | Response:
    """A question answered from one workspace, with its sources.

    With `Accept: text/event-stream` its words come as they are written: `answer.delta` events with their
    `text`, and last an `answer` with the whole, or a `problem`.
    """
    return await _told(request, house, here, asked)


@router.post("/query", response_model=Answered, responses={**TOLD, **MISSING})
async def query_anywhere(request: Request, house: In, asker: Asker, asked: QueryAsked) -> Answered | Response:
    """The same for the workspace the body names, or the only one you have."""
    return await _told(request, house, await chosen(house, asker, asked.workspace_id), asked)


async def _told(request: Request, house: House, here: Workspace, asked: QueryAsked) -> Answered | Response:
    checked(asked.question)  # at once: what is no question need not wait for its turn
    write = partial(_written, house, here, asked)
    return await streamed(request, write) if wants_stream(request) else await whole(request, write)


async def _written(house: House, here: Workspace, asked: QueryAsked, say: Say) -> Answered:
    """The whole answer, in its person's turn; `say` hears its words as they come."""
    filters = filters_of(asked.filters, asked.collection)
    asking = house.answers(here.id).ask(
        filters, asked.question, only_quote=asked.quote, top=asked.top_k, nearest=asked.threshold
    )
    sieve = MarkdownSieve()
    async with house.chat.turn(here.owner), aclosing(asking) as tellings:
        async for telling in tellings:
            match telling:
                case Delta(text=text):
                    await say(sieve.feed(text))
                case Finished(answer=answer):
                    return answered(safe_to_show(answer))
                case _:
                    pass
    raise Broken("an answer had no end")


def filters_of(asked: Filtered, collection: str | None = None) -> Filters:
    """What the search is narrowed to; a collection named beside the filters counts too."""
    names = tuple(dict.fromkeys([*asked.collections, *([] if collection is None else [collection])]))
    return Filters(
        collections=names,
        documents=tuple(DocumentId(each) for each in asked.documents),
        path=asked.path,
        metadata=asked.metadata,
    )
