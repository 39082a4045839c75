"""The usual verbs touch no key their script was not told of, but those made from the ids of jobs."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.engines.redis.store import RedisPorts
from penstock.model.jobs import WorkerId
from penstock.model.outcomes import DONE
from penstock.settings import RedisServer
from tests.conformance.redis.foreign import QUEUE, message
from tests.conformance.redis.test_reaper import swept
from tests.support.jobs import a_job
from tests.support.servers.bare import Bare

W1, W2 = WorkerId("w1"), WorkerId("w2")
_WORD = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_OF_JOBS = (b"rag:ingest:task:", b"rag:ingest:entry:", b"rag:ingest:job:")


@contextmanager
def listening(redis: RedisServer, bare: Bare) -> Iterator[list[list[bytes]]]:
    """What the server is asked meanwhile, by scripts too: the words of each command, `lua` before theirs."""
    heard: list[list[bytes]] = []
    with Bare(redis) as monitor:
        monitor.call("MONITOR")
        yield heard
        bare.call("ECHO", "that is all")
        while b"that is all" not in (line := monitor.said()):
            if f" [{redis.db or 0} ".encode() in line:
                heard.append([b"lua"] * (b" lua] " in line) + _WORD.findall(line))


def keys_of(command: bytes, words: list[bytes]) -> list[bytes]:
    match command:
        case b"PUBLISH" | b"TIME":
            return []
        case b"MGET" | b"EXISTS" | b"DEL":
            return words
        case b"MSET" | b"MSETNX":
            return words[::2]
        case b"MSETEX":
            return words[1 : 1 + 2 * int(words[0]) : 2]
        case b"COPY":
            return words[:2]
        case _:
            return words[:1]


async def test_every_key_is_told(ports: RedisPorts, redis: RedisServer, bare: Bare) -> None:
    """One job alone and many, of two tenants: submitted, claimed, ended."""
    with listening(redis, bare) as heard:
        for jobs in ([a_job()], [a_job() for _ in range(9)]):
            await ports.queue.submit(jobs)
            leases = await ports.queue.claim(W1, 20)
            assert await ports.queue.settle([(lease, DONE) for lease in leases]) == [True] * len(jobs)
        await ports.queue.submit([a_job(), a_job(tenant="other")])

    assert untold_in(heard) == set()


async def test_the_keys_of_a_worker_and_a_batch_are_told(
    ports: RedisPorts, redis: RedisServer, bare: Bare
) -> None:
    """A message adopted, a sign of life, a leaving, a look into a list nobody owns, a batch."""
    with listening(redis, bare) as heard:
        for worker in (W1, W2):
            await ports.queue.beat(worker, concurrency=1)
        bare.call("LPUSH", QUEUE, message(), b"no message")
        assert len(await ports.queue.claim(W1, 2)) == 1
        await ports.queue.leave(W2)
        bare.call("LPUSH", "jobqueue:worker:old:processing", message(2))
        await swept(ports.reaper())
        await ports.batches.seal_batch(await ports.batches.open_batch("parent"))

    of_tenants = tuple(b"rag:ingest:%s:acme" % kind for kind in (b"subjects", b"unfinished", b"barriers"))
    assert {key for key in untold_in(heard) if not key.startswith(of_tenants)} == set()


def untold_in(heard: list[list[bytes]]) -> set[bytes]:
    """Keys that scripts used beyond those they were told, but those of jobs."""
    scripts, told, untold = 0, set[bytes](), set[bytes]()
    for command, *words in heard:
        if command in (b"EVALSHA", b"EVAL"):
            told = set(words[2 : 2 + int(words[1])])
            scripts += 1
        elif command == b"lua":
            untold |= {key for key in keys_of(words[0], words[1:]) if not key.startswith(_OF_JOBS)} - told
    assert scripts >= 7
    return untold
