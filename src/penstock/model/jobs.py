"""A job: one unit of queued work, an item type and an operation on one subject."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple, NewType

from penstock.model.errors import ErrorReport, Refused
from penstock.model.ids import new_job_id
from penstock.model.payloads import DeleteTenant, ItemType, Payload, item_type_of
from penstock.model.states import State

JobId = NewType("JobId", str)
TenantId = NewType("TenantId", str)
WorkerId = NewType("WorkerId", str)
BatchId = NewType("BatchId", str)


class Operation(StrEnum):
    """What is done with the item."""

    INGEST = "ingest"
    UPDATE = "update"
    DELETE = "delete"
    SCAN = "scan"


_WRITES = frozenset({Operation.INGEST, Operation.UPDATE, Operation.DELETE})
_SCANS = frozenset({Operation.INGEST, Operation.DELETE, Operation.SCAN})
MATRIX: Mapping[ItemType, frozenset[Operation]] = MappingProxyType(
    {
        ItemType.CONTENT: _WRITES,
        ItemType.FILE: _WRITES,
        ItemType.FOLDER: _SCANS,
        ItemType.PROJECT: _SCANS,
        ItemType.LIBRARY: _WRITES,
        ItemType.DELETE_TENANT: frozenset({Operation.DELETE}),
        ItemType.DELETE_DOCUMENT: frozenset({Operation.DELETE}),
        ItemType.RENAME: frozenset({Operation.UPDATE}),
    }
)
"""Which operations an item type offers."""

PRIORITY_NAMES: Mapping[str, int] = MappingProxyType({"high": 9, "normal": 5, "low": 1})
PRIORITY_MAX = 10
NAME_LENGTH_MAX = 255
TIME_MAX = 253_402_300_799.0
"""The last second of the year 9999: what every store can hold."""
COUNT_LIMIT = (1 << 63) - 1
"""The largest whole number every store can hold."""
JOB_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,199}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def priority_of(value: int | str) -> int:
    """A priority by number or by name."""
    number = PRIORITY_NAMES.get(value.lower(), value) if isinstance(value, str) else value
    if isinstance(number, str) and number.isdecimal():
        number = int(number)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= PRIORITY_MAX:
        raise Refused(f"priority {value!r} is not 0 to 10, high, normal or low", code="ERR_PRIORITY_INVALID")
    return number


def operation_of(item_type: ItemType, op: str) -> Operation:
    """The operation by name, refused if the item type does not offer it."""
    try:
        found = op if isinstance(op, Operation) else Operation(op)
    except ValueError:
        raise Refused(
            f"operation {op!r} is none of {', '.join(Operation)}", code="ERR_OPERATION_INVALID"
        ) from None
    if found not in MATRIX[item_type]:
        offered = ", ".join(sorted(MATRIX[item_type]))
        raise Refused(f"{item_type} does not offer {op}; it offers {offered}", code="ERR_OPERATION_INVALID")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job as its submitter wants it; checked here, so an engine receives only legal ones.

    The id is drawn when the value is made: submitting the same value again can never make a second job.
    """

    tenant: TenantId
    collection: str
    payload: Payload
    op: Operation = Operation.INGEST
    priority: int = PRIORITY_NAMES["normal"]
    id: JobId = field(default_factory=lambda: JobId(new_job_id()))
    document_id: str | None = None
    run_at: float | None = None
    """Not before this time, in seconds since the epoch; None means now."""
    max_retries: int = 3
    branch: str = "main"
    metadata: Mapping[str, object] = field(default_factory=dict)
    replay_of: JobId | None = None
    delete_first: bool = False
    """The subject is deleted before it is ingested."""

    @property
    def item_type(self) -> ItemType:
        """The item type, told by the payload."""
        return item_type_of(self.payload)

    def __post_init__(self) -> None:
        operation_of(self.item_type, self.op)
        priority_of(self.priority)
        _check_name(self.tenant, "tenant", "ERR_TENANT_INVALID")
        _check_name(self.collection, "collection", "ERR_COLLECTION_INVALID")
        _check_name(self.branch, "branch", "ERR_PAYLOAD_INVALID")
        if not JOB_ID.fullmatch(self.id):
            raise Refused(
                f"job id {self.id[:40]!r} may hold letters, digits and . _ : -, 200 at most",
                code="ERR_JOB_ID_INVALID",
            )
        if self.run_at is not None and not 0 <= self.run_at <= TIME_MAX:
            raise Refused(
                f"run_at {self.run_at} is not a time up to the year 9999", code="ERR_PAYLOAD_INVALID"
            )
        if not 0 <= self.max_retries <= 100:
            raise Refused(f"max_retries {self.max_retries} is not 0 to 100", code="ERR_PAYLOAD_INVALID")
        if isinstance(self.payload, DeleteTenant) and self.payload.tenant_id_to_delete != self.tenant:
            raise Refused("a tenant may delete only itself", code="ERR_TENANT_INVALID")


