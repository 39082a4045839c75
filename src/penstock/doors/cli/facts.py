"""Values of the model as documents of `--json`."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.doors.cli.shapes import (
    CountFacts,
    ErrorFacts,
    Explained,
    HealthFacts,
    JobDetails,
    JobFacts,
    PauseFacts,
    ReceiptFacts,
    WorkerFacts,
)
from penstock.doors.cli.words import iso, iso_or_none, parsed, shown
from penstock.model.errors import ErrorReport, Fault
from penstock.model.inventory import Health
from penstock.model.jobs import Job, Receipt
from penstock.model.standing import Pause, Standing, WorkerSeen, explain
from penstock.ports.desk import Counts


def error_facts(error: ErrorReport | Fault) -> ErrorFacts:
    """A kept error, or one that was just raised."""
    return {"code": error.code, "message": error.message, "suggestions": list(error.suggestions)}


def job_facts(job: Job, pauses: Sequence[Pause] = ()) -> JobFacts:
    """A job without what it carries, while these pauses are in force."""
    progress = job.progress
    return {
        "id": job.id,
        "type": job.item_type.value,
        "op": job.op.value,
        "state": shown(job, pauses).value,
        "tenant": job.tenant,
        "collection": job.collection,
        "priority": job.priority,
        "subject": job.subject,
        "document_id": job.document_id,
        "branch": job.branch,
        "created_at": iso(job.created_at),
        "updated_at": iso(job.updated_at),
        "started_at": iso_or_none(job.started_at),
        "finished_at": iso_or_none(job.finished_at),
        "run_at": iso_or_none(job.run_at),
        "lease_until": iso_or_none(job.lease_until),
        "worker": job.worker,
        "retry_count": job.retry_count,
        "max_retries": job.max_retries,
        "crashes": job.crashes,
        "parked_since": iso_or_none(job.parked_since),
        "behind": job.behind,
        "cancel_code": job.cancel_code,
        "delete_first": job.delete_first,
        "progress": None if progress is None else {"done": progress.done, "total": progress.total},
        "replay_of": job.replay_of,
        "error": None if job.error is None else error_facts(job.error),
        "last_error_at": iso_or_none(job.last_error_at),
    }


def job_details(job: Job, pauses: Sequence[Pause] = ()) -> JobDetails:
    """A job with its payload and metadata."""
    return {
        **job_facts(job, pauses),
        "idempotency_key": job.idempotency_key,
        "payload": parsed(job.payload_json),
        "metadata": parsed(job.metadata_json),
    }


def worker_facts(worker: WorkerSeen) -> WorkerFacts:
    """A worker."""
    return {
        "id": worker.id,
        "pid": worker.pid,
        "host": worker.host,
        "alive": worker.alive,
        "draining": worker.draining,
        "concurrency": worker.concurrency,
        "started_at": iso(worker.started_at),
        "beat_at": iso(worker.beat_at),
        "running": worker.running,
    }


def pause_facts(pause: Pause) -> PauseFacts:
    """A pause."""
    return {"scope": pause.scope.value, "name": pause.name, "by": pause.by, "since": iso(pause.since)}


def count_facts(counts: Counts) -> CountFacts:
    """Counts, with the words of the command line."""
    return {
        "ready": counts.ready,
        "delayed": counts.delayed,
        "waiting": counts.waiting,
        "paused": counts.paused,
        "suspect": counts.suspects,
        "running": counts.leased,
        "done": counts.done,
        "failed": counts.failed,
    }


def health_facts(health: Health) -> HealthFacts:
    """The documented health check."""
    return {
        "queue_name": health.queue_name,
        "connection": health.connection,
        "queue_length": health.queue_length,
        "processing": health.processing,
        "queued": health.queued,
        "worker_connected": health.worker_connected,
    }


def receipt_facts(receipt: Receipt) -> ReceiptFacts:
    """The answer to a submit."""
    return {"job_id": receipt.job_id, "how": receipt.how.value}


def explained(standing: Standing) -> Explained:
    """The sentence, and the facts behind it."""
    return {
        "sentence": explain(standing),
        "facts": {
            "job": job_facts(standing.job, [standing.pause] if standing.pause else []),
            "now": iso(standing.now),
            "ahead": standing.ahead,
            "pause": None if standing.pause is None else pause_facts(standing.pause),
            "barrier": standing.barrier,
            "tenant_running": standing.tenant_running,
            "tenant_limit": standing.tenant_limit,
            "workers_alive": standing.workers_alive,
            "workers_draining": standing.workers_draining,
            "holder": None if standing.holder is None else worker_facts(standing.holder),
        },
    }
