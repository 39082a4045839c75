"""Documents: taken in as files or texts, watched, looked at, tried again, moved, deleted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response, status
from pydantic import BeforeValidator
from starlette.responses import PlainTextResponse

from penstock.doors.http.document_shapes import (
    AcceptedPage,
    AcceptedSaid,
    CancelledSaid,
    ChunkPage,
    ChunkSaid,
    DocumentDetail,
    DocumentPage,
    FailedAsked,
    ManyAsked,
    MoveAsked,
)
from penstock.doors.http.etags import (
    CHANGED,
    KNOWN,
    NOTHING_NEW,
    UNCHANGED,
    check_unchanged,
    tagged,
)
from penstock.doors.http.house import ID_LENGTH_MAX, Here, House, In
from penstock.doors.http.repeats import Repeatable
from penstock.doors.http.routes.taking import accepted, order_of, wanted_metadata
from penstock.doors.http.routes.workspaces import known
from penstock.doors.http.said import document_said, stage_said, version_said
from penstock.doors.http.shapes import NAME_MAX
from penstock.intake.admission import (
    Admitted,
    Order,
    admit_deletion,
    admit_uploads,
)
from penstock.model.accounts import Workspace
from penstock.model.browsing import Sorting, Wish, place_of
from penstock.model.catalogue import Document, DocumentId, DocumentState, StageState
from penstock.model.errors import Refused
from penstock.model.files import BlobHash
from penstock.model.jobs import PRIORITY_NAMES, Job
from penstock.model.requests import fingerprint_of
from penstock.model.states import ENDED
from penstock.model.uploads import Uploaded, upload_name, upload_path
from penstock.ports.database import Transaction
from penstock.wiring.intake import last_job, submit_again

router = APIRouter(prefix="/workspaces/{workspace_id}/documents", tags=["documents"])
PAGE_MAX = 200
METADATA_CHARACTERS_MAX = 4_000
AT_ONCE = 1_000
"""Documents one bulk verb changes; asked again, it goes on."""
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


@router.post("/retry", status_code=status.HTTP_202_ACCEPTED, response_model=AcceptedPage)
async def retry_failed(house: In, here: Here, asked: FailedAsked, repeatable: Repeatable) -> Response:
    """Try every document in error again, or those of one collection or code; a thousand a call."""
    mark = fingerprint_of("retry failed", here.id, asked.model_dump_json())
    if (told := await repeatable.earlier(mark)) is not None:
        return told
    collection = None if asked.collection is None else (await known(house, here, asked.collection)).id
    wish = Wish(collection=collection, state=DocumentState.ERROR, limit=PAGE_MAX)
    failed: list[tuple[Document, Job]] = []
    while len(failed) < AT_ONCE:
        page = await house.store.browser.page(here.id, wish)
        for document in page.documents:
            if asked.code is None or (document.error is not None and document.error.code == asked.code):
                job = await _ended_job(house, document)
                if job is not None:
                    failed.append((document, job))
        if page.ended is None:
            break
        wish = replace(wish, after=page.ended)
    return await repeatable.answered(
        mark, status.HTTP_202_ACCEPTED, lambda tx: _retry_some(tx, failed[:AT_ONCE])
    )


@router.post("/delete", status_code=status.HTTP_202_ACCEPTED, response_model=AcceptedPage)
async def delete_many(house: In, here: Here, asked: ManyAsked, repeatable: Repeatable) -> Response:
    """Delete documents: all of them, or none where one is not there."""
    mark = fingerprint_of("delete many", here.id, asked.model_dump_json())
    if (told := await repeatable.earlier(mark)) is not None:
        return told
    found = [await _known(house, here, each) for each in dict.fromkeys(asked.ids)]

    def work(tx: Transaction) -> AcceptedPage:
        for each in found:
            _still(tx, None, each)
        return _delete(tx, house=house, here=here, documents=found)

    return await repeatable.answered(mark, status.HTTP_202_ACCEPTED, work)


@router.get("/{document_id}", response_model=DocumentDetail, responses=NOTHING_NEW, openapi_extra=KNOWN)
async def document(request: Request, house: In, here: Here, document_id: DocumentName) -> Response:
    """One document with its stages and versions."""
    return tagged(request, await _detail(house, here, await _known(house, here, document_id)))


@router.delete(
    "/{document_id}", status_code=status.HTTP_202_ACCEPTED, responses=CHANGED, openapi_extra=UNCHANGED
)
async def delete(request: Request, house: In, here: Here, document_id: DocumentName) -> AcceptedPage:
    """Delete it: out of every answer at once, purged soon after."""
    found = await _known(house, here, document_id)
    check_unchanged(request, await _detail(house, here, found))

    def work(tx: Transaction) -> AcceptedPage:
        _still(tx, request, found)
        return _delete(tx, house=house, here=here, documents=[found])

    return await house.store.write(work)


@router.get("/{document_id}/text", response_class=PlainTextResponse)
async def text(house: In, here: Here, document_id: DocumentName) -> PlainTextResponse:
    """The text that was read from it; 409 until there is one."""
    found = await _known(house, here, document_id)
    said = await house.texts.text_of(here.id, found.id)
    if said is None:
        raise Refused("its text is not there yet; it is being read", code="ERR_NOT_PARSED")
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
    found = await _known(house, here, document_id)
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


@router.post("/{document_id}/retry", status_code=status.HTTP_202_ACCEPTED, response_model=AcceptedSaid)
async def retry(house: In, here: Here, document_id: DocumentName, repeatable: Repeatable) -> Response:
    """Try a document in error again."""
    mark = fingerprint_of("retry", here.id, document_id)
    if (told := await repeatable.earlier(mark)) is not None:
        return told
    found = await _known(house, here, document_id)
    if found.state is not DocumentState.ERROR:
        raise Refused(f"it is {found.state}, not in error", code="ERR_JOB_UNFINISHED")
    job = await _ended_job(house, found)
    if job is None:
        raise Refused("its job is not kept, or runs; send the document again", code="ERR_JOB_UNFINISHED")
    return await repeatable.answered(mark, status.HTTP_202_ACCEPTED, lambda tx: _retry(tx, found, job))


@router.post("/{document_id}/cancel")
async def cancel(house: In, here: Here, document_id: DocumentName) -> CancelledSaid:
    """Cancel what is being done with it; the version readers see stays."""
    found = await _known(house, here, document_id)
    stages = await house.store.catalogue.stages(found.id)
    jobs = {each.job for each in stages if each.state in (StageState.QUEUED, StageState.RUNNING)}
    cancelled = await house.desk_of(found.tenant).cancel(sorted(jobs)) if jobs else []
    return CancelledSaid(cancelled=any(cancelled))


@router.post(
    "/{document_id}/move",
    status_code=status.HTTP_202_ACCEPTED,
    response_model=AcceptedSaid,
    responses=CHANGED,
    openapi_extra=UNCHANGED,
)
async def move(
    request: Request,
    house: In,
    here: Here,
    document_id: DocumentName,
    asked: MoveAsked,
    repeatable: Repeatable,
) -> Response:
    """Give it another name, or put it into another collection, where it is seen once it is built there.

    It keeps its id, unless its bytes are a document there already: then it becomes that one.
    """
    mark = fingerprint_of("move", here.id, document_id, asked.model_dump_json())
    if (told := await repeatable.earlier(mark)) is not None:
        return told
    found = await _known(house, here, document_id)
    check_unchanged(request, await _detail(house, here, found))
    name = upload_name(asked.name) if asked.name is not None else found.name
    if asked.collection is None or asked.collection == found.collection_name:

        def rename(tx: Transaction) -> AcceptedSaid:
            _still(tx, request, found)
            tx.documents.rename(found.id, found.identity, name)
            return AcceptedSaid(document_id=found.id, job_id="", name=name, how="existing")

        return await repeatable.answered(mark, status.HTTP_202_ACCEPTED, rename)
    target = await known(house, here, asked.collection)
    blob = found.blob or await house.store.catalogue.last_bytes(found.id)
    if blob is None:
        raise Refused("its bytes are not taken in yet", code="ERR_NOT_PARSED")
    order = await order_of(house, here, target.name, json.loads(found.metadata_json))
    async with house.blobs.claiming():  # it may be deleted by somebody else meanwhile
        kept = await house.blobs.verify(BlobHash(blob))
        sent = Uploaded(blob=blob, size=kept.size, name=name)

        def work(tx: Transaction) -> AcceptedSaid:
            _still(tx, request, found)
            known_by = upload_path(blob)
            merges = tx.documents.at(order.tenant, target.id, known_by) is not None
            if merges or found.tenant != order.tenant:
                _delete(tx, house=house, here=here, documents=[found])
            else:
                tx.documents.rehome(found.id, target.id, identity=known_by, name=name)
            (admitted,) = admit_uploads(tx, order, [sent])
            return accepted([admitted]).items[0]

        return await repeatable.answered(mark, status.HTTP_202_ACCEPTED, work)


def _still(tx: Transaction, request: Request | None, found: Document) -> None:
    """Somebody may have come first: it must be there yet, and unchanged where the client asks for that."""
    now = tx.documents.get(found.id)
    if now is None or now.hidden:
        raise Refused("there is no such document", code="ERR_DOCUMENT_UNKNOWN")
    if request is not None and now != found:
        check_unchanged(request, None)


def _delete(tx: Transaction, *, house: House, here: Workspace, documents: Sequence[Document]) -> AcceptedPage:
    """Out of sight now; the job ends whatever is still being done with them."""
    done: list[Admitted] = []
    for each in documents:
        order = Order(
            tenant=each.tenant,
            collection=each.collection_name,
            priority=PRIORITY_NAMES["high"],
            max_retries=house.settings.worker.max_retries,
        )
        done.append(admit_deletion(tx, order, each))
    return AcceptedPage(
        items=[
            AcceptedSaid(document_id=document.id, job_id=each.job, name=document.name, how=each.how.value)
            for document, each in zip(documents, done, strict=True)
        ]
    )


async def _ended_job(house: House, document: Document) -> Job | None:
    """The job that last tried it; None where it is not kept or has not ended."""
    job = await last_job(house.store, document)
    return job if job is not None and job.state in ENDED else None


def _retry(tx: Transaction, document: Document, job: Job) -> AcceptedSaid:
    again = submit_again(tx, document, job)
    return AcceptedSaid(document_id=document.id, job_id=again, name=document.name, how="created")


def _retry_some(tx: Transaction, failed: Sequence[tuple[Document, Job]]) -> AcceptedPage:
    """Those of them that are still there and in error."""
    done: list[AcceptedSaid] = []
    for document, job in failed:
        with suppress(Refused):
            done.append(_retry(tx, document, job))
    return AcceptedPage(items=done)


async def _known(house: House, here: Workspace, name: str) -> Document:
    found = await house.store.catalogue.document(here.id, DocumentId(name))
    if found is None:
        raise Refused("there is no such document", code="ERR_DOCUMENT_UNKNOWN")
    return found


async def _detail(house: House, here: Workspace, document: Document) -> DocumentDetail:
    stages = await house.store.catalogue.stages(document.id)
    versions = await house.store.browser.versions(here.id, document.id)
    return DocumentDetail(
        **document_said(document).model_dump(),
        stages=[stage_said(each) for each in stages],
        versions=[version_said(each) for each in versions],
    )
