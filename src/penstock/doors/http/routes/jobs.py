"""Jobs of a workspace: what runs, what waits, what failed, and taking them in hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response, status

from penstock.doors.http.document_shapes import CancelledSaid, JobPage, JobSaid
from penstock.doors.http.house import ID_LENGTH_MAX, Admitting, Here, In
from penstock.doors.http.repeats import Repeatable
from penstock.doors.http.said import job_said
from penstock.model.catalogue import DocumentId, StageId
from penstock.model.errors import Broken, Refused
from penstock.model.jobs import Job, JobId, Operation
from penstock.model.requests import fingerprint_of
from penstock.model.states import State
from penstock.ports.database import Transaction
from penstock.ports.desk import Wanted
from penstock.ports.replaying import replayed

router = APIRouter(route_class=Admitting, prefix="/workspaces/{workspace_id}/jobs", tags=["jobs"])
PAGE_MAX = 200
STATES: Mapping[str, tuple[State, ...]] = {
    "queued": (State.READY, State.DELAYED),
    "running": (State.LEASED,),
    "success": (State.DONE,),
    "failed": (State.FAILED,),
}
"""Which states a word of the API means."""
JobName = Annotated[str, Path(min_length=1, max_length=200)]


@router.get("")
async def jobs(
    house: In,
    here: Here,
    state: Annotated[Literal["queued", "running", "success", "failed"] | None, Query(alias="status")] = None,
    collection: Annotated[str | None, Query(max_length=255)] = None,
    after: Annotated[
        str | None, Query(max_length=ID_LENGTH_MAX, description="`next` of the page before.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=PAGE_MAX)] = 50,
) -> JobPage:
    """Jobs, the newest first."""
    wanted = Wanted(collection=collection, before=None if after is None else JobId(after), limit=limit)
    desk = await house.desk_of(here.id)
    pages = [await desk.jobs(replace(wanted, state=each)) for each in STATES.get(state or "", (None,))]
    there = pages[0]
    if len(pages) > 1:
        there = sorted(chain(*pages), key=lambda each: (each.created_at, each.id), reverse=True)[:limit]
    return JobPage(
        items=[job_said(each) for each in there], next=there[-1].id if len(there) == limit else None
    )


@router.get("/{job_id}")
async def job(house: In, here: Here, job_id: JobName) -> JobSaid:
    """One job, by its own id or by that of one of its stages, which events name."""
    return job_said(await _known(house, here, job_id))


@router.post("/{job_id}/cancel")
async def cancel(house: In, here: Here, job_id: JobName) -> CancelledSaid:
    """Cancel it, also while it runs."""
    found = await _known(house, here, job_id)
    (cancelled,) = await (await house.desk_of(here.id)).cancel([found.id])
    return CancelledSaid(cancelled=cancelled)


@router.post("/{job_id}/retry", status_code=status.HTTP_202_ACCEPTED, response_model=JobSaid)
async def retry(house: In, here: Here, job_id: JobName, repeatable: Repeatable) -> Response:
    """Run an ended job again, as a new one that names it, unless its document was deleted or moved away."""
    mark = fingerprint_of("retry job", here.id, job_id)
    if (told := await repeatable.earlier(mark)) is not None:
        return told
    found = await _known(house, here, job_id)

    def work(tx: Transaction) -> JobSaid:
        _check_document(tx, found)
        (receipt,) = tx.submit([replayed(found)])
        made = tx.job(receipt.job_id)
        if made is None:
            raise Broken(f"job {receipt.job_id} is not there right after it was accepted")
        return job_said(made)

    return await repeatable.answered(mark, status.HTTP_202_ACCEPTED, work)


def _check_document(tx: Transaction, job: Job) -> None:
    """Refused where the job would bring back a document that is no longer there."""
    if job.document_id is None or job.op is Operation.DELETE:
        return
    now = tx.documents.get(DocumentId(job.document_id))
    if now is None or now.hidden or now.collection_name != job.collection:
        raise Refused("its document is not there any more", code="ERR_DOCUMENT_UNKNOWN")


async def _known(house: In, here: Here, name: str) -> Job:
    desk = await house.desk_of(here.id)
    found = await desk.find(JobId(name))
    if found is None and (owner := await house.store.catalogue.job_of(here.id, StageId(name))) is not None:
        found = await desk.find(owner)
    if found is None:
        raise Refused("there is no such job", code="ERR_JOB_UNKNOWN")
    return found
