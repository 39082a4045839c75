"""From what the store knows to what the API says."""

from __future__ import annotations

from penstock.doors.http.document_shapes import DocumentSaid, ErrorSaid, JobSaid, StageSaid, VersionSaid
from penstock.model.catalogue import Document, Stage, StageState, Version
from penstock.model.instants import instant
from penstock.model.jobs import Job
from penstock.model.states import EVENT_STATUS
from penstock.model.stored_json import stored_object


def document_said(document: Document) -> DocumentSaid:
    """A document as lists show it."""
    error = document.error
    return DocumentSaid(
        id=document.id,
        workspace_id=document.workspace,
        collection=document.collection_name,
        name=document.name,
        title=document.title,
        source=document.source,
        status=document.state,
        media=document.media,
        size=document.size,
        pages=document.pages,
        chunks=document.chunks,
        metadata=stored_object(document.metadata_json),
        error=None
        if error is None
        else ErrorSaid(
            stage=document.error_stage,
            code=error.code,
            message=error.message,
            suggestions=list(error.suggestions),
        ),
        created_at=instant(document.created_at),
        updated_at=instant(document.updated_at),
    )


def stage_said(stage: Stage) -> StageSaid:
    """A step of a document's job."""
    return StageSaid(
        job_id=stage.id,
        job_type=stage.kind,
        status=stage.state,
        retry_count=stage.retry_count,
        next_run_at=instant_or_none(stage.next_run_at),
        error_code=stage.error.code if stage.error else None,
        error_message=stage.error.message if stage.error else None,
        created_at=instant(stage.created_at),
        updated_at=instant(stage.updated_at),
    )


def version_said(version: Version) -> VersionSaid:
    """One ingest of a document."""
    return VersionSaid(id=version.id, state=version.state, sha256=version.blob, chunks=version.chunks)


def job_said(job: Job) -> JobSaid:
    """A job in the words of its events."""
    return JobSaid(
        id=job.id,
        item_type=job.item_type,
        operation=job.op,
        collection=job.collection,
        status=StageState(EVENT_STATUS[job.state]),
        priority=job.priority,
        retry_count=job.retry_count,
        max_retries=job.max_retries,
        document_id=job.document_id,
        progress_done=job.progress.done if job.progress else None,
        progress_total=job.progress.total if job.progress else None,
        error_code=job.error.code if job.error else None,
        error_message=job.error.message if job.error else None,
        next_run_at=instant_or_none(job.run_at),
        replay_of=job.replay_of,
        created_at=instant(job.created_at),
        updated_at=instant(job.updated_at),
        finished_at=instant_or_none(job.finished_at),
    )


def instant_or_none(at: float | None) -> str | None:
    """A time that may be absent."""
    return None if at is None else instant(at)
