"""The small steps conformance tests are made of: times as others write them, and our queue's turn."""

from datetime import UTC, datetime

from penstock.model.jobs import Lease, WorkerId
from penstock.model.outcomes import DONE
from penstock.ports.queue import Queue
from tests.support.clock import START

OURS = WorkerId("ours")
LEASE = 300.0

FORMS = {
    "with Z": "%Y-%m-%dT%H:%M:%SZ",
    "with an offset": "%Y-%m-%dT%H:%M:%S+00:00",
    "as datetime('now') gives it": "%Y-%m-%d %H:%M:%S",
    "with microseconds": "%Y-%m-%dT%H:%M:%S.%f+00:00",
    "with milliseconds": "%Y-%m-%dT%H:%M:%S.250Z",
    "without seconds": "%Y-%m-%dT%H:%MZ",
}
STAMPS = list(FORMS.values())[:3]


def stamp(seconds: float, form: str = STAMPS[0]) -> str:
    """So many seconds after the clock's start, as text."""
    return datetime.fromtimestamp(START + seconds, UTC).strftime(form)


async def claimed(queue: Queue, limit: int = 1000) -> list[str]:
    """The ids one claim hands out."""
    return [lease.job_id for lease in await queue.claim(OURS, limit)]


async def claim_one(queue: Queue) -> Lease:
    """The one job that must be there."""
    (lease,) = await queue.claim(OURS, 1)
    return lease


async def drained(queue: Queue) -> list[str]:
    """Run all that is claimable, one by one; in which order."""
    order: list[str] = []
    await queue.promote()
    while leases := await queue.claim(OURS, 1):
        assert await queue.settle([(leases[0], DONE)]) == [True]
        order.append(leases[0].job_id)
        await queue.promote()
    return order
