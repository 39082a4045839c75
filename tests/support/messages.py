"""The messages the two pages show, as their submitters would write them."""

from datetime import UTC, datetime
from typing import Any

QUEUE: dict[str, Any] = {
    "job_id": "rag-policies_rag-1704882600-a7b2c3d4",
    "rag_id": "policies_rag",
    "source_path": "/app/data/sources/policies_rag/incoming/my_policy.pdf",
    "source_type": "pdf",
    "filename": "my_policy.pdf",
    "submitted_at": "2025-01-10T20:15:30.123456Z",
    "submitted_by": "cli",
    "options": {"reindex": False, "skip_validation": False, "preserve_metadata": True},
    "retry_count": 0,
    "max_retries": 3,
}
WORKER: dict[str, Any] = {
    "id": "0f8c2a",
    "filepath": "/srv/files/report.pdf",
    "filesize": 12,
    "priority": "high",
    "retries": 1,
    "creation_time": "2025-01-10T20:15:30.123456789+01:00",
    "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
    "span_id": "00f067aa0ba902b7",
}
SUBMITTED = datetime(2025, 1, 10, 20, 15, 30, 123456, tzinfo=UTC).timestamp()
