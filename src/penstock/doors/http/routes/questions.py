"""Search, and questions asked outside a conversation."""

from __future__ import annotations

from contextlib import aclosing

from fastapi import APIRouter

from penstock.answer.markdown import safe_to_show
from penstock.answer.scoping import Filters
from penstock.doors.answer_facts import answered, found
from penstock.doors.answer_shapes import Answered, Found
from penstock.doors.http.answer_shapes import Filtered, QueryAsked, SearchAsked
from penstock.doors.http.house import Asker, Here, House, In, chosen
from penstock.model.accounts import Workspace
from penstock.model.answers import Finished
from penstock.model.catalogue import DocumentId
from penstock.model.errors import Broken

router = APIRouter(tags=["questions"])


@router.post("/workspaces/{workspace_id}/search")
async def search(house: In, here: Here, asked: SearchAsked) -> Found:
    """The stretches of documents that speak of it, best first."""
    findings = await house.answers(here.id).search(
        filters_of(asked.filters), asked.query, top=asked.top_k, nearest=asked.threshold
    )
    return found(findings)


@router.post("/workspaces/{workspace_id}/query")
async def query(house: In, here: Here, asked: QueryAsked) -> Answered:
    """A question answered from one workspace, with its sources."""
    return await _answered(house, here, asked)


@router.post("/query")
async def query_anywhere(house: In, asker: Asker, asked: QueryAsked) -> Answered:
    """The same for the workspace the body names, or the only one you have."""
    return await _answered(house, await chosen(house, asker, asked.workspace_id), asked)


async def _answered(house: House, here: Workspace, asked: QueryAsked) -> Answered:
    filters = filters_of(asked.filters, asked.collection)
    asking = house.answers(here.id).ask(
        filters, asked.question, only_quote=asked.quote, top=asked.top_k, nearest=asked.threshold
    )
    async with aclosing(asking) as tellings:
        async for telling in tellings:
            if isinstance(telling, Finished):
                return answered(safe_to_show(telling.answer))
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
