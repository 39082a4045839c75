"""What programs we did not write push, read as the page says."""

import json
from typing import Any

from penstock.engines.redis.names import Inbox
from penstock.model.jobs import JobId, NewJob, TenantId
from penstock.model.messages import Refusal, read_message
from penstock.model.payloads import File
from tests.support.servers.bare import Bare

TENANT = TenantId("acme")
QUEUE = "rag:ingest:queue"
DEAD_LETTER = "rag:ingest:queue:dead-letter"


def message(number: int = 1, **fields: object) -> bytes:
    """The documented message, with spaces as its example has them."""
    told: dict[str, object] = {
        "job_id": f"rag-policies_rag-1704882600-{number:08x}",
        "rag_id": "policies_rag",
        "source_path": f"/app/data/sources/policies_rag/incoming/policy-{number}.pdf",
        "source_type": "pdf",
        "filename": f"policy-{number}.pdf",
        "submitted_at": "2025-01-10T20:15:30.123456Z",
        "submitted_by": "cli",
        "options": {"reindex": False, "skip_validation": False, "preserve_metadata": True},
        "retry_count": 0,
        "max_retries": 3,
        **fields,
    }
    return json.dumps(told, indent=2).encode()


def id_of(number: int = 1) -> JobId:
    return JobId(f"rag-policies_rag-1704882600-{number:08x}")


def translated(data: bytes, inbox: Inbox) -> NewJob | Refusal:
    """A plain translation: any collection, one tenant."""
    told = read_message(data)
    if isinstance(told, Refusal):
        return told
    return NewJob(
        id=told.id,
        tenant=told.tenant or TENANT,
        collection=told.collection or "default",
        payload=File(file_path=told.path),
        priority=inbox.rank if told.priority is None else told.priority,
        max_retries=told.max_retries,
    )


def shown(bare: Bare, job_id: str) -> dict[str, str]:
    """`HGETALL` of a job's status."""
    flat = [word.decode() for word in bare.call("HGETALL", f"rag:ingest:job:{job_id}")]
    return dict(zip(flat[::2], flat[1::2], strict=True))


def letters(bare: Bare) -> list[dict[str, Any]]:
    """The dead letters, the latest first."""
    return [json.loads(letter) for letter in bare.call("LRANGE", DEAD_LETTER, 0, -1)]
