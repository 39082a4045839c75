"""What a job made of its document, for those who read its documented hash."""

from __future__ import annotations

from penstock.engines.redis.access import Access
from penstock.model.jobs import JobId
from penstock.model.records import Yield


async def describe(access: Access, job: JobId, made: Yield) -> bool:
    """Write the numbers into the job's hash; False if it has none."""
    told = await access.run("describe", job, made.chunks, made.embeddings, made.tokens)
    return bool(told)
