"""Which jobs the engine has in hand, many at a time: the book is compared with it now and then."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.engines.redis.access import Access
from penstock.engines.redis.names import packed
from penstock.model.jobs import JobId


async def unheld(access: Access, job_ids: Sequence[JobId]) -> set[JobId]:
    """Those that neither wait nor run here: unknown, or ended."""
    found = await access.run("unheld", packed(list(job_ids))) if job_ids else []
    return {JobId(job_id.decode()) for job_id in found}
