"""Messages of programs we did not write: two documented shapes become one value, or a refusal.

    {"job_id", "rag_id", "source_path", "source_type", "filename", "submitted_at", ...}    the queue contract
    {"id", "filepath", "filesize", "priority", "retries", "creation_time", ...}            the worker contract

Whatever bytes come, the answer is a `Message` or a `Refusal`, never an exception: a refusal goes to the dead
letter beside the exact bytes, and the worker goes on. Whether the message may do what it asks for is not
decided here: that takes the collections there are.

An id need not have the documented form `rag-<rag_id>-<timestamp>-<random>`. The page asks for it so that ids
are unique, and they are told apart by equality alone; other submitters have used UUIDs for years, as we do,
and refusing them would lose documents to gain nothing. It must be safe as a part of a key.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from penstock.model.collections import check_collection_name
from penstock.model.errors import ErrorClass, ErrorReport, Refused
from penstock.model.ids import AGAIN
from penstock.model.instants import UNSET, instant_of
from penstock.model.jobs import JOB_ID, NAME_LENGTH_MAX, PRIORITY_NAMES, JobId, TenantId, priority_of
from penstock.model.message_fields import Fields, invalid
from penstock.model.payloads import check_path
from penstock.model.provenance import RETRIES_MAX
from penstock.model.records import stamp
from penstock.model.strict_json import object_of

VERSION = 1
"""The only version of the message there is; the page names none, so a message may leave it out."""
_NAME_BYTES_MAX = 255
_TYPE = re.compile(r"[\w][\w.+/ -]{0,99}")
_EXPIRY = ":ttl"
"""`rag:ingest:job:<id>:ttl` is a key of its own: an id that ends so would name another job's."""
_QUEUE_SHAPE = ("job_id", "rag_id", "source_path")
_WORKER_SHAPE = ("id", "filepath")
_KNOWN = frozenset(
    {
        "version",
        "priority",
        "trace_id",
        "span_id",
        "tenant_id",
        "item_type",
        "op",
        "max_retries",
        "branch",
    }
)
_QUEUE_FIELDS = _KNOWN | {
    "job_id",
    "rag_id",
    "source_path",
    "source_type",
    "filename",
    "submitted_at",
    "submitted_by",
    "options",
    "retry_count",
}
_WORKER_FIELDS = _KNOWN | {"id", "filepath", "filesize", "retries", "creation_time"}
_OPTIONS = frozenset({"reindex", "skip_validation", "preserve_metadata"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a message is measured by where it says nothing itself."""

    bytes_max: int = 1 << 20
    max_retries: int = 3
    priorities: Mapping[str, int] = field(default_factory=lambda: dict(PRIORITY_NAMES))
    """The numbers of the priorities a message may name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One file somebody wants ingested, checked field by field."""

    id: JobId
    path: str
    filename: str
    collection: str | None = None
    """None in the worker's shape, which knows no collections."""
    source_type: str | None = None
    size: int | None = None
    submitted_at: float | None = None
    submitted_by: str | None = None
    reindex: bool = False
    skip_validation: bool = False
    preserve_metadata: bool = True
    retry_count: int = 0
    max_retries: int = 3
    priority: int | None = None
    """None leaves it to the list the message came by."""
    tenant: TenantId | None = None
    branch: str = "main"
    trace_id: str | None = None
    span_id: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict)
    """Fields nobody documented, as they came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a message is not taken; it goes to the dead letter with this."""

    code: str
    message: str
    job_id: JobId | None = None
    """The id it would have had, where that much could be read: its hash can tell of the refusal."""

    def report(self) -> ErrorReport:
        """The same as an error that is kept and shown."""
        return ErrorReport(code=self.code, message=self.message, kind=ErrorClass.PERMANENT)


_EVERYDAY = Terms()


def read_message(data: bytes, terms: Terms = _EVERYDAY) -> Message | Refusal:
    """What these bytes ask for, or why they cannot ask for anything."""
    fields: Mapping[str, object] = {}
    try:
        fields = object_of(data, bytes_max=terms.bytes_max)
        return _message(fields, terms)
    except Refused as refused:
        return refusal_of(refused, _id_in(fields))


def words_of(data: bytes) -> tuple[str, str, str | None]:
    """Collection, file name and time of submission as a refused message told them; empty where it did not."""
    try:
        fields = object_of(data, bytes_max=len(data))
    except Refused:
        return "", "", None
    named = _short(fields.get("filename")) or posixpath.basename(_short(fields.get("filepath")))
    submitted_at = instant_of(_short(fields.get("submitted_at") or fields.get("creation_time")))
    return _short(fields.get("rag_id")), named, stamp(submitted_at)


def _short(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= NAME_LENGTH_MAX else ""


def refusal_of(refused: Refused, job_id: JobId | None = None) -> Refusal:
    """A refusal that was raised, as a value; its words can be stored whatever they quote."""
    report = refused.report()
    return Refusal(code=report.code, message=report.message, job_id=job_id)


def _message(fields: Mapping[str, object], terms: Terms) -> Message:
    told = Fields(given=fields)
    version = fields.get("version")
    if version is not None and (version != VERSION or isinstance(version, bool | float)):
        raise Refused(
            f"version {str(version)[:40]!r} is unknown; this program reads version {VERSION}",
            code="ERR_MESSAGE_VERSION",
        )
    _check_errand(told)
    if any(name in fields for name in _QUEUE_SHAPE):
        message = _of_queue(told, terms)
    elif any(name in fields for name in _WORKER_SHAPE):
        message = _of_worker(told, terms)
    else:
        raise invalid("the message has neither job_id, rag_id and source_path nor id and filepath")
    return replace(
        message,
        priority=_priority(told, terms),
        tenant=_tenant(told),
        branch=told.label("branch") or "main",
        trace_id=told.label("trace_id"),
        span_id=told.label("span_id"),
    )


def _check_errand(told: Fields) -> None:
    """A message hands in a file; one of ours about something else must not be mistaken for that."""
    item_type, op = told.text("item_type", "file"), told.text("op", "ingest")
    if item_type != "file" or op not in ("ingest", "update"):
        raise Refused(
            f"a message can hand in a file, not {op} a {item_type}"[:200], code="ERR_OPERATION_INVALID"
        )


def _of_queue(told: Fields, terms: Terms) -> Message:
    collection = told.needed("rag_id")
    check_collection_name(collection)
    submitted_at = instant_of(told.needed("submitted_at"))
    if submitted_at is None:
        raise invalid("submitted_at is no time like 2025-01-10T20:15:30.123Z")
    source_type = told.needed("source_type")
    if not _TYPE.fullmatch(source_type):
        raise invalid(f"source_type {source_type[:40]!r} must be a short word like pdf")
    options = told.mapping("options")
    max_retries = told.count("max_retries", terms.max_retries, most=RETRIES_MAX)
    return Message(
        id=_id(told, "job_id"),
        collection=collection,
        path=_path(told, "source_path"),
        source_type=source_type,
        filename=_filename(told.needed("filename")),
        submitted_at=submitted_at,
        submitted_by=told.label("submitted_by"),
        reindex=options.switch("reindex", default=False),
        skip_validation=options.switch("skip_validation", default=False),
        preserve_metadata=options.switch("preserve_metadata", default=True),
        retry_count=_spent(told, "retry_count", max_retries),
        max_retries=max_retries,
        extra=_extra(told, _QUEUE_FIELDS, options),
    )


def _of_worker(told: Fields, terms: Terms) -> Message:
    path = _path(told, "filepath")
    created = told.text("creation_time", "")
    submitted_at = None if created in ("", UNSET) else instant_of(created)
    if submitted_at is None and created not in ("", UNSET):
        raise invalid("creation_time is no time like 2025-01-10T20:15:30.123456789Z")
    max_retries = told.count("max_retries", terms.max_retries, most=RETRIES_MAX)
    return Message(
        id=_id(told, "id"),
        path=path,
        filename=posixpath.basename(path),
        size=told.count("filesize", None),
        submitted_at=submitted_at,
        retry_count=_spent(told, "retries", max_retries),
        max_retries=max_retries,
        extra=_extra(told, _WORKER_FIELDS),
    )


def _id(told: Fields, name: str) -> JobId:
    job_id = told.needed(name)
    if not JOB_ID.fullmatch(job_id) or job_id.endswith(_EXPIRY) or AGAIN in job_id:
        raise Refused(
            f"{name} {job_id[:40]!r} is not letters, digits and . _ : -, 200 at most, "
            f"or ends in {_EXPIRY}, or has {AGAIN} in it",
            code="ERR_JOB_ID_INVALID",
        )
    return JobId(job_id)


def _id_in(fields: Mapping[str, object]) -> JobId | None:
    """The id of a message that is refused for something else."""
    try:
        return _id(Fields(given=fields), "job_id" if "job_id" in fields else "id")
    except Refused:
        return None


def _path(told: Fields, name: str) -> str:
    path = told.needed(name)
    check_path(path, name)
    return path


def _filename(name: str) -> str:
    if "/" in name or name in (".", "..") or len(name.encode()) > _NAME_BYTES_MAX:
        raise invalid(f"filename {name[:40]!r} cannot be the name of a file")
    return name


def _spent(told: Fields, name: str, max_retries: int) -> int:
    spent = told.count(name, 0)
    if spent > max_retries:
        raise invalid(f"{name} is {spent}, more than max_retries, which is {max_retries}")
    return spent


def _priority(told: Fields, terms: Terms) -> int | None:
    value = told.given.get("priority")
    if value is None or value == "":
        return None
    if not isinstance(value, str | int) or (isinstance(value, str) and len(value) > NAME_LENGTH_MAX):
        raise Refused("priority is neither a number nor a name", code="ERR_PRIORITY_INVALID")
    if isinstance(value, str) and value in terms.priorities:
        return terms.priorities[value]
    return priority_of(value)


def _tenant(told: Fields) -> TenantId | None:
    tenant = told.label("tenant_id")
    return None if tenant is None else TenantId(tenant)


def _extra(told: Fields, known: frozenset[str], options: Fields | None = None) -> dict[str, object]:
    extra = told.without(known)
    unknown = options.without(_OPTIONS) if options else {}
    return {**extra, "options": unknown} if unknown else extra
