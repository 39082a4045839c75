"""A network that loses replies, a server that forgets its scripts or is killed: every verb counts once."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.engines.redis.names import Names
from penstock.engines.redis.scripts import SCRIPTS
from penstock.engines.redis.store import RedisPorts, open_redis
from penstock.model.errors import Unavailable
from penstock.model.jobs import Accepted, WorkerId
from penstock.model.outcomes import DONE, Outcome, Retry
from penstock.model.rules import Rules
from penstock.model.states import State
from penstock.settings import RedisServer, Secret
from tests.conformance.redis.foreign import QUEUE, id_of, message, translated
from tests.support.clock import FakeClock
from tests.support.jobs import a_job, an_error
from tests.support.proxy import Loss, Proxy, a_proxy
from tests.support.servers.bare import Bare
from tests.support.servers.redis import a_redis

W1, W2 = WorkerId("w1"), WorkerId("w2")
LOSSES = [Loss.REQUEST, Loss.REPLY]


@pytest.fixture
async def proxy(redis: RedisServer) -> AsyncIterator[Proxy]:
    async with a_proxy(redis.host, redis.port) as opened:
        yield opened


@pytest.fixture
async def ports(
    redis: RedisServer, proxy: Proxy, bare: Bare, names: Names, rules: Rules, clock: FakeClock
) -> AsyncIterator[RedisPorts]:
    """The queue behind the bad network, every script known to the server whatever it was asked before."""
    for script in SCRIPTS.values():
        bare.call("SCRIPT", "LOAD", script.text)
    server = replace(redis, port=proxy.port)
    async with open_redis(server, names=names, rules=rules, clock=clock, translate=translated) as opened:
        await opened.queue.submit([a_job()])
        (lease,) = await opened.queue.claim(W1, 1)
        await opened.queue.settle([(lease, DONE)])
        yield opened


@pytest.mark.parametrize("loss", LOSSES)
async def test_a_submit_counts_once(ports: RedisPorts, proxy: Proxy, loss: Loss) -> None:
    """Sent again after a lost reply, it finds its own jobs."""
    jobs = [a_job() for _ in range(3)]
    strike = proxy.lose(b"EVALSHA", loss=loss)

    receipts = await ports.queue.submit(jobs)

    assert strike.done.is_set()
    assert [receipt.job_id for receipt in receipts] == [job.id for job in jobs]
    how = Accepted.CREATED if loss is Loss.REQUEST else Accepted.EXISTING
    assert {receipt.how for receipt in receipts} == {how}
    assert (await ports.desk.counts()).ready == 3


@pytest.mark.parametrize("loss", LOSSES)
async def test_a_claim_counts_once(ports: RedisPorts, proxy: Proxy, loss: Loss) -> None:
    """Sent again, it is answered with the leases it got before: no job waits for one to run out."""
    jobs = [a_job() for _ in range(5)]
    await ports.queue.submit(jobs)
    proxy.lose(b"EVALSHA", loss=loss)

    leases = await ports.queue.claim(W1, 3)

    assert [lease.job_id for lease in leases] == [job.id for job in jobs[:3]]
    assert (await ports.desk.counts()).leased == 3
    assert await ports.queue.settle([(lease, DONE) for lease in leases]) == [True] * 3


@pytest.mark.parametrize("loss", LOSSES)
async def test_a_foreign_message_is_claimed_once(
    ports: RedisPorts, proxy: Proxy, bare: Bare, loss: Loss
) -> None:
    """Whichever step of taking it in loses its reply."""
    for nth in (1, 2, 3):
        bare.call("LPUSH", QUEUE, message(nth))
        proxy.lose(b"EVALSHA", nth=nth, loss=loss)

        leases = await ports.queue.claim(W1, 1)
        leases = leases or await ports.queue.claim(W1, 1)

        assert [lease.job_id for lease in leases] == [id_of(nth)]
        assert await ports.queue.settle([(lease, DONE) for lease in leases]) == [True]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("outcome", [DONE, Retry(an_error())], ids=["done", "retry"])
async def test_a_settle_counts_once(ports: RedisPorts, proxy: Proxy, loss: Loss, outcome: Outcome) -> None:
    """Sent again, it says that it was settled, and has spent one retry at most."""
    await ports.queue.submit([a_job()])
    (lease,) = await ports.queue.claim(W1, 1)
    proxy.lose(b"EVALSHA", nth=1 if outcome == DONE else 2, loss=loss)

    assert await ports.queue.settle([(lease, outcome)]) == [True]

    job = await ports.desk.find(lease.job_id)
    assert job is not None
    assert (job.state, job.retry_count) == ((State.DONE, 0) if outcome == DONE else (State.DELAYED, 1))


async def test_forgotten_scripts_are_sent_again(ports: RedisPorts, bare: Bare) -> None:
    """SCRIPT FLUSH at any moment costs a round trip and nothing else."""
    jobs = [a_job() for _ in range(3)]
    bare.call("SCRIPT", "FLUSH")
    await ports.queue.submit(jobs)
    bare.call("SCRIPT", "FLUSH")
    leases = await ports.queue.claim(W1, 5)
    bare.call("SCRIPT", "FLUSH")

    assert await ports.queue.settle([(lease, DONE) for lease in leases]) == [True] * 3


async def test_a_killed_server_comes_back_with_everything(
    tmp_path: Path, names: Names, rules: Rules, clock: FakeClock
) -> None:
    """kill -9 and a restart from the append-only file: what was answered is there, and the client goes on.

    With `everysec` a server answers before it has written while its disk is still busy with the last second.
    """
    with a_redis(tmp_path, appendfsync="always") as redis:
        async with open_redis(
            redis.server, names=names, rules=rules, clock=clock, translate=translated
        ) as ports:
            jobs = [a_job() for _ in range(6)]
            await ports.queue.submit(jobs)
            leases = await ports.queue.claim(W1, 2)
            await ports.queue.settle([(leases[0], DONE)])

            redis.restart()

            assert (await ports.desk.counts()).ready == 4
            assert await ports.queue.settle([(leases[1], DONE)]) == [True]
            rest = await ports.queue.claim(W2, 10)
            assert [lease.job_id for lease in rest] == [job.id for job in jobs[2:]]
            waiting = asyncio.create_task(ports.queue.arrival(60))
            with redis.bare() as bare:
                bare.call("LPUSH", QUEUE, message())
            assert await asyncio.wait_for(waiting, 30)


async def test_a_server_that_tells_of_no_changes_is_looked_at(
    redis: RedisServer, bare: Bare, names: Names, rules: Rules, clock: FakeClock
) -> None:
    """Without client tracking a foreign push is found within half a second all the same."""
    of_old = bare.call("COMMAND", "INFO", "client|tracking") == [None]  # 6.2 forbids commands only whole
    forbidden = "-client" if of_old else "-client|tracking"
    bare.call("ACL", "SETUSER", "plain", "on", ">secret", "~*", "&*", "+@all", forbidden)
    server = replace(redis, username="plain", password=Secret("secret"))
    async with open_redis(server, names=names, rules=rules, clock=clock, translate=translated) as ports:
        while await ports.queue.arrival(0.1):
            pass
        waiting = asyncio.create_task(ports.queue.arrival(60))
        await asyncio.sleep(0)
        bare.call("LPUSH", QUEUE, message())

        assert await asyncio.wait_for(waiting, 30)
        assert len(await ports.queue.claim(W1, 1)) == 1
    bare.call("ACL", "DELUSER", "plain")


async def test_a_full_server_takes_no_more_and_lets_work_end(
    tmp_path: Path, names: Names, rules: Rules, clock: FakeClock
) -> None:
    """At its memory limit a submit is refused whole, and what runs can still be extended and settled."""
    with a_redis(tmp_path, **{"maxmemory-policy": "noeviction"}) as redis, redis.bare() as bare:
        async with open_redis(
            redis.server, names=names, rules=rules, clock=clock, translate=translated
        ) as ports:
            await ports.queue.submit([a_job(), a_job(), a_job()])
            leases = await ports.queue.claim(W1, 2)
            bare.call("CONFIG", "SET", "maxmemory", 1)

            with pytest.raises(Unavailable) as refused:
                await ports.queue.submit([a_job()])

            assert refused.value.code == "ERR_STORE_FULL"
            await ports.queue.beat(W1, concurrency=2)
            assert [renewal.held for renewal in await ports.queue.extend(leases)] == [True, True]
            assert await ports.queue.settle([(leases[0], DONE), (leases[1], Retry(an_error()))]) == [True] * 2
            bare.call("CONFIG", "SET", "maxmemory", 0)
            assert (await ports.desk.counts()).ready == 1
            bare.call("LPUSH", QUEUE, message())
            bare.call("CONFIG", "SET", "maxmemory", 1)
            assert len(await ports.queue.claim(W1, 5)) == 2


async def test_a_message_that_could_not_be_adopted_is_handed_out_again(
    ports: RedisPorts, proxy: Proxy, bare: Bare
) -> None:
    """A server that is gone between claim and adoption leaves no message in nobody's hands."""
    bare.call("LPUSH", QUEUE, message())
    proxy.lose(b"EVALSHA", nth=2, loss=Loss.SILENCE)
    with pytest.raises(Unavailable):
        await ports.queue.claim(W1, 1)
    bare.call("LPUSH", QUEUE, message(2))

    leases = await ports.queue.claim(W1, 2)

    assert sorted(lease.job_id for lease in leases) == [id_of(1), id_of(2)]
    assert bare.call("LLEN", "jobqueue:worker:w1:processing") == 2
    assert bare.call("EXISTS", "rag:ingest:strangers:w1") == 0
