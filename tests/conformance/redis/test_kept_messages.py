"""A message that is written anew says what it said, whichever version kept what it is made from."""

import msgspec
import pytest

from penstock.engines.redis.names import packed
from penstock.engines.redis.store import RedisPorts
from penstock.model.jobs import Accepted, NewJob, Receipt, WorkerId
from penstock.model.outcomes import DONE, Retry
from tests.support.clock import FakeClock
from tests.support.jobs import a_job, a_note, an_error
from tests.support.servers.bare import Bare

W1 = WorkerId("w1")
LIST, HELD = "rag:ingest:queue:normal", "jobqueue:worker:w1:processing"
TAIL = 15
"""Its place in an entry."""


def keep_whole(bare: Bare, job: NewJob, message: bytes) -> None:
    """Its entry as the version before kept it: the end of the message word for word."""
    key = f"rag:ingest:entry:{job.id}"
    entry = msgspec.msgpack.decode(bare.call("GET", key))
    entry[TAIL] = message[message.index(b',"rag_id"') :].decode()
    bare.call("SET", key, packed(entry))


ODD = '/odd/\x01\x06","filename":"\x7f\u2028\u00e9%c%1\\.md'
"""Control characters, quotation marks, and what a pattern would take for its own."""


@pytest.mark.parametrize("version", ["this", "before"])
@pytest.mark.parametrize("job", [a_job(), a_job(ODD), a_note(branch="other"), a_job(ODD, metadata={"a": 1})])
async def test_a_retried_job_waits_in_the_same_words(
    ports: RedisPorts, clock: FakeClock, bare: Bare, version: str, job: NewJob
) -> None:
    """The message in the list is the same to the byte after a retry."""
    await ports.queue.submit([job])
    message = bare.call("LINDEX", LIST, -1)
    if version == "before":
        keep_whole(bare, job, message)
    (lease,) = await ports.queue.claim(W1, 1)

    assert await ports.queue.settle([(lease, Retry(an_error()))]) == [True]
    clock.advance(60.0)
    await ports.queue.promote()

    assert bare.call("LRANGE", LIST, 0, -1) == [message]
    assert bare.call("LRANGE", HELD, 0, -1) == []


@pytest.mark.parametrize("version", ["this", "before"])
async def test_a_job_that_ends_out_of_turn_leaves_its_workers_list(
    ports: RedisPorts, bare: Bare, version: str
) -> None:
    """The youngest of three ends first: the other two stay held, and its message is among the completed."""
    jobs = [a_job() for _ in range(3)]
    await ports.queue.submit(jobs)
    messages = bare.call("LRANGE", LIST, 0, -1)
    if version == "before":
        for job, message in zip(reversed(jobs), messages, strict=True):
            keep_whole(bare, job, message)
    leases = await ports.queue.claim(W1, 3)

    assert await ports.queue.settle([(leases[-1], DONE)]) == [True]

    assert bare.call("LRANGE", HELD, 0, -1) == messages[1:]
    assert bare.call("LRANGE", "rag:ingest:completed", 0, -1) == messages[:1]


async def test_many_that_meet_an_ended_job_late_in_their_list(ports: RedisPorts, bare: Bare) -> None:
    """What was written before the known one was met is taken back: each of the others is there once."""
    known = a_job()
    await ports.queue.submit([known])
    (lease,) = await ports.queue.claim(W1, 1)
    await ports.queue.settle([(lease, DONE)])
    jobs = [a_job() for _ in range(2_500)]

    receipts = await ports.queue.submit([*jobs, known])

    assert receipts == [
        *(Receipt(job.id, Accepted.CREATED) for job in jobs),
        Receipt(known.id, Accepted.EXISTING),
    ]
    assert bare.call("LLEN", LIST) == len(jobs)
    assert bare.call("ZCARD", "rag:ingest:jobs") == len(jobs) + 1
    found: list[str] = []
    while leases := await ports.queue.claim(W1, 1_000):
        found += [lease.job_id for lease in leases]
        await ports.queue.settle([(lease, DONE) for lease in leases])
    assert found == [job.id for job in jobs]
