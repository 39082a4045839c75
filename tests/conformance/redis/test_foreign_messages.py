"""The queue contract for programs we did not write: what they push is run once, readable meanwhile."""

import asyncio

import pytest

from penstock.engines.redis.names import Names
from penstock.engines.redis.store import RedisPorts, open_redis
from penstock.model.jobs import WorkerId
from penstock.model.outcomes import DONE, Failed, Retry
from penstock.model.payloads import File
from penstock.model.rules import Rules
from penstock.model.standing import PauseScope
from penstock.model.states import State
from penstock.settings import RedisServer
from tests.conformance.redis.foreign import DEAD_LETTER, QUEUE, id_of, letters, message, shown, translated
from tests.support.clock import FakeClock
from tests.support.jobs import a_job, a_note, an_error
from tests.support.servers.bare import Bare

W1, W2 = WorkerId("w1"), WorkerId("w2")
LISTS = [QUEUE, f"{QUEUE}:high", f"{QUEUE}:normal", f"{QUEUE}:low", f"{QUEUE}:policies_rag"]


@pytest.mark.parametrize("name", LISTS)
async def test_a_pushed_message_runs_once(ports: RedisPorts, bare: Bare, name: str) -> None:
    """LPUSH from any client, on every documented list: one job, done once, nothing left."""
    bare.call("LPUSH", name, message())

    (lease,) = await ports.queue.claim(W1, 10)

    assert (lease.job_id, lease.collection) == (id_of(), "policies_rag")
    assert lease.payload == File(file_path="/app/data/sources/policies_rag/incoming/policy-1.pdf")
    assert bare.call("LLEN", name) == 0
    assert await ports.queue.settle([(lease, DONE)]) == [True]
    assert await ports.queue.claim(W1, 10) == []
    assert shown(bare, id_of())["status"] == "done"


async def test_a_message_waits_in_its_list_until_it_is_claimed(ports: RedisPorts, bare: Bare) -> None:
    """LLEN, LINDEX -1 and LRANGE mean what the page says: a worker takes no more than it has room for."""
    for number in range(1, 6):
        bare.call("LPUSH", QUEUE, message(number))

    assert (await ports.desk.counts()).ready == 5
    taken = [lease.job_id for lease in await ports.queue.claim(W1, 2)]

    assert (await ports.desk.counts()).ready == 3
    assert taken == [id_of(1), id_of(2)]
    assert bare.call("LRANGE", QUEUE, 0, -1) == [message(5), message(4), message(3)]
    assert bare.call("LINDEX", QUEUE, -1) == message(3)


async def test_the_worker_holds_the_exact_bytes(ports: RedisPorts, bare: Bare) -> None:
    """While it runs, the message is in the worker's processing list byte for byte."""
    bare.call("LPUSH", QUEUE, message())

    (lease,) = await ports.queue.claim(W1, 1)

    assert bare.call("LRANGE", "jobqueue:worker:w1:processing", 0, -1) == [message()]
    await ports.queue.settle([(lease, DONE)])
    assert bare.call("EXISTS", "jobqueue:worker:w1:processing") == 0
    assert bare.call("LINDEX", "rag:ingest:completed", 0) == message()


async def test_high_goes_before_normal_before_low(ports: RedisPorts, bare: Bare) -> None:
    """Lists have the priorities of their names; the default list is a normal one."""
    for number, name in enumerate([f"{QUEUE}:low", QUEUE, f"{QUEUE}:high"], 1):
        bare.call("LPUSH", name, message(number))

    order = [lease.job_id for _ in range(3) for lease in await ports.queue.claim(W1, 1)]

    assert order == [id_of(3), id_of(2), id_of(1)]


async def test_foreign_and_own_jobs_take_turns(ports: RedisPorts, bare: Bare) -> None:
    """Lists of one priority are served in turn, whoever filled them."""
    for number in range(1, 4):
        bare.call("LPUSH", QUEUE, message(number))
    await ports.queue.submit([a_job(), a_job(), a_job()])

    leases = [lease for _ in range(6) for lease in await ports.queue.claim(W1, 1)]

    foreign = [lease.job_id.startswith("rag-") for lease in leases]
    assert foreign in ([True, False] * 3, [False, True] * 3)


