"""`penstock ingest status` by a server: followed by its events, looked at whenever one concerns the job."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import click

from penstock.client import Penstock, PenstockError, Resync
from penstock.client.values import DocumentDetail, Job
from penstock.doors.cli.exits import Exit
from penstock.doors.cli.given import Given
from penstock.doors.cli.ingest.shapes import StageFacts, StatusRecord
from penstock.doors.cli.ingest.status import exit_of, left_alone, show, show_until_over
from penstock.doors.cli.remote.session import with_server
from penstock.doors.cli.shapes import ProgressFacts
from penstock.model.errors import ErrorReport
from penstock.model.records import error_type

WORDS = {"queued": "queued", "running": "processing", "success": "done", "failed": "failed"}
"""A job's state in the words of its status record."""


@click.pass_obj
def status(given: Given, job_id: str, follow: bool, interval: float) -> int:
    """Have the server say where a job is; `--interval` counts for jobs no events tell of."""
    if not follow:
        show(given, with_server(given, lambda server: record_of(server, job_id)))
        return Exit.OK

    async def work(server: Penstock) -> StatusRecord:
        return await show_until_over(given, _looks(server, job_id, interval))

    try:
        return exit_of(with_server(given, work))
    except KeyboardInterrupt:
        return left_alone(job_id)


async def _looks(server: Penstock, job_id: str, interval: float) -> AsyncGenerator[StatusRecord, None]:
    """The record now and after whatever happened to its document; without end.

    A job without one, as a folder's, is told by no event and looked at again and again.
    """
    async with server.subscribe(passing=True) as events:
        record = await record_of(server, job_id)
        yield record
        while record["document_id"] is None:
            await asyncio.sleep(interval)
            record = await record_of(server, job_id)
            yield record
        async for happened in events:
            told = None if isinstance(happened, Resync) else happened.payload
            if told is None or {told.get("document_id"), told.get("job_id")} & {
                record["document_id"] or job_id,
                job_id,
            }:
                record = await record_of(server, job_id)
                yield record


async def record_of(server: Penstock, job_id: str) -> StatusRecord:
    """What a server tells of a job and its document."""
    job = await server.job(job_id)
    document = await _document_of(server, job)
    made = document.chunks if document is not None and job.status == "success" else 0
    return StatusRecord(
        job_id=job.id,
        rag_id=job.collection,
        filename="" if document is None else document.name,
        status=WORDS.get(job.status, job.status),
        submitted_at=job.created_at,
        completed_at=job.finished_at if job.status == "success" else None,
        chunks_created=made,
        embeddings_generated=made,
        error=job.error_message,
        error_type=_error_type(job),
        retry_count=job.retry_count,
        error_code=job.error_code,
        max_retries=job.max_retries,
        progress=None
        if job.progress_done is None
        else ProgressFacts(done=job.progress_done, total=job.progress_total),
        next_run_at=job.next_run_at,
        stages=_stages(document),
        suggestions=list(_suggestions(job)),
        document_id=job.document_id,
        document_state=None if document is None else document.status,
        batch=None,
    )


async def _document_of(server: Penstock, job: Job) -> DocumentDetail | None:
    """None where it has none, or none any more."""
    if job.document_id is None:
        return None
    try:
        return await server.document(job.document_id)
    except PenstockError as error:
        if error.code != "ERR_DOCUMENT_UNKNOWN":
            raise
        return None


def _stages(document: DocumentDetail | None) -> list[StageFacts]:
    return [
        StageFacts(
            id=each.job_id,
            stage=each.job_type,
            status=each.status,
            retry_count=each.retry_count,
            next_run_at=each.next_run_at,
            error_code=each.error_code,
            error_message=each.error_message,
        )
        for each in (() if document is None else document.stages)
    ]


def _report(job: Job) -> ErrorReport | None:
    if job.error_code is None:
        return None
    return ErrorReport(code=job.error_code, message=job.error_message or "")


def _error_type(job: Job) -> str | None:
    report = _report(job)
    return None if report is None else error_type(report)


def _suggestions(job: Job) -> tuple[str, ...]:
    report = _report(job)
    return () if report is None else report.suggestions
