"""Instructions the server spends on a job, counted by callgrind: nobody else's work and no clock counts.

    python -m bench.redis.instructions [NAME ...]

Every measure has a server of its own; what goes before it (scripts sent, a backlog laid in) is not counted.
`floor` measures do only what the pages document, with nothing of ours: no queue can do less.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

from bench.queue import ours
from bench.queue.harness import scratch
from bench.redis.ours import TENANT
from penstock.engines.redis.names import Names
from penstock.engines.redis.scripts import Script
from penstock.engines.redis.store import RedisPorts, open_redis
from penstock.engines.system.clock import SystemClock
from penstock.model.jobs import NewJob, WorkerId
from penstock.model.outcomes import DONE
from penstock.model.rules import Rules
from tests.support.servers.launching import free_port
from tests.support.servers.redis import Redis

BACKLOG = 2_048
SINGLE = 512
BATCH = 128
W1 = WorkerId("w1")
MESSAGE = b'{"job_id":"%036d",' + b"m" * 470 + b"}"
STAMP = "2026-11-16T20:00:00.000Z"
FIELDS = (
    *("rag_id", "bench", "filename", "noop", "status", "queued", "submitted_at", STAMP),
    *("started_at", "", "completed_at", "", "duration_seconds", "", "chunks_created", "0"),
    *("embeddings_generated", "0", "tokens_used", "0", "error", "", "error_type", "", "retry_count", "0"),
)
_WRITTEN = """redis.call('LPUSH', KEYS[1], ARGV[2])
redis.call('HSET', KEYS[2], 'job_id', ARGV[1], unpack(ARGV, 3))
return 1"""
COPIED = """redis.call('LPUSH', KEYS[1], ARGV[2])
redis.call('COPY', KEYS[3], KEYS[2])
redis.call('HSET', KEYS[2], 'job_id', ARGV[1], 'rag_id', ARGV[4], 'filename', ARGV[6],
  'submitted_at', ARGV[10])
