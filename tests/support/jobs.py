"""Builders of jobs and errors: each call gives a new object unless the test names it."""

from collections.abc import Mapping
from itertools import count
from typing import Any, TypedDict, Unpack

from penstock.model.errors import ErrorClass, ErrorReport
from penstock.model.jobs import JobId, NewJob, Operation, TenantId
from penstock.model.payloads import Content, DeleteDocument, DeleteTenant, File, Folder, Payload, Rename

TENANT = TenantId("acme")
OTHER_TENANT = TenantId("globex")
COLLECTION = "notes"

_numbers = count(1)


class Overrides(TypedDict, total=False):
    """What a test may choose beside the payload."""

    tenant: str
    collection: str
    op: Operation
    priority: int
    id: JobId
    document_id: str | None
    run_at: float | None
    max_retries: int
    branch: str
    metadata: Mapping[str, object]


def a_path() -> str:
    """A path nobody has used before."""
    return f"/documents/{next(_numbers)}.txt"


def a_job_about(payload: Payload, **chosen: Unpack[Overrides]) -> NewJob:
    """A job with any payload, of the usual tenant and collection."""
    fields: dict[str, Any] = {"tenant": TENANT, "collection": COLLECTION, **chosen}
    return NewJob(payload=payload, **fields)


def a_job(path: str | None = None, *, size: int | None = None, **chosen: Unpack[Overrides]) -> NewJob:
    """A file's ingest; `size` tells two versions of a payload apart without touching the key."""
    return a_job_about(File(file_path=path or a_path(), size_bytes=size), **chosen)


def a_delete(path: str | None = None, **chosen: Unpack[Overrides]) -> NewJob:
    """A file's delete: the same key and subject as the ingest of that path."""
    chosen["op"] = Operation.DELETE
    return a_job(path, **chosen)


def a_note(text: str | None = None, **chosen: Unpack[Overrides]) -> NewJob:
    """A text's ingest."""
    return a_job_about(Content(content=text or f"note {next(_numbers)}"), **chosen)


def a_folder(path: str | None = None, *, depth: int = 10, **chosen: Unpack[Overrides]) -> NewJob:
    """A folder's ingest, unless another operation is asked for."""
    return a_job_about(Folder(folder_path=path or a_path(), recursive_depth=depth), **chosen)


def a_scan(path: str | None = None, *, depth: int = 10, **chosen: Unpack[Overrides]) -> NewJob:
    """A folder's scan."""
    chosen["op"] = Operation.SCAN
    return a_folder(path, depth=depth, **chosen)


def a_rename(old: str, new: str | None = None, **chosen: Unpack[Overrides]) -> NewJob:
    """A rename: another key than the file's, and its subject."""
    chosen["op"] = Operation.UPDATE
    return a_job_about(Rename(old_path=old, new_path=new or a_path()), **chosen)


def a_document_delete(document: str, **chosen: Unpack[Overrides]) -> NewJob:
    """A delete by document id or path: another key than the file's, and its subject."""
    chosen["op"] = Operation.DELETE
    return a_job_about(DeleteDocument(document_id=document), **chosen)


def a_tenant_delete(**chosen: Unpack[Overrides]) -> NewJob:
    """The deletion of the whole tenant."""
    chosen["op"] = Operation.DELETE
    return a_job_about(DeleteTenant(tenant_id_to_delete=chosen.get("tenant", TENANT)), **chosen)


def an_error(
    code: str = "ERR_HANDLER_FAILED",
    message: str = "the page would not turn",
    kind: ErrorClass = ErrorClass.TRANSIENT,
) -> ErrorReport:
    """What a handler reports."""
    return ErrorReport(code=code, message=message, kind=kind)
