"""Documents: listed page by page, looked at, read as text and as chunks."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BeforeValidator
from starlette.responses import PlainTextResponse

from penstock.doors.http.description import AS_THINGS_STAND
from penstock.doors.http.document_shapes import ChunkPage, ChunkSaid, DocumentDetail, DocumentPage
from penstock.doors.http.etags import UNLESS_KNOWN, tagged
from penstock.doors.http.house import ID_LENGTH_MAX, Admitting, Here, House, In
from penstock.doors.http.routes.taking import wanted_metadata
from penstock.doors.http.routes.workspaces import known
from penstock.doors.http.said import document_said, stage_said, version_said
from penstock.doors.http.shapes import NAME_MAX
from penstock.model.accounts import Workspace
from penstock.model.browsing import Sorting, Wish, place_of
from penstock.model.catalogue import Document, DocumentId, DocumentState
from penstock.model.errors import Refused

router = APIRouter(route_class=Admitting, prefix="/workspaces/{workspace_id}/documents", tags=["documents"])
PAGE_MAX = 200
METADATA_CHARACTERS_MAX = 4_000
DocumentName = Annotated[str, Path(min_length=1, max_length=ID_LENGTH_MAX)]
Limit = Annotated[int, Query(ge=1, le=PAGE_MAX)]
StateWanted = Annotated[
    DocumentState | None,
    BeforeValidator(lambda told: DocumentState.INGESTED if told == "ready" else told),
    Query(alias="status", description="`ready` is another word for `ingested`."),
]


@router.get("")
async def documents(
    house: In,
    here: Here,
    collection: Annotated[str | None, Query(max_length=NAME_MAX)] = None,
    state: StateWanted = None,
    name: Annotated[str | None, Query(max_length=200, description="Stands somewhere in the name.")] = None,
    metadata: Annotated[
        str | None,
        Query(
            max_length=METADATA_CHARACTERS_MAX,
            description="A JSON object: only documents whose metadata holds all of it, as with a search.",
        ),
    ] = None,
    sort: Sorting = Sorting.CREATED,
    order: Annotated[str, Query(pattern="^(asc|desc)$")] = "desc",
    after: Annotated[str | None, Query(max_length=2_000, description="`next` of the page before.")] = None,
    limit: Limit = 50,
) -> DocumentPage:
    """A workspace's documents, page by page."""
    wish = Wish(
        collection=None if collection is None else (await known(house, here, collection)).id,
        state=state,
        name_part=name,
        metadata={} if metadata is None else wanted_metadata(metadata),
        sorting=sort,
        descending=order == "desc",
        after=None if after is None else place_of(after, sort),
        limit=limit,
    )
    page = await house.store.browser.page(here.id, wish)
    total = await house.store.browser.total(here.id, wish)
    return DocumentPage(
        items=[document_said(each) for each in page.documents],
        next=None if page.ended is None else page.ended.as_text(sort),
        total=total.count,
        total_is_more=total.more,
    )


@router.get("/{document_id}", response_model=DocumentDetail, **UNLESS_KNOWN)
async def document(request: Request, house: In, here: Here, document_id: DocumentName) -> Response:
    """One document with its stages and versions."""
    return tagged(request, await detail_of(house, here, await known_document(house, here, document_id)))


@router.get("/{document_id}/text", response_class=PlainTextResponse, responses=AS_THINGS_STAND)
async def text(house: In, here: Here, document_id: DocumentName) -> PlainTextResponse:
    """The text that was read from it; 409 until there is one."""
    found = await known_document(house, here, document_id)
    said = await house.texts.text_of(here.id, found.id)
    if said is None:
        why = "it is being read" if found.error is None else f"it could not be read: {found.error.message}"
        raise Refused(f"its text is not there; {why}", code="ERR_NOT_PARSED")
    return PlainTextResponse(said)


@router.get("/{document_id}/chunks")
async def chunks(
    house: In,
    here: Here,
    document_id: DocumentName,
    after: Annotated[int, Query(ge=-1, le=2**31, description="Only chunks behind this ordinal.")] = -1,
    limit: Limit = 50,
) -> ChunkPage:
    """The pieces that are searched, in the order of the text."""
    found = await known_document(house, here, document_id)
    if found.version is None:
        return ChunkPage(items=[], next=None)
    there = await house.store.browser.chunks(here.id, found.version, after=after, limit=limit)
    items = [
        ChunkSaid(
            ordinal=each.chunk.ordinal,
            start=each.chunk.start,
            end=each.chunk.end,
            tokens=each.chunk.tokens,
            headings=list(each.chunk.headings),
            page_first=each.chunk.page_first,
            page_last=each.chunk.page_last,
            text=each.text,
        )
        for each in there
    ]
    return ChunkPage(items=items, next=items[-1].ordinal if len(items) == limit else None)


async def known_document(house: House, here: Workspace, name: str) -> Document:
    """The workspace's document of this id; another's is not there."""
    found = await house.store.catalogue.document(here.id, DocumentId(name))
    if found is None:
        raise Refused("there is no such document", code="ERR_DOCUMENT_UNKNOWN")
    return found


async def detail_of(house: House, here: Workspace, document: Document) -> DocumentDetail:
    """All that is told of one document, and what its tag is made of."""
    stages = await house.store.catalogue.stages(document.id)
    versions = await house.store.browser.versions(here.id, document.id)
    return DocumentDetail(
        **document_said(document).model_dump(),
        stages=[stage_said(each) for each in stages],
        versions=[version_said(each) for each in versions],
    )
