"""The slow sweep: processing lists whose worker nobody knows."""

from penstock.engines.redis.reaping import RedisReaper
from penstock.engines.redis.store import RedisPorts
from penstock.model.jobs import WorkerId
from tests.conformance.redis.foreign import QUEUE, id_of, message
from tests.support.clock import FakeClock
from tests.support.jobs import a_job
from tests.support.servers.bare import Bare

W1, W2 = WorkerId("w1"), WorkerId("w2")


async def swept(reaper: RedisReaper) -> int:
    """Everything there is, page by page."""
    moved, over = await reaper.page()
    while not over:
        more, over = await reaper.page()
        moved += more
    return moved


async def test_a_list_of_another_make_is_given_back(ports: RedisPorts, bare: Bare) -> None:
    """A message a foreign worker had moved to its processing list returns at the claiming end."""
    bare.call("LPUSH", f"{QUEUE}:high", message(2))
    bare.call(
        "LPUSH", "jobqueue:worker:old-7:processing", message(1, origin_queue=f"{QUEUE}:high"), message(3)
    )

    assert await swept(ports.reaper()) == 2

    assert bare.call("LINDEX", f"{QUEUE}:high", -1) == message(1, origin_queue=f"{QUEUE}:high")
    assert bare.call("LINDEX", QUEUE, -1) == message(3)
    assert bare.call("EXISTS", "jobqueue:worker:old-7:processing") == 0


async def test_a_worker_with_a_heartbeat_is_left_alone(ports: RedisPorts, bare: Bare) -> None:
    """Whoever beats, known to us or not, keeps what it holds."""
    bare.call("LPUSH", "jobqueue:worker:old-7:processing", message())
    bare.call("SET", "worker:hb:old-7", "alive", "EX", 9)
    await ports.queue.submit([a_job()])
    await ports.queue.beat(W1, concurrency=1)
    await ports.queue.claim(W1, 1)
    bare.call("DEL", "worker:hb:w1")

    assert await swept(ports.reaper()) == 0

    assert bare.call("LLEN", "jobqueue:worker:old-7:processing") == 1
    assert (await ports.desk.counts()).leased == 1


async def test_a_worker_that_never_beat_loses_its_jobs(ports: RedisPorts, bare: Bare) -> None:
    """Its job is claimable again long before the lease has run out, and the death is counted."""
    bare.call("LPUSH", QUEUE, message())
    await ports.queue.claim(W1, 1)

    assert await swept(ports.reaper()) == 1

    (lease,) = await ports.queue.claim(W2, 1)
    assert (lease.job_id, lease.attempt, lease.crashes) == (id_of(), 2, 1)


async def test_a_pass_keeps_its_place(ports: RedisPorts, bare: Bare, clock: FakeClock) -> None:
    """Page after page, all lists are met, whatever else there is."""
    for number in range(300):
        bare.call("SET", f"other:{number}", "x")
        bare.call("LPUSH", f"jobqueue:worker:old-{number}:processing", message(number))
    reaper = ports.reaper(count=50)
    passes = 0
    while bare.call("LLEN", QUEUE) < 300:
        clock.advance(1)
        await reaper.page()
        passes += 1

    assert passes > 3
