"""The documented status record of a job, and what else is known of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeVar, cast

from penstock.doors.cli.ingest.following import PARENTS, UNDER_WAY
from penstock.doors.cli.ingest.shapes import BatchFacts, StatusRecord
from penstock.doors.cli.ingest.waiting import failed_facts
from penstock.doors.cli.session import known
from penstock.doors.cli.words import about, plural
from penstock.model.catalogue import LOCAL_WORKSPACE, Document, Stage
from penstock.model.jobs import BatchId, Job
from penstock.model.records import WORDS, Yield, status_record
from penstock.model.standing import explain
from penstock.model.states import ENDED, State

if TYPE_CHECKING:
    from penstock.wiring.store import Store

FAILURES_MAX = 100
OUTSIDE = "The database does not know of it: its message was not made a job of, or its job is long gone."
N = TypeVar("N", int, float)


async def record_of(store: Store, job_id: str) -> StatusRecord:
    """Everything about one job of ingesting."""
    job = await known(store.desk, job_id)
    stages = await store.catalogue.stages_of_job(job.id)
    document = await _document(store, stages)
    told = status_record(
        job,
        filename=_filename(job, document),
        made=await _yield(store, job, document),
        stages=stages,
    )
    batch = await _batch(store, job)
    ours = {
        "suggestions": [] if job.error is None else list(job.error.suggestions),
        "document_id": None if document is None else document.id,
        "document_state": None if document is None else document.state.value,
        "batch": batch,
        "found": await _found(store, job),
        "why": _children_under_way(job, batch) or explain(await store.desk.standing(job.id)),
    }
    return cast(StatusRecord, told | ours)


def record_outside(told: Mapping[str, str]) -> StatusRecord:
    """The same of a message that is no job of ours: what its documented hash, or the message itself, says."""
    waits = told.get("status") in ("submitted", "queued")
    return StatusRecord(
        job_id=told.get("job_id", ""),
        rag_id=told.get("rag_id", ""),
        filename=told.get("filename", ""),
        status=told.get("status", ""),
        submitted_at=told.get("submitted_at", ""),
        started_at=told.get("started_at") or None,
        completed_at=told.get("completed_at") or None,
        duration_seconds=_number(told.get("duration_seconds"), 0.0) or None,
        chunks_created=_number(told.get("chunks_created"), 0),
        embeddings_generated=_number(told.get("embeddings_generated"), 0),
        tokens_used=_number(told.get("tokens_used"), 0),
        error=told.get("error") or None,
        error_type=told.get("error_type") or None,
        retry_count=_number(told.get("retry_count"), 0),
        error_code=None,
        max_retries=_number(told.get("max_retries"), 3),
        progress=None,
        next_run_at=None,
        stages=[],
        suggestions=[] if waits else ["Look at its letter: penstock dlq show JOB."],
        document_id=None,
        document_state=None,
        batch=None,
        found=None,
        why="Its message waits on Redis; no worker has taken it yet." if waits else OUTSIDE,
    )


def _number(told: str | None, default: N) -> N:
    """Anybody may have written it."""
    try:
        return default if told is None else type(default)(told)
    except ValueError:
        return default


async def _yield(store: Store, job: Job, document: Document | None) -> Yield:
    """What a done job made; every chunk has its vector."""
    if job.state is not State.DONE or document is None or document.version is None:
        return Yield()
    tokens = await store.catalogue.tokens(document.version)
    return Yield(chunks=document.chunks, embeddings=document.chunks, tokens=tokens)


async def _document(store: Store, stages: list[Stage]) -> Document | None:
    if not stages:
        return None
    return await store.catalogue.document(LOCAL_WORKSPACE, stages[-1].document)


def _filename(job: Job, document: Document | None) -> str:
    return document.name if document is not None else PurePosixPath(about(job)).name or about(job)


async def _batch(store: Store, job: Job) -> BatchFacts | None:
    """Its children; a parent that has ended adds no more, though one that failed never said so."""
    found = await store.batches.batch(BatchId(job.id)) if job.item_type in PARENTS else None
    is_final = job.state in ENDED
    if found is None or (is_final and not found.sealed and not found.total):
        return None
    batch = replace(found, sealed=found.sealed or is_final)
    failures = await store.batches.failures(batch.id, limit=FAILURES_MAX) if batch.failed else []
    return BatchFacts(
        state=batch.state.value,
        total=batch.total,
        done=batch.done,
        failed=batch.failed,
        failures=[failed_facts(each) for each in failures],
    )


def _children_under_way(job: Job, batch: BatchFacts | None) -> str | None:
    """Why a parent that is done is not through; none if it is, or never was one."""
    if batch is None or job.state is not State.DONE or batch["state"] not in UNDER_WAY:
        return None
    left = batch["total"] - batch["done"] - batch["failed"]
    return f"It has been looked through; {left:,} of {plural(batch['total'], 'file')} still to do."


async def _found(store: Store, job: Job) -> object:
    """What a folder's look found, as it was kept."""
    report = await store.catalogue.report(job.id) if job.item_type in PARENTS else None
    return None if report is None else json.loads(report)


def has_ended(record: StatusRecord) -> bool:
    """Whether nothing will change any more, its children included."""
    batch = record["batch"]
    if record["status"] not in {WORDS[state] for state in ENDED}:
        return False
    return record["status"] == "failed" or batch is None or batch["state"] not in UNDER_WAY