@lru_cache(maxsize=1024)
def _check_name(value: str, what: str, code: str) -> None:
    """Refuse what can be no name; the few that all jobs share are looked at once."""
    if not value or len(value) > NAME_LENGTH_MAX or _CONTROL.search(value):
        raise Refused(
            f"{what} {value[:40]!r} must be 1 to {NAME_LENGTH_MAX} characters without control characters",
            code=code,
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Refused(f"{what} {value[:40]!r} is not text", code=code) from None


class Accepted(StrEnum):
    """What a submit did."""

    CREATED = "created"
    EXISTING = "existing"
    """The same job id was here before, or a scan found a job waiting: nothing changed."""
    COALESCED = "coalesced"
    """A waiting job with the same key took over this intent."""


class Receipt(NamedTuple):
    """The answer to a submit: the id that now stands for the intent. A tuple, as a bulk makes thousands."""

    job_id: JobId
    how: Accepted


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a running job has come: n of m, whole numbers from 0 on.

    A total is often an estimate: when more was done than there was to do, the total is what was done.
    """

    done: int
    total: int | None = None
    chunks: int = 0
    """So many are kept, each with its vector; shown in the status of the job, not kept with it."""

    def __post_init__(self) -> None:
        for name, count in (("done", self.done), ("total", self.total), ("chunks", self.chunks)):
            if not (_is_count(count) or (name == "total" and count is None)):
                raise Refused(
                    f"progress: {name} is not a whole number from 0 to {COUNT_LIMIT}",
                    code="ERR_PROGRESS_INVALID",
                )
        if self.total is not None and self.total < self.done:
            object.__setattr__(self, "total", self.done)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= COUNT_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job as the queue knows it."""

    id: JobId
    item_type: ItemType
    op: Operation
    tenant: TenantId
    collection: str
    priority: int
    state: State
    payload_json: str
    idempotency_key: str
    subject: str
    created_at: float
    updated_at: float
    retry_count: int = 0
    max_retries: int = 3
    crashes: int = 0
    branch: str = "main"
    metadata_json: str = "{}"
    document_id: str | None = None
    run_at: float | None = None
    lease_until: float | None = None
    worker: WorkerId | None = None
    started_at: float | None = None
    finished_at: float | None = None
    parked_since: float | None = None
    error: ErrorReport | None = None
    last_error_at: float | None = None
    behind: JobId | None = None
    paused: bool = False
    cancel_code: str | None = None
    delete_first: bool = False
    progress: Progress | None = None
    replay_of: JobId | None = None
    barred: bool = False
    """It waits for a deletion of its tenant."""


class Lease(NamedTuple):
    """The right to one attempt at a job; every extend, settle and guarded write names its token.

    A tuple, because workers are handed thousands a second, and a frozen dataclass takes far longer to make.
    """

    job_id: JobId
    token: int
    worker: WorkerId
    until: float
    item_type: ItemType
    op: Operation
    tenant: TenantId
    collection: str
    payload: Payload
    priority: int
    attempt: int
    """1 for the first run; rises with each error or crash, not with parking."""
    crashes: int = 0
    branch: str = "main"
    metadata_json: str = "{}"
    document_id: str | None = None
    delete_first: bool = False
    """The subject is deleted before it is ingested: an ingest came over a waiting delete."""
    alone: bool = False
    """The worker must run nothing else beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewal:
    """What the keeper learnt about one lease."""

    job_id: JobId
    held: bool
    cancel_code: str | None = None
