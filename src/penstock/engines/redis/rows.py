"""What scripts answer, as values of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from penstock.engines.redis.submitting import read_body
from penstock.model.batches import Batch
from penstock.model.errors import ErrorReport, Refused
from penstock.model.jobs import BatchId, Job, JobId, Lease, Operation, Progress, TenantId, WorkerId
from penstock.model.payloads import DeleteTenant, ItemType
from penstock.model.standing import WorkerSeen
from penstock.model.states import ENDED, State
from penstock.ports.codec import decode_payload

_ITEM_TYPES = {kind.value: kind for kind in ItemType}
_OPERATIONS = {op.value: op for op in Operation}
_PLACES = {"leased": State.LEASED, "done": State.DONE, "failed": State.FAILED}


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """A job as it was submitted, in the order of `submitting.entry_of`."""

    id: str
    item_type: str
    op: str
    tenant: str
    collection: str
    priority: str
    key: str
    subject: str
    payload: str
    body: str
    due: str
    max_retries: str
    delete_first: str


_ENTRY = msgspec.msgpack.Decoder(Entry)
"""What follows no reader needs."""
_FIRST = (b"0", b"0", b"")
"""Retries, crashes and a delete before it, of a job that was never tried."""


class Straight(NamedTuple):
    """What a claim tells that went the straight way: entries, and their token with their ids behind it."""

    texts: Sequence[bytes] = ()
    token_and_ids: bytes = b""
    put_away: Sequence[bytes] = ()
    """Not on that way: the lists of messages that were too large."""


@dataclass(slots=True)
class Leased:
    """Leases on claimed jobs, and the jobs nobody can read, with the token of their attempt."""

    leases: list[Lease] = field(default_factory=list)
    unfit: list[tuple[JobId, int, ErrorReport]] = field(default_factory=list)
    handed: list[tuple[Lease, str]] = field(default_factory=list)
    """Those that were claimed straight, each with its subject."""


def fields_of(flat: Sequence[bytes]) -> dict[str, str]:
    """A hash as names and texts; bytes that are no text show as what they are."""
    words = [word.decode(errors="surrogateescape") for word in flat]
    return dict(zip(words[::2], words[1::2], strict=True))


def leases_of(
    found: Sequence[Sequence[bytes]],
    straight: Straight,
    worker: WorkerId,
    *,
    ends: Mapping[str, str],
    alone: bool,
) -> Leased:
    """The leases a claim answered with; what cannot be read is told apart, each with its reason.

    `ends` is when leases of each item type end.
    """
    leased = Leased()
    for job_id, token, until, *rest in found:
        _add(leased, _Told(job_id, token, until, *rest), worker, alone=alone)
    token, *ids = straight.token_and_ids.split(b" ")
    for job_id, text in zip(ids, straight.texts, strict=True):
        if entry := _add(leased, _Told(job_id, token, ends, text, *_FIRST), worker, alone=alone):
            leased.handed.append((leased.leases[-1], entry.subject))
    return leased


class _Told(NamedTuple):
    """What a script tells of a lease."""

    job_id: bytes
    token: bytes
    until: bytes | Mapping[str, str]
    text: bytes
    retry_count: bytes
    crashes: bytes
    delete_first: bytes


def _add(leased: Leased, told: _Told, worker: WorkerId, *, alone: bool) -> Entry | None:
    try:
        entry = _ENTRY.decode(told.text)
        leased.leases.append(_lease_of(told, entry, worker, alone=alone))
    except Refused as fault:
        report = fault.report()
    except (KeyError, ValueError, msgspec.DecodeError) as error:
        report = ErrorReport(code="ERR_PAYLOAD_INVALID", message=f"the job cannot be read: {error}")
    else:
        return entry
    leased.unfit.append((JobId(told.job_id.decode()), int(told.token), report))
    return None


def _lease_of(told: _Told, entry: Entry, worker: WorkerId, *, alone: bool) -> Lease:
    job_id, token, until, _, retry_count, crashes, delete_first = told
    item_type = _ITEM_TYPES[entry.item_type]
    tenant = TenantId(entry.tenant)
    payload = decode_payload(item_type, entry.payload)
    body = read_body(entry.body)
    if isinstance(payload, DeleteTenant) and payload.tenant_id_to_delete != tenant:
        raise Refused("a tenant may delete only itself", code="ERR_TENANT_INVALID")
    return Lease(  # by position: this is made thousands of times a second
        JobId(job_id.decode()),
        int(token),
        worker,
        float(until if isinstance(until, bytes) else until[entry.item_type]),
        item_type,
        _OPERATIONS[entry.op],
        tenant,
        entry.collection,
        payload,
        int(entry.priority),
        int(retry_count) + 1,
        int(crashes),
        body.branch,
        body.metadata,
        body.document_id,
        delete_first == b"1" or (not delete_first and entry.delete_first == "1"),
        alone,
    )


def job_of(told: Sequence[Any]) -> Job:
    """A job from what `parts/reading.lua` tells."""
    task = fields_of(told[1])
    get = task.get
    created_at = float(task["created_at"])
    body = read_body(get("body", ""))
    place = task["place"]
    state = _PLACES.get(place, State.DELAYED if get("due") else State.READY)
    leased, ended = state is State.LEASED, state in ENDED
    finished_at = _seconds(get("finished_at")) if ended else None
    started_at = _seconds(get("started_at"))
    updated_at = finished_at or float(get("updated_at") or created_at)
    return Job(
        id=JobId(told[0].decode()),
        item_type=ItemType(task["item_type"]),
        op=Operation(get("op") or "ingest"),
        tenant=TenantId(task["tenant"]),
        collection=task["collection"],
        priority=int(get("priority") or 5),
        state=state,
        payload_json=get("payload", "{}"),
        idempotency_key=task["key"],
        subject=task["subject"],
        created_at=created_at,
        updated_at=max(updated_at, started_at or 0.0) if leased else updated_at,
        retry_count=int(get("retry_count") or 0),
        max_retries=int(get("max_retries") or 3),
        crashes=int(get("crashes") or 0),
        branch=body.branch,
        metadata_json=body.metadata,
        document_id=body.document_id,
        run_at=None if leased or ended else _seconds(get("due")),
        lease_until=_seconds(get("until")) if leased else None,
        worker=WorkerId(task["worker"]) if leased else None,
        started_at=started_at,
        finished_at=finished_at,
        parked_since=None if ended else _seconds(get("parked_since")),
        error=_error_of(get("code"), get("message"), get("trace")),
        last_error_at=_seconds(get("error_at")),
        behind=JobId(told[2].decode()) if told[2] else None,
        paused=place == "aside",
        cancel_code=(get("cancel") or None) if leased else None,
        delete_first=get("delete_first") == "1",
        progress=_progress_of(get("progress"), get("token")),
        replay_of=JobId(body.replay_of) if body.replay_of else None,
        barred=bool(told[3]),
    )


def _seconds(text: str | None) -> float | None:
    return float(text) if text else None


def _error_of(code: str | None, message: str | None, trace: str | None) -> ErrorReport | None:
    return ErrorReport(code=code, message=message or "", trace=trace or "") if code else None


def _progress_of(told: str | None, token: str | None) -> Progress | None:
    """What the present attempt told; an earlier one's word is no longer true."""
    of, done, total = told.split(":") if told else ("", "", "")
    if not told or of != token:
        return None
    return Progress(done=int(done), total=int(total) if total else None)


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
