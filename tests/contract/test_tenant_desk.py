"""The desk of one tenant: a foreign job is as unknown as one that never was, on every engine."""

from collections.abc import Awaitable, Callable

import pytest

from penstock.model.errors import Refused
from penstock.model.jobs import JobId, TenantId
from penstock.ports.desk import Desk, Wanted
from penstock.ports.queue import Queue
from penstock.work.tenant_desk import TenantDesk
from tests.support.jobs import OTHER_TENANT, TENANT, a_job

Verb = Callable[[TenantDesk, JobId], Awaitable[object]]
VERBS: dict[str, Verb] = {
    "cancel": lambda desk, job: desk.cancel([job]),
    "replay": lambda desk, job: desk.replay([job]),
    "standing": lambda desk, job: desk.standing(job),
}


async def test_a_tenant_sees_its_own_jobs_alone(queue: Queue, desk: Desk) -> None:
    """By id and in listings, whatever tenant the listing asks for."""
    (mine,) = await queue.submit([a_job()])
    (theirs,) = await queue.submit([a_job(tenant=OTHER_TENANT)])
    own = TenantDesk(desk, [TENANT])

    found = await own.find(mine.job_id)
    listed = await own.jobs(Wanted(tenants=[OTHER_TENANT]))
    behind = await own.jobs(Wanted(before=theirs.job_id))

    assert found is not None
    assert [job.id for job in listed] == [mine.job_id]
    assert await own.find(theirs.job_id) is None
    assert behind == []


async def test_tenants_of_one_workspace_share_a_desk(queue: Queue, desk: Desk) -> None:
    """Each one's jobs are found, and listed in one order, page by page."""
    receipts = [
        (await queue.submit([a_job(tenant=tenant)]))[0].job_id
        for tenant in (TENANT, OTHER_TENANT, TenantId("third"), TENANT, OTHER_TENANT)
    ]
    shared = TenantDesk(desk, [TENANT, OTHER_TENANT])
    own = [receipts[4], receipts[3], receipts[1], receipts[0]]

    first = [job.id for job in await shared.jobs(Wanted(limit=3))]
    rest = [job.id for job in await shared.jobs(Wanted(limit=3, before=first[-1]))]

    assert first + rest == own
    assert [each for each in receipts if await shared.find(each) is not None] == own[::-1]


@pytest.mark.parametrize("verb", sorted(VERBS))
async def test_a_foreign_job_is_unknown(queue: Queue, desk: Desk, verb: str) -> None:
    """The same refusal, but for the id that was asked for, and nothing happens to it."""
    (theirs,) = await queue.submit([a_job(tenant=OTHER_TENANT)])
    before = await desk.find(theirs.job_id)
    told = []
    for job in (theirs.job_id, JobId("never")):
        with pytest.raises(Refused) as caught:
            await VERBS[verb](TenantDesk(desk, [TENANT]), job)
        told.append((caught.value.code, caught.value.message.replace(job, "ID")))

    assert told[0] == told[1]
    assert told[0][0] == "ERR_JOB_UNKNOWN"
    assert await desk.find(theirs.job_id) == before


async def test_a_tenant_cancels_and_replays_its_own(queue: Queue, desk: Desk) -> None:
    """As an operator would."""
    (mine,) = await queue.submit([a_job()])
    own = TenantDesk(desk, [TENANT])

    cancelled = await own.cancel([mine.job_id])
    (again,) = await own.replay([mine.job_id])
    job = await own.find(again.job_id)

    assert cancelled == [True]
    assert job is not None
    assert job.replay_of == mine.job_id
