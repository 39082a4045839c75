"""Documents are deleted, tried again and let be, one by one or many at once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from fastapi import APIRouter, Request, Response, status

from penstock.doors.http.document_shapes import (
    AcceptedPage,
    AcceptedSaid,
    CancelledSaid,
    FailedAsked,
    ManyAsked,
    RetriedPage,
)
from penstock.doors.http.etags import IF_UNCHANGED, check_unchanged
from penstock.doors.http.house import Admitting, Here, House, In
from penstock.doors.http.repeats import Repeatable
from penstock.doors.http.routes.documents import DocumentName, detail_of, known_document
from penstock.doors.http.routes.workspaces import known
from penstock.intake.admission import Admitted, Order, admit_deletion
from penstock.model.accounts import Workspace
from penstock.model.catalogue import Document, StageState
from penstock.model.codes import MEANT
from penstock.model.errors import Refused
from penstock.model.jobs import PRIORITY_NAMES, Accepted, Job
from penstock.model.requests import fingerprint_of
from penstock.model.states import ENDED
from penstock.ports.database import Transaction
from penstock.wiring.intake import check_failed, last_job, submit_again

router = APIRouter(route_class=Admitting, prefix="/workspaces/{workspace_id}/documents", tags=["documents"])
AT_ONCE = 1_000
"""Documents one bulk verb looks at and changes; asked again, it goes on."""


@router.post("/retry", status_code=status.HTTP_202_ACCEPTED, response_model=RetriedPage)
async def retry_failed(house: In, here: Here, asked: FailedAsked, repeatable: Repeatable) -> Response:
    """Try documents in error again, all or those of one collection or code.

    What somebody called off (`ERR_CANCELLED`, `ERR_SUPERSEDED`) is left alone unless `code` names it. A call
    looks at a thousand, in the order of collections and paths; one whose job is no longer kept is left out.
    `next` is where another call goes on.
    """
    mark = fingerprint_of("retry failed", here.id, asked.model_dump_json())
    if (told := await repeatable.earlier(mark)) is not None:
        return told
    collection = None if asked.collection is None else (await known(house, here, asked.collection)).id
    last = None if asked.after is None else await known_document(house, here, asked.after)
    found = await house.store.browser.failed(
        here.id, collection=collection, code=asked.code, after=last, limit=AT_ONCE
    )
    failed = await _failed(house, [each for each in found if asked.code or not _was_meant(each)])
    following = found[-1].id if len(found) == AT_ONCE else None

    def work(tx: Transaction) -> RetriedPage:
        return RetriedPage(items=_retry_some(tx, failed), next=following)

    return await repeatable.answered(mark, status.HTTP_202_ACCEPTED, work)


@router.post("/delete", status_code=status.HTTP_202_ACCEPTED, response_model=AcceptedPage)
async def delete_many(house: In, here: Here, asked: ManyAsked, repeatable: Repeatable) -> Response:
    """Delete documents: all of them, or none where one is not there."""
    mark = fingerprint_of("delete many", here.id, asked.model_dump_json())
    if (told := await repeatable.earlier(mark)) is not None:
        return told
    found = [await known_document(house, here, each) for each in dict.fromkeys(asked.ids)]

    def work(tx: Transaction) -> AcceptedPage:
        for each in found:
            still(tx, None, each)
        return deleted(tx, house=house, here=here, documents=found)

    return await repeatable.answered(mark, status.HTTP_202_ACCEPTED, work)


@router.delete("/{document_id}", status_code=status.HTTP_202_ACCEPTED, **IF_UNCHANGED)
async def delete(request: Request, house: In, here: Here, document_id: DocumentName) -> AcceptedPage:
    """Delete it: out of every answer at once, purged soon after."""
    found = await known_document(house, here, document_id)
    check_unchanged(request, await detail_of(house, here, found))

    def work(tx: Transaction) -> AcceptedPage:
        still(tx, request, found)
        return deleted(tx, house=house, here=here, documents=[found])

    return await house.store.write(work)


@router.post("/{document_id}/retry", status_code=status.HTTP_202_ACCEPTED, response_model=AcceptedSaid)
async def retry(house: In, here: Here, document_id: DocumentName, repeatable: Repeatable) -> Response:
    """Try a document in error again."""
    mark = fingerprint_of("retry", here.id, document_id)
    if (told := await repeatable.earlier(mark)) is not None:
        return told
    found = await known_document(house, here, document_id)
    check_failed(found)
    job = await _ended_job(house, found)
    if job is None:
        raise Refused("its job is not kept, or runs; send the document again", code="ERR_JOB_UNFINISHED")
    return await repeatable.answered(mark, status.HTTP_202_ACCEPTED, lambda tx: _retry(tx, found, job))


@router.post("/{document_id}/cancel")
async def cancel(house: In, here: Here, document_id: DocumentName) -> CancelledSaid:
    """Cancel what is being done with it; the version readers see stays."""
    found = await known_document(house, here, document_id)
    stages = await house.store.catalogue.stages(found.id)
    jobs = {each.job for each in stages if each.state in (StageState.QUEUED, StageState.RUNNING)}
    cancelled = await (await house.desk_of(here.id)).cancel(sorted(jobs)) if jobs else []
    return CancelledSaid(cancelled=any(cancelled))


def still(tx: Transaction, request: Request | None, found: Document) -> None:
    """Somebody may have come first: it must be there yet, and unchanged where the client asks for that."""
    now = tx.documents.get(found.id)
    if now is None or now.hidden:
        raise Refused("there is no such document", code="ERR_DOCUMENT_UNKNOWN")
    if request is not None and now != found:
        check_unchanged(request, None)


def deleted(tx: Transaction, *, house: House, here: Workspace, documents: Sequence[Document]) -> AcceptedPage:
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
            AcceptedSaid(document_id=document.id, job_id=each.job, name=document.name, how=each.how)
            for document, each in zip(documents, done, strict=True)
        ]
    )


def _was_meant(document: Document) -> bool:
    """Whether somebody wanted it to end so."""
    return document.error is not None and document.error.code in MEANT


async def _failed(house: House, documents: Sequence[Document]) -> list[tuple[Document, Job]]:
    """Those whose job has ended and is kept, with it."""
    jobs = [(document, await _ended_job(house, document)) for document in documents]
    return [(document, job) for document, job in jobs if job is not None]


async def _ended_job(house: House, document: Document) -> Job | None:
    """The job that last tried it; None where it is not kept or has not ended."""
    job = await last_job(house.store, document)
    return job if job is not None and job.state in ENDED else None


def _retry(tx: Transaction, document: Document, job: Job) -> AcceptedSaid:
    again = submit_again(tx, document, job)
    return AcceptedSaid(document_id=document.id, job_id=again, name=document.name, how=Accepted.CREATED)


def _retry_some(tx: Transaction, failed: Sequence[tuple[Document, Job]]) -> list[AcceptedSaid]:
    """Those of them that are still there and in error."""
    done: list[AcceptedSaid] = []
    for document, job in failed:
        with suppress(Refused):
            done.append(_retry(tx, document, job))
    return done
