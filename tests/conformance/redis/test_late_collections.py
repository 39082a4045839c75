"""A collection made while workers run gets a list of its own, watched like the others."""

import asyncio

from penstock.engines.redis.names import Names
from penstock.engines.redis.store import RedisPorts, open_redis
from penstock.model.jobs import WorkerId
from penstock.model.rules import Rules
from penstock.settings import RedisServer
from tests.conformance.redis.foreign import QUEUE, TENANT, id_of, message, translated
from tests.support.clock import FakeClock
from tests.support.servers.bare import Bare

LATE = f"{QUEUE}:late_rag"
WORKER = WorkerId("w")


async def test_a_push_to_a_late_collections_list_wakes_a_waiting_worker(
    ports: RedisPorts, bare: Bare
) -> None:
    """Once it is known, a push there is told by the server and claimed; what lay there before is, too."""
    while await ports.queue.arrival(0.1):
        pass  # we are heard to listen
    bare.call("LPUSH", LATE, message(1))
    assert await ports.queue.claim(WORKER, 1) == []

    ports.access.know({"late_rag": TENANT})
    assert await ports.queue.arrival(20.0)
    early = await ports.queue.claim(WORKER, 1)
    while await ports.queue.arrival(0.1):
        await ports.queue.claim(WORKER, 1)
    waiting = asyncio.create_task(ports.queue.arrival(20.0))
    await asyncio.sleep(0.05)
    bare.call("LPUSH", LATE, message(2))

    assert [lease.job_id for lease in early] == [id_of(1)]
    assert await waiting
    assert [lease.job_id for lease in await ports.queue.claim(WORKER, 1)] == [id_of(2)]


async def test_a_process_that_has_not_heard_of_it_adopts_what_another_found(
    ports: RedisPorts, bare: Bare, redis: RedisServer, rules: Rules, clock: FakeClock
) -> None:
    """A lane another process opened is served by all: the message is a job, not a mistake."""
    ports.access.know({"late_rag": TENANT})
    for number in (1, 2, 3):
        bare.call("LPUSH", LATE, message(number))
    names = Names(home=TENANT)
    async with open_redis(redis, names=names, rules=rules, clock=clock, translate=translated) as other:
        mine = await ports.queue.claim(WORKER, 1)
        theirs = await other.queue.claim(WorkerId("other"), 2)

    assert [lease.job_id for lease in mine] == [id_of(1)]
    assert [lease.job_id for lease in theirs] == [id_of(2), id_of(3)]
    assert bare.call("LLEN", LATE) == 0


def test_no_collection_takes_the_list_of_letters() -> None:
    """Whatever a collection is called, our own lists are read by nobody as messages."""
    names = Names(
        collections={"dead": "t", "done": "t", "notes": "t"},
        dead_letter=f"{QUEUE}:dead",
        completed=f"{QUEUE}:done",
    )

    assert [inbox.name for inbox in names.inboxes if inbox.tenant == "t"] == [f"{QUEUE}:notes"]
