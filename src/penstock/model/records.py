"""The documented records about a job: its status, and what is left beside a file that failed.

Names, order and states are those of the queue contract; what it does not name stands behind what it does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from penstock.model.catalogue import Stage
from penstock.model.errors import ErrorClass, ErrorReport
from penstock.model.jobs import Job
from penstock.model.provenance import provenance_of
from penstock.model.states import State

WORDS: Mapping[State, str] = {
    State.ACCEPTED: "submitted",
    State.READY: "queued",
    State.DELAYED: "queued",
    State.LEASED: "processing",
    State.DONE: "done",
    State.FAILED: "failed",
}
"""A job's state in the words of its status record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Yield:
    """What a job made of its document."""

    chunks: int = 0
    embeddings: int = 0
    tokens: int = 0


def stamp(seconds: float | None) -> str | None:
    """A time as the contract writes it."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def status_record(job: Job, *, filename: str, made: Yield, stages: Sequence[Stage] = ()) -> dict[str, object]:
    """The status of a job: the documented fields, then ours."""
    ended = job.finished_at
    took = None if ended is None or job.started_at is None else round(max(0.0, ended - job.started_at), 3)
    return {
        "job_id": job.id,
        "rag_id": job.collection,
        "filename": filename,
        "status": WORDS[job.state],
        "submitted_at": stamp(_submitted_at(job)),
        "started_at": stamp(job.started_at),
        "completed_at": stamp(ended) if job.state is State.DONE else None,
        "duration_seconds": took,
        "chunks_created": made.chunks,
        "embeddings_generated": made.embeddings,
        "tokens_used": made.tokens,
        "error": None if job.error is None else job.error.message,
        "error_type": None if job.error is None else error_type(job.error),
        "retry_count": job.retry_count,
        "error_code": None if job.error is None else job.error.code,
        "max_retries": job.max_retries,
        "progress": None
        if job.progress is None
        else {"done": job.progress.done, "total": job.progress.total},
        "next_run_at": stamp(job.run_at),
        "stages": [stage_record(stage) for stage in stages],
    }


def stage_record(stage: Stage) -> dict[str, object]:
    """One step of a document's job."""
    return {
        "id": stage.id,
        "stage": stage.kind,
        "status": stage.state,
        "retry_count": stage.retry_count,
        "next_run_at": stamp(stage.next_run_at),
        "error_code": None if stage.error is None else stage.error.code,
        "error_message": None if stage.error is None else stage.error.message,
    }


def error_record(job: Job, *, filename: str) -> dict[str, object]:
    """What is written beside a file that failed, as documented.

    A file's fault has no traceback; of what nobody foresaw it tells places in the program alone.
    """
    error = job.error or ErrorReport(code="ERR_UNEXPECTED", message="the job failed without saying why")
    return {
        "job_id": job.id,
        "rag_id": job.collection,
        "filename": filename,
        "status": "failed",
        "submitted_at": stamp(_submitted_at(job)),
        "started_at": stamp(job.started_at),
        "failed_at": stamp(job.finished_at),
        "error": error.message,
        "error_type": error_type(error),
        "error_code": error.code,
        "retry_count": job.retry_count,
        "max_retries": job.max_retries,
        "suggestions": list(error.suggestions),
        "traceback": error.trace,
    }


def _submitted_at(job: Job) -> float:
    """When its submitter says it was, where a message stands behind it."""
    told = provenance_of(job.metadata_json).submitted_at
    return job.created_at if told is None else told


_TYPES: tuple[tuple[str, str], ...] = (
    ("ERR_FILE_", "FileError"),
    ("ERR_TYPE_", "UnsupportedFileError"),
    ("ERR_PARSE", "ParseError"),
    ("ERR_PDF_", "ParseError"),
    ("ERR_DOCX_", "ParseError"),
    ("ERR_PPTX_", "ParseError"),
    ("ERR_XLSX_", "ParseError"),
    ("ERR_EPUB_", "ParseError"),
    ("ERR_UNSALVAGEABLE", "ParseError"),
    ("ERR_JSON_", "ParseError"),
    ("ERR_TEXT_", "ParseError"),
    ("ERR_NO_TEXT", "ParseError"),
    ("ERR_ENCRYPTED", "ParseError"),
    ("ERR_ARCHIVE_", "ParseError"),
    ("ERR_EMBEDDER_", "EmbeddingError"),
    ("ERR_FETCH_", "FetchError"),
    ("ERR_URL_", "FetchError"),
    ("ERR_COLLECTION_", "ConfigurationError"),
    ("ERR_CONFIGURATION", "ConfigurationError"),
    ("ERR_TIMEOUT", "TimeoutError"),
    ("ERR_CANCELLED", "Cancelled"),
)


def error_type(error: ErrorReport) -> str:
    """The family of an error, in the manner of the contract's `ParseError`."""
    for start, name in _TYPES:
        if error.code.startswith(start):
            return name
    return "ServiceUnavailable" if error.kind is ErrorClass.UNAVAILABLE else "ProcessingError"
