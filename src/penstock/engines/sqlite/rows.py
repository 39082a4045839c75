"""Rows as values of the model."""

from __future__ import annotations

from typing import Any

from penstock.engines.sqlite.claiming import Leased, Taken
from penstock.engines.sqlite.picking import Row
from penstock.engines.sqlite.respelling import as_text
from penstock.engines.sqlite.times import seconds, seconds_or_none
from penstock.model.batches import Batch
from penstock.model.errors import ErrorReport, Refused
from penstock.model.jobs import BatchId, Job, JobId, Lease, Operation, Progress, TenantId, WorkerId
from penstock.model.payloads import DeleteTenant, ItemType
from penstock.model.standing import WorkerSeen
from penstock.model.states import state_of
from penstock.ports.codec import decode_payload

_ITEM_TYPES = {kind.value: kind for kind in ItemType}
_OPERATIONS = {op.value: op for op in Operation}


def job_of(row: tuple[Any, ...]) -> Job:
    """A job from a row of `job_find` or `job_rows`; bytes that others wrote are shown as text."""
    row = tuple(map(as_text, row))
    return Job(
        id=JobId(row[0]),
        item_type=ItemType(row[1]),
        op=Operation(row[2]),
        tenant=TenantId(row[3]),
        collection=row[4],
        priority=row[5],
        state=state_of(row[6], due=row[18] is not None),
        payload_json=row[7],
        idempotency_key=row[8],
        subject=row[9] or "",
        created_at=seconds(row[10]),
        updated_at=seconds(row[11]),
        retry_count=row[12],
        max_retries=row[13],
        crashes=row[14],
        branch=row[15] or "main",
        metadata_json=row[16] or "{}",
        document_id=row[17],
        run_at=seconds_or_none(row[18]),
        lease_until=seconds_or_none(row[19]),
        worker=None if row[20] is None else WorkerId(row[20]),
        started_at=seconds_or_none(row[21]),
        finished_at=seconds_or_none(row[22]),
        parked_since=seconds_or_none(row[23]),
        error=_error_of(row[24], row[25], row[35]),
        last_error_at=seconds_or_none(row[26]),
        behind=None if row[27] is None else JobId(row[27]),
        paused=bool(row[28]),
        cancel_code=row[29],
        delete_first=bool(row[30]),
        progress=_progress_of(row[31], row[32]),
        replay_of=None if row[33] is None else JobId(row[33]),
        barred=bool(row[34]),
    )


def _error_of(code: str | None, message: str | None, trace: str | None) -> ErrorReport | None:
    if code is None and message is None:
        return None
    return ErrorReport(code=code or "ERR_UNEXPECTED", message=message or "", trace=trace or "")


def _progress_of(done: Any, total: Any) -> Progress | None:
    """None if there is none, or if somebody else wrote what is no count."""
    if done is None:
        return None
    try:
        return Progress(done=done, total=total)
    except Refused:
        return None


def lease_of(row: Row, worker: WorkerId, until: float, *, alone: bool) -> Lease:
    """The lease on a claimed row; Refused if its payload does not fit its type."""
    item_type = _ITEM_TYPES[row.item_type]
    payload = decode_payload(item_type, row.payload_json)
    if isinstance(payload, DeleteTenant) and payload.tenant_id_to_delete != row.tenant_id:
        raise Refused("a tenant may delete only itself", code="ERR_TENANT_INVALID")
    return Lease(  # by position: this is made thousands of times a second
        row.queue_id,
        row.token + 1,
        worker,
        until,
        item_type,
        _OPERATIONS[row.op],
        row.tenant_id,
        row.collection,
        payload,
        row.priority,
        row.retry_count + 1,
        row.crashes,
        row.branch or "main",
        row.metadata or "{}",
        row.document_id,
        bool(row.delete_first),
        alone,
    )


def leases_of(taken: Taken, worker: WorkerId) -> Leased:
    """The leases on claimed rows; what cannot be read is told apart, each with its reason."""
    found = Leased()
    for row in taken.rows:
        try:
            found.leases.append(lease_of(row, worker, taken.until[row.item_type], alone=taken.alone))
        except Refused as fault:
            found.unfit.append((row.queue_id, row.token + 1, fault.report()))
        except (TypeError, ValueError) as error:  # a value of a kind no row of ours ever has
            report = ErrorReport(code="ERR_PAYLOAD_INVALID", message=f"the row cannot be read: {error}")
            found.unfit.append((row.queue_id, row.token + 1, report))
    return found


def worker_of(row: tuple[Any, ...], dead_before: float) -> WorkerSeen:
    """A worker from a row of `worker_list`."""
    beat_at = seconds(row[5])
    return WorkerSeen(
        id=WorkerId(row[0]),
        pid=row[1],
        host=row[2],
        concurrency=row[3],
        started_at=seconds(row[4]),
        beat_at=beat_at,
        running=row[6],
        alive=beat_at >= dead_before,
    )


def batch_of(row: tuple[Any, ...]) -> Batch:
    """A batch from a row of `batch_find`."""
    return Batch(
        id=BatchId(row[0]),
        parent=row[1],
        total=row[2],
        done=row[3],
        failed=row[4],
        sealed=bool(row[5]),
        created_at=seconds(row[6]),
        ended_at=seconds_or_none(row[7]),
    )