return 1"""
_DRAINED = """local many = #KEYS - 2
local taken = redis.call('LRANGE', KEYS[1], -many, -1)
redis.call('LTRIM', KEYS[1], 0, -many - 1)
redis.call('LPUSH', KEYS[2], unpack(taken))
for at = 3, #KEYS do redis.call('HSET', KEYS[at], 'status', 'processing', 'started_at', ARGV[1]) end
return taken"""
_ENDED = """local many = #KEYS - 2
local taken, ends = redis.call('LRANGE', KEYS[1], -many, -1), {many}
redis.call('LTRIM', KEYS[1], 0, -many - 1)
redis.call('LPUSH', KEYS[2], unpack(taken))
redis.call('LTRIM', KEYS[2], 0, 999)
for at = 3, #KEYS do
  redis.call('HSET', KEYS[at], 'status', 'done', 'completed_at', ARGV[1], 'duration_seconds', '0.1')
  redis.call('PEXPIREAT', KEYS[at], ARGV[2])
  ends[#ends + 1], ends[#ends + 2] = KEYS[at] .. ':ttl', ARGV[1]
end
ends[#ends + 1], ends[#ends + 2] = 'PXAT', ARGV[2]
redis.call('MSETEX', unpack(ends))
return many"""
_WEEK_MILLIS = 604_800_000

_numbers = count(0, 10_000)


def new_jobs(many: int) -> list[NewJob]:
    """Jobs of files no job was about before."""
    return ours.new_jobs(many, next(_numbers))


Part = Callable[[RedisPorts], Awaitable[int]]


class Counted(Redis):
    """A Valkey under callgrind, which counts only while it is told to."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, free_port())
        self._folder = folder
        grind = [
            *(_found("valgrind"), "--tool=callgrind", "--instr-atstart=no"),
            f"--callgrind-out-file={folder}/out.%p",
        ]
        self._command = [*grind, *self._command]

    def switch(self, on: str) -> None:
        subprocess.run(
            [_found("callgrind_control"), "-i", on, str(self.pid)], check=True, capture_output=True
        )

    def count(self) -> int:
        """What was executed so far."""
        subprocess.run([_found("callgrind_control"), "-d", str(self.pid)], check=True, capture_output=True)
        found = [
            int(told)
            for path in self._folder.glob("out.*")
            for told in re.findall(r"totals: (\d+)", path.read_text())
        ]
        return sum(found)


def _found(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise SystemExit(f"{program} is not installed")
    return path


async def _lay_in(ports: RedisPorts) -> None:
    for _ in range(BACKLOG // 512):
        await ports.queue.submit(new_jobs(512))


async def submit_one(ports: RedisPorts) -> int:
    for _ in range(SINGLE):
        await ports.queue.submit(new_jobs(1))
    return SINGLE


async def submit_many(ports: RedisPorts) -> int:
    await ports.queue.submit(new_jobs(1_000))
    await ports.queue.submit(new_jobs(1_000))
    return 2_000


async def drain(ports: RedisPorts) -> int:
    """As a worker of 256 slots does it: what is free is claimed once half of them are."""
    done, held = 0, await ports.queue.claim(W1, 2 * BATCH)
    while held:
        ends, held = held[:BATCH], held[BATCH:]
        done += sum(await ports.queue.settle([(lease, DONE) for lease in ends]))
        held += await ports.queue.claim(W1, BATCH)
    return done


async def drain_one(ports: RedisPorts) -> int:
    for _ in range(256):
        leases = await ports.queue.claim(W1, 1)
        await ports.queue.settle([(lease, DONE) for lease in leases])
    return 256


async def lpush(ports: RedisPorts) -> int:
    for number in range(SINGLE):
        await ports.client.call("LPUSH", "list", MESSAGE % number)
    return SINGLE


def _floor(text: str) -> Part:
    async def part(ports: RedisPorts) -> int:
        script = Script.of("floor", text)
        for number in range(SINGLE):
            keys = ("list", f"rag:ingest:job:{number:036}", "blank")
            await ports.client.run(script, keys=keys, args=(f"{number:036}", MESSAGE % number, *FIELDS))
        return SINGLE

    return part


async def floor_drain(ports: RedisPorts) -> int:
    for text, lists in ((_DRAINED, ("list", "held")), (_ENDED, ("held", "completed"))):
        script = Script.of("floor", text)
        for start in range(0, SINGLE, BATCH):
            keys = [f"rag:ingest:job:{number:036}" for number in range(start, start + BATCH)]
            expires = round(time.time() * 1000) + _WEEK_MILLIS
            await ports.client.run(script, keys=(*lists, *keys), args=(STAMP, str(expires)))
    return SINGLE


async def _floor_laid_in(ports: RedisPorts) -> None:
    await ports.client.call("HSET", "blank", "job_id", "", *FIELDS)
    await _floor(_WRITTEN)(ports)


MEASURES: dict[str, tuple[Callable[[RedisPorts], Awaitable[object]], Part]] = {
    "submit_one": (_lay_in, submit_one),
    "submit_many": (_lay_in, submit_many),
    "drain": (_lay_in, drain),
    "drain_one": (_lay_in, drain_one),
    "lpush": (lpush, lpush),
    "floor_submit_hset": (_floor_laid_in, _floor(_WRITTEN)),
    "floor_submit_copy": (_floor_laid_in, _floor(COPIED)),
    "floor_drain": (_floor_laid_in, floor_drain),
}


@asynccontextmanager
async def _counted(folder: Path) -> AsyncIterator[tuple[Counted, RedisPorts]]:
    server = Counted(folder)
    server.start()
    try:
        names = Names(home=TENANT)
        async with open_redis(server.server, names=names, rules=Rules(), clock=SystemClock()) as ports:
            yield server, ports
    finally:
        server.kill()


async def measure(name: str) -> float:
    """Instructions a job."""
    before, part = MEASURES[name]
    with scratch() as folder:
        async with _counted(folder / "redis") as (server, ports):
            await ports.queue.submit(new_jobs(1))
            await ports.queue.submit(new_jobs(8))
            for many in (1, 8):
                leases = await ports.queue.claim(W1, many)
                await ports.queue.settle([(lease, DONE) for lease in leases])
            await before(ports)
            server.switch("on")
            jobs = await part(ports)
            server.switch("off")
            return server.count() / jobs


if __name__ == "__main__":
    for asked in sys.argv[1:] or MEASURES:
        print(f"{asked:20} {asyncio.run(measure(asked)):>10,.0f}", flush=True)
