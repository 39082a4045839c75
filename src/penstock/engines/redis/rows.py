"""What scripts answer, as values of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.model.batches import Batch
from penstock.model.errors import ErrorReport, Refused
from penstock.model.jobs import BatchId, Job, JobId, Lease, Operation, Progress, TenantId, WorkerId
from penstock.model.payloads import DeleteTenant, ItemType
from penstock.model.standing import WorkerSeen
from penstock.model.states import State
from penstock.ports.codec import decode_payload

_ITEM_TYPES = {kind.value.encode(): kind for kind in ItemType}
_OPERATIONS = {op.value.encode(): op for op in Operation}
_PLACES = {"leased": State.LEASED, "done": State.DONE, "failed": State.FAILED}


@dataclass(slots=True)
class Leased:
    """Leases on claimed jobs, and the jobs nobody can read, with the token of their attempt."""

    leases: list[Lease] = field(default_factory=list)
    unfit: list[tuple[JobId, int, ErrorReport]] = field(default_factory=list)


def fields_of(flat: Sequence[bytes]) -> dict[str, str]:
    """A hash as names and texts; bytes that are no text show as what they are."""
    words = [word.decode(errors="surrogateescape") for word in flat]
    return dict(zip(words[::2], words[1::2], strict=True))


def leases_of(found: Sequence[Sequence[bytes]], worker: WorkerId, *, alone: bool) -> Leased:
    """The leases a claim answered with; what cannot be read is told apart, each with its reason."""
    leased = Leased()
    for row in found:
        try:
            leased.leases.append(_lease_of(row, worker, alone=alone))
        except Refused as fault:
            leased.unfit.append((JobId(row[0].decode()), int(row[1]), fault.report()))
        except (KeyError, ValueError) as error:
            report = ErrorReport(code="ERR_PAYLOAD_INVALID", message=f"the job cannot be read: {error}")
            leased.unfit.append((JobId(row[0].decode()), int(row[1]), report))
    return leased


def _lease_of(row: Sequence[bytes], worker: WorkerId, *, alone: bool) -> Lease:
    item_type = _ITEM_TYPES[row[3]]
    tenant = TenantId(row[5].decode())
    payload = decode_payload(item_type, row[7].decode())
    if isinstance(payload, DeleteTenant) and payload.tenant_id_to_delete != tenant:
        raise Refused("a tenant may delete only itself", code="ERR_TENANT_INVALID")
    return Lease(  # by position: this is made thousands of times a second
        JobId(row[0].decode()),
        int(row[1]),
        worker,
        float(row[2]),
        item_type,
        _OPERATIONS[row[4]],
        tenant,
        row[6].decode(),
        payload,
        int(row[8]),
        int(row[9]) + 1,
        int(row[10]),
        row[11].decode() or "main",
        row[12].decode() or "{}",
        row[13].decode() or None,
        row[14] == b"1",
        alone,
    )


def job_of(told: Sequence[Any]) -> Job:
    """A job from what `parts/reading.lua` tells."""
    task = fields_of(told[1])
    get = task.get
    due = _seconds(get("due"))
    waits = State.READY if due is None else State.DELAYED
    return Job(
        id=JobId(told[0].decode()),
        item_type=ItemType(task["item_type"]),
        op=Operation(task["op"]),
        tenant=TenantId(task["tenant"]),
        collection=task["collection"],
        priority=int(task["priority"]),
        state=_PLACES.get(task["place"], waits),
        payload_json=task["payload"],
        idempotency_key=task["key"],
        subject=task["subject"],
        created_at=float(task["created_at"]),
        updated_at=float(task["updated_at"]),
        retry_count=int(task["retry_count"]),
        max_retries=int(task["max_retries"]),
        crashes=int(task["crashes"]),
        branch=get("branch") or "main",
        metadata_json=get("metadata") or "{}",
        document_id=get("document_id") or None,
        run_at=due,
        lease_until=_seconds(get("until")),
        worker=WorkerId(task["worker"]) if get("worker") else None,
        started_at=_seconds(get("started_at")),
        finished_at=_seconds(get("finished_at")),
        parked_since=_seconds(get("parked_since")),
        error=_error_of(get("code"), get("message")),
        last_error_at=_seconds(get("error_at")),
        behind=JobId(told[2].decode()) if told[2] else None,
        paused=task["place"] == "aside",
        cancel_code=get("cancel") or None,
        delete_first=get("delete_first") == "1",
        progress=_progress_of(get("done"), get("total")),
        replay_of=JobId(task["replay_of"]) if get("replay_of") else None,
        barred=bool(told[3]),
    )


def _seconds(text: str | None) -> float | None:
    return float(text) if text else None


def _error_of(code: str | None, message: str | None) -> ErrorReport | None:
    return ErrorReport(code=code, message=message or "") if code else None


def _progress_of(done: str | None, total: str | None) -> Progress | None:
    return Progress(done=int(done), total=int(total) if total else None) if done else None


def worker_of(seen: Sequence[Any], dead_before: float) -> WorkerSeen:
    """A worker from what the workers script tells."""
    known = fields_of(seen[1])
    beat_at = float(known["beat_at"])
    return WorkerSeen(
        id=WorkerId(seen[0].decode()),
        pid=int(known["pid"]),
        host=known["host"],
        concurrency=int(known["concurrency"]),
        started_at=float(known["started_at"]),
        beat_at=beat_at,
        running=seen[2],
        alive=beat_at >= dead_before,
    )


def batch_of(batch: str, flat: Sequence[bytes]) -> Batch:
    """A batch from its hash."""
    known = fields_of(flat)
    return Batch(
        id=BatchId(batch),
        parent=known["parent"] or None,
        total=int(known["total"]),
        done=int(known["done"]),
        failed=int(known["failed"]),
        sealed=known["sealed"] == "1",
        created_at=float(known["created_at"]),
        ended_at=_seconds(known["ended_at"]),
    )