async def test_the_same_message_twice_is_one_job(ports: RedisPorts, bare: Bare) -> None:
    """A producer that pushed again after a lost reply makes no second run, before or after the end."""
    bare.call("LPUSH", QUEUE, message(), message())
    (lease,) = await ports.queue.claim(W1, 10)
    await ports.queue.settle([(lease, DONE)])
    bare.call("LPUSH", QUEUE, message())

    assert await ports.queue.claim(W1, 10) == []
    assert bare.call("EXISTS", QUEUE, "jobqueue:worker:w1:processing") == 0
    assert shown(bare, id_of())["status"] == "done"


async def test_another_request_for_the_same_file_joins_and_mirrors(ports: RedisPorts, bare: Bare) -> None:
    """Every message gets its own status hash; one that coalesced mirrors the job it joined."""
    path = {"source_path": "/app/data/sources/policies_rag/incoming/same.pdf"}
    bare.call("LPUSH", QUEUE, message(1, **path), message(2, **path))

    (lease,) = await ports.queue.claim(W1, 10)
    assert shown(bare, id_of(2))["status"] == "processing"
    await ports.queue.settle([(lease, DONE)])

    assert [shown(bare, id_of(n))["status"] for n in (1, 2)] == ["done", "done"]
    assert [shown(bare, id_of(n))["job_id"] for n in (1, 2)] == [id_of(1), id_of(2)]


@pytest.mark.parametrize(
    "data",
    [b"{torn", b"", b"[]", b"\xff\xfe\x00", message(job_id="a b"), message(rag_id=7)],
    ids=["torn", "empty", "list", "no text", "id", "type"],
)
async def test_what_cannot_be_read_goes_to_the_dead_letter(
    ports: RedisPorts, bare: Bare, data: bytes
) -> None:
    """The exact bytes and the reason are kept, and the next message is served."""
    bare.call("LPUSH", QUEUE, data, message(2))

    (lease,) = await ports.queue.claim(W1, 10)

    assert lease.job_id == id_of(2)
    (letter,) = letters(bare)
    assert letter["code"] in ("ERR_MESSAGE_INVALID", "ERR_JOB_ID_INVALID")
    assert letter["reason"]
    assert letter.get("message", "").encode() == data or letter["message_base64"] == "//4A"
    assert bare.call("LRANGE", "jobqueue:worker:w1:processing", 0, -1) == [message(2)]


@pytest.mark.parametrize("sizes", [[9], [5, 5, 9]], ids=["one alone", "many together"])
async def test_what_is_too_large_to_be_sent_costs_no_worker(
    ports: RedisPorts, bare: Bare, sizes: list[int]
) -> None:
    """An answer no client could take would stop every worker: such bytes have a key the letter names."""
    huge = [
        message(10 + at, note="\xe9" + "a" * (size << 20)).replace(b"\\u00e9", b"\xff")
        for at, size in enumerate(sizes)
    ]
    for each in huge:
        bare.call("LPUSH", QUEUE, each)
    bare.call("LPUSH", QUEUE, message(2))

    leases = [lease for _ in range(2 * len(sizes)) for lease in await ports.queue.claim(W1, 16)]

    assert [lease.job_id for lease in leases] == [id_of(2)]
    told = letters(bare)
    assert len(told) == len(sizes)
    kept = {bare.call("GET", letter["message_key"]) for letter in told if "message_key" in letter}
    assert kept == {each for each in huge if len(each) > 8 << 20}
    assert bare.call("LLEN", QUEUE) == 0


async def test_large_payloads_are_claimed_a_few_at_a_time(ports: RedisPorts) -> None:
    """A worker with many slots gets no answer it cannot take, and everything in the end."""
    text = "x" * 900_000
    await ports.queue.submit([a_note(f"{number} {text}") for number in range(24)])

    first = await ports.queue.claim(W1, 100)
    rest = [lease for _ in range(4) for lease in await ports.queue.claim(W1, 100)]

    assert 8 <= len(first) < 12
    assert len({lease.job_id for lease in [*first, *rest]}) == 24


