"""Our own jobs in the documented words: the message in a list, and the fields of a job's hash.

Any program may read both. What the pages document stands there under its documented name; what only we need
stands behind it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import assert_never

from penstock.model.jobs import Job, JobId, NewJob, Operation
from penstock.model.messages import VERSION
from penstock.model.options import Origin
from penstock.model.payloads import (
    Content,
    DeleteDocument,
    DeleteTenant,
    File,
    Folder,
    Library,
    Payload,
    Project,
    Rename,
)
from penstock.model.provenance import Provenance, provenance_of
from penstock.model.records import Yield, stamp, status_record

STATUS_FIELDS = (
    "job_id",
    "rag_id",
    "filename",
    "status",
    "submitted_at",
    "started_at",
    "completed_at",
    "duration_seconds",
    "chunks_created",
    "embeddings_generated",
    "tokens_used",
    "error",
    "error_type",
    "retry_count",
)
"""Every field the page documents, in its order."""
_ENDING_MAX = 20
_OPTIONS: Mapping[str, bool] = MappingProxyType(
    {"reindex": False, "skip_validation": False, "preserve_metadata": True}
)


def message_of(job: NewJob, *, submitted_at: float) -> dict[str, object]:
    """A job as the message that stands for it while it waits.

    Its payload is not in it: a text would fill the list it waits in, and only our own workers read it.
    """
    told = provenance_of(job.metadata)
    path = path_of(job.payload)
    fields: dict[str, object] = {
        "job_id": job.id,
        "rag_id": job.collection,
        "source_path": path,
        "source_type": source_type_of(job.payload, path),
        "filename": told.filename or name_of(job.payload),
        "submitted_at": stamped(submitted_at if told.submitted_at is None else told.submitted_at),
        "submitted_by": told.submitted_by or _submitter(job.metadata.get("origin")),
        "options": _options(job.metadata.get("options"), told),
        "retry_count": told.retry_count,
        "max_retries": job.max_retries,
        "version": VERSION,
        "priority": job.priority,
        "tenant_id": job.tenant,
    }
    if not is_plain_file(job):
        fields |= {"item_type": job.item_type, "op": job.op, "branch": job.branch}
    if told.trace_id is not None:
        fields["trace_id"] = told.trace_id
    if told.span_id is not None:
        fields["span_id"] = told.span_id
    return {**fields, **told.extra, **fields} if told.extra else fields


def is_plain_file(job: NewJob) -> bool:
    """Whether it is what a message asks for that says nothing of type, operation and branch."""
    return type(job.payload) is File and job.op is Operation.INGEST and job.branch == "main"


def status_fields(
    job: Job, *, filename: str | None = None, made: Yield | None = None, mirror: JobId | None = None
) -> dict[str, str]:
    """The documented fields of a job's hash, each as text, null as the empty text.

    `mirror` is the id of a message that coalesced: its own hash tells what becomes of the job it joined.
    """
    told = provenance_of(job.metadata_json)
    name = told.filename if filename is None else filename
    record = status_record(job, filename=name or "", made=made or Yield())
    if mirror is not None:
        record["job_id"] = mirror
    return {field: _text(record[field]) for field in STATUS_FIELDS}


def path_of(payload: Payload) -> str:
    """The path a payload is about; empty where it is about none."""
    match payload:
        case File():
            return payload.file_path
        case Folder():
            return payload.folder_path
        case Project():
            return payload.project_root
        case Library():
            return payload.source_path or ""
        case Rename():
            return payload.old_path
        case DeleteDocument():
            return payload.document_id if payload.document_id.startswith("/") else ""
        case Content() | DeleteTenant():
            return ""
        case _:
            assert_never(payload)


def name_of(payload: Payload) -> str:
    """What a payload is called before people."""
    match payload:
        case Content():
            return payload.main_tag or payload.source_type
        case Library():
            return payload.library_name
        case DeleteTenant():
            return payload.tenant_id_to_delete
        case DeleteDocument(document_id=document):
            return posixpath.basename(document)
        case _:
            return posixpath.basename(path_of(payload))


def source_type_of(payload: Payload, path: str) -> str:
    """What kind of file a payload is about, as its path tells where nothing else does."""
    if isinstance(payload, File) and payload.file_type:
        return payload.file_type
    # A name that begins with its only full stop has no ending.
    stem, _, ending = path.rpartition("/")[2].rpartition(".")
    ending = ending.lower() if stem.strip(".") else ""
    return ending if ending.isalnum() and len(ending) <= _ENDING_MAX else "txt"


@lru_cache(maxsize=64)
def stamped(seconds: float) -> str:
    """A time as the contract writes it; what thousands of jobs have in common is written once."""
    return stamped_micros(round(seconds * 1_000_000))


def stamped_micros(micros: int) -> str:
    """The same of a time told in microseconds."""
    whole, part = divmod(micros, 1_000_000)
    return f"{_second(whole)}.{part // 1000:03d}Z"


@lru_cache(maxsize=64)
def _second(whole: int) -> str:
    return (stamp(whole) or "").partition(".")[0]


def _submitter(origin: object) -> str:
    return "cli" if origin is None or origin == Origin.ASKED else "scheduled"


def _options(given: object, told: Provenance) -> dict[str, object]:
    if not given and not told.reindex and not told.extra:
        return dict(_OPTIONS)
    options = given if isinstance(given, Mapping) else {}
    found = {name: options.get(name, usual) is True for name, usual in _OPTIONS.items()}
    unknown = told.extra.get("options")
    return {
        **(unknown if isinstance(unknown, Mapping) else {}),
        **found,
        "reindex": found["reindex"] or told.reindex,
    }


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return str(value)
