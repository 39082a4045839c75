"""The small steps contract tests are made of."""

import asyncio
from collections.abc import Sequence

from penstock.model.jobs import Job, JobId, Lease, NewJob, WorkerId
from penstock.model.outcomes import DONE, Outcome
from penstock.model.rules import Rules
from penstock.model.states import State
from penstock.ports.desk import Desk, Wanted
from penstock.ports.queue import Queue
from tests.support.clock import FakeClock

W1, W2, W3 = WorkerId("w1"), WorkerId("w2"), WorkerId("w3")
LEASE = Rules().lease_seconds
DEAD_AFTER = Rules().dead_after_seconds


async def submit(queue: Queue, *jobs: NewJob) -> list[JobId]:
    """Submit and keep the ids that now stand for the intents."""
    return [receipt.job_id for receipt in await queue.submit(jobs)]


async def claim_one(queue: Queue, worker: WorkerId = W1) -> Lease:
    """The one job that must be there to claim."""
    (lease,) = await queue.claim(worker, 1)
    return lease


async def claimed(queue: Queue, limit: int = 100, worker: WorkerId = W1, *, idle: bool = True) -> list[JobId]:
    """The ids one claim hands out, in order."""
    return [lease.job_id for lease in await queue.claim(worker, limit, idle=idle)]


async def claimed_singly(queue: Queue, times: int) -> list[JobId]:
    """The ids that single claims hand out, one after the other."""
    return [job_id for _ in range(times) for job_id in await claimed(queue, 1)]


async def run_next(queue: Queue, outcome: Outcome = DONE) -> JobId:
    """Claim one job and end its attempt."""
    lease = await claim_one(queue)
    assert await queue.settle([(lease, outcome)]) == [True]
    return lease.job_id


async def drain(queue: Queue) -> list[JobId]:
    """Run everything that is claimable, one by one, and say in which order."""
    order: list[JobId] = []
    await queue.promote()
    while leases := await queue.claim(W1, 1):
        assert await queue.settle([(leases[0], DONE)]) == [True]
        order.append(leases[0].job_id)
        await queue.promote()
    return order


async def found(desk: Desk, job_id: JobId) -> Job:
    """A job that must exist."""
    job = await desk.find(job_id)
    assert job is not None
    return job


async def state_of(desk: Desk, job_id: JobId) -> State:
    return (await found(desk, job_id)).state


async def ending(desk: Desk, job_id: JobId) -> tuple[State, str | None]:
    """A job's state and the code it ended with."""
    job = await found(desk, job_id)
    return job.state, job.error.code if job.error else None


async def all_jobs(desk: Desk) -> list[Job]:
    """Everything there is, newest first."""
    return await desk.jobs(Wanted(limit=1000))


async def fall_silent(queue: Queue, clock: FakeClock, *, others: Sequence[WorkerId] = ()) -> list[JobId]:
    """Time passes in which only the others beat; what a rescue then takes back."""
    clock.advance(DEAD_AFTER + 1)
    await asyncio.gather(*(queue.beat(worker, concurrency=1) for worker in others))
    return await queue.rescue()


async def die(queue: Queue, worker: WorkerId = W1) -> int:
    """The worker's process is gone, and its supervisor says so."""
    return await queue.leave(worker, died=True)