async def test_a_job_that_failed_leaves_its_letter(ports: RedisPorts, bare: Bare, clock: FakeClock) -> None:
    """A permanently failed job's message stands in the dead letter with its code, until it is pruned."""
    bare.call("LPUSH", QUEUE, message())
    (lease,) = await ports.queue.claim(W1, 1)

    await ports.queue.settle([(lease, Failed(an_error("ERR_PDF_INVALID", "torn")))])

    (letter,) = letters(bare)
    assert (letter["message"].encode(), letter["code"]) == (message(), "ERR_PDF_INVALID")
    status = shown(bare, id_of())
    assert (status["status"], status["error"]) == ("failed", "torn")
    clock.advance(60)
    assert await ports.queue.prune(done_before=0, failed_before=clock.now() - 61) == 0
    assert len(letters(bare)) == 1
    assert await ports.queue.prune(done_before=0, failed_before=clock.now()) == 1
    assert letters(bare) == []


async def test_a_retry_returns_to_the_list_it_came_from(
    ports: RedisPorts, bare: Bare, clock: FakeClock
) -> None:
    """Once its time has come the message stands in its own list again, at the claiming end."""
    bare.call("LPUSH", QUEUE, message())
    (lease,) = await ports.queue.claim(W1, 1)
    bare.call("LPUSH", QUEUE, message(2))
    await ports.queue.settle([(lease, Retry(an_error()))])
    assert bare.call("LLEN", QUEUE) == 1
    assert shown(bare, id_of())["status"] == "queued"

    clock.advance(6)
    await ports.queue.promote()

    assert bare.call("LRANGE", QUEUE, 0, -1) == [message(2), message()]
    assert shown(bare, id_of())["retry_count"] == "1"


async def test_a_message_is_tried_four_times_with_the_documented_delays(
    ports: RedisPorts, bare: Bare, clock: FakeClock
) -> None:
    """Five, ten and thirty seconds pass before it stands in its list again; then it has failed."""
    bare.call("LPUSH", QUEUE, message())
    for retry, delay in enumerate((5, 10, 30), 1):
        (lease,) = await ports.queue.claim(W1, 1)
        await ports.queue.settle([(lease, Retry(an_error()))])
        assert (shown(bare, id_of())["status"], shown(bare, id_of())["retry_count"]) == ("queued", str(retry))
        clock.advance(delay - 0.01)
        await ports.queue.promote()
        assert bare.call("LLEN", QUEUE) == 0
        clock.advance(0.1 * delay + 0.02)
        await ports.queue.promote()
        assert bare.call("LRANGE", QUEUE, 0, -1) == [message()]

    (lease,) = await ports.queue.claim(W1, 1)
    await ports.queue.settle([(lease, Retry(an_error()))])

    assert (shown(bare, id_of())["status"], shown(bare, id_of())["retry_count"]) == ("failed", "3")
    assert [letter["message"].encode() for letter in letters(bare)] == [message()]
    assert bare.call("LLEN", QUEUE) == 0


async def test_a_dead_workers_message_is_the_next_one(
    ports: RedisPorts, bare: Bare, clock: FakeClock
) -> None:
    """A killed worker's message comes back ahead of its backlog."""
    bare.call("LPUSH", QUEUE, message())
    await ports.queue.beat(W1, concurrency=1)
    await ports.queue.claim(W1, 1)
    bare.call("LPUSH", QUEUE, message(2))

    clock.advance(10)
    assert await ports.queue.rescue() == [id_of()]

    assert bare.call("LRANGE", QUEUE, 0, -1) == [message(2), message()]
    assert bare.call("EXISTS", "jobqueue:worker:w1:processing") == 0


