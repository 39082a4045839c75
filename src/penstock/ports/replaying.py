"""Running an ended job again, the same way on every engine."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace

from penstock.model.errors import Refused
from penstock.model.jobs import Job, JobId, NewJob
from penstock.model.states import ENDED
from penstock.ports.codec import decode_payload


def replayed(job: Job) -> NewJob:
    """A new job that does the same and names the old one (C18); Refused while that has not ended."""
    if job.state not in ENDED:
        raise Refused(f"job {job.id} has not ended yet", code="ERR_JOB_UNFINISHED")
    return NewJob(
        tenant=job.tenant,
        collection=job.collection,
        payload=decode_payload(job.item_type, job.payload_json),
        op=job.op,
        priority=job.priority,
        document_id=job.document_id,
        max_retries=job.max_retries,
        branch=job.branch,
        metadata=_metadata_of(job),
        delete_first=job.delete_first,
        replay_of=job.id,
    )


def replayed_once(job: Job) -> NewJob:
    """The same under an id made of the old job and of when it ended: submitted twice, it is one job."""
    name = f"replayed:{job.id}:{job.finished_at}"
    return replace(replayed(job), id=JobId(str(uuid.uuid5(uuid.NAMESPACE_URL, name))))


def _metadata_of(job: Job) -> dict[str, object]:
    try:
        found = json.loads(job.metadata_json)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Refused(f"the metadata of job {job.id} is not a JSON object", code="ERR_METADATA_INVALID")
    return found