async def test_a_push_wakes_an_idle_worker(ports: RedisPorts, bare: Bare) -> None:
    """Nobody publishes for it, and no worker polls: the server tells that the list has changed."""
    while await ports.queue.arrival(0.2):
        pass
    for name in LISTS:
        waiting = asyncio.create_task(ports.queue.arrival(60))
        await asyncio.sleep(0.05)
        bare.call("LPUSH", name, message())
        assert await asyncio.wait_for(waiting, 20)
        assert len(await ports.queue.claim(W1, 1)) <= 1
        while await ports.queue.arrival(0.05):
            pass


async def test_a_paused_queue_leaves_messages_where_they_are(ports: RedisPorts, bare: Bare) -> None:
    """Nothing is even looked at while everything is held back."""
    bare.call("LPUSH", QUEUE, message())
    await ports.desk.pause(PauseScope.ALL)

    assert await ports.queue.claim(W1, 10) == []
    assert bare.call("LRANGE", QUEUE, 0, -1) == [message()]
    assert bare.call("EXISTS", DEAD_LETTER) == 0


async def test_a_cancelled_message_is_passed_over(ports: RedisPorts, bare: Bare) -> None:
    """A message whose job was cancelled while it waited is dropped when its turn comes."""
    bare.call("LPUSH", QUEUE, message(), message(2))
    (lease,) = await ports.queue.claim(W1, 1)
    await ports.queue.leave(W1)
    await ports.desk.cancel([lease.job_id])

    assert [lease.job_id for lease in await ports.queue.claim(W2, 10)] == [id_of(2)]
    job = await ports.desk.find(id_of())
    assert job is not None
    assert job.state is State.FAILED


async def test_a_ticket_put_in_twice_is_one_lease(ports: RedisPorts, bare: Bare) -> None:
    """Somebody copied a waiting message by hand: its job runs once all the same."""
    (receipt,) = await ports.queue.submit([a_job("/a.md")])
    (home,) = [key for key in bare.call("KEYS", "*") if bare.call("TYPE", key) == b"list"]
    bare.call("LPUSH", home, bare.call("LINDEX", home, 0))

    leases = await ports.queue.claim(W1, 10)

    assert [lease.job_id for lease in leases] == [receipt.job_id]
    assert await ports.queue.settle([(leases[0], DONE)]) == [True]
    assert await ports.queue.claim(W1, 10) == []
    counts = await ports.desk.counts()
    assert (counts.ready, counts.leased, counts.done) == (0, 0, 1)
    assert bare.call("EXISTS", "jobqueue:worker:w1:processing") == 0


async def test_a_low_message_keeps_its_share_of_a_flood(
    redis: RedisServer, names: Names, bare: Bare, clock: FakeClock
) -> None:
    """Every tenth claim takes the longest-waiting, also where that is a message nobody knows yet."""
    async with open_redis(redis, names=names, rules=Rules(), clock=clock, translate=translated) as ports:
        bare.call("LPUSH", f"{QUEUE}:low", message(1), message(2))
        served = []
        for _ in range(45):
            await ports.queue.submit([a_job(priority=9), a_job(priority=9)])
            clock.advance(1)
            served += [lease.job_id for lease in await ports.queue.claim(W1, 1)]

    assert [job_id for job_id in served if job_id.startswith("rag-")] == [id_of(1), id_of(2)]


async def test_quiet_times_ask_nothing(ports: RedisPorts, bare: Bare, clock: FakeClock) -> None:
    """An idle worker's trades know until when nothing can be due or lost, and hear of what changes that."""
    await ports.queue.beat(W1, concurrency=1)
    while await ports.queue.arrival(0.05):
        pass
    await ports.queue.promote()
    await ports.queue.rescue()
    bare.call("CONFIG", "RESETSTAT")

    for _ in range(20):
        assert await ports.queue.promote() is None
        assert await ports.queue.rescue() == []
        clock.advance(0.1)

    assert b"cmdstat_evalsha" not in bare.call("INFO", "commandstats")
    await ports.queue.submit([a_job(run_at=clock.now() + 1)])
    assert await ports.queue.promote() == clock.now() + 1
