"""A store on Redis: queue, desk and batches; the database beside them is another engine's, and is not here.

Every folder has keys of its own on one server, so a test finds nothing of another one's and stores on one
folder share one queue.
"""

import asyncio
import atexit
import tempfile
from contextlib import ExitStack
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from penstock.engines.redis.client import Client
from penstock.engines.redis.dialling import Limits
from penstock.engines.redis.names import Names
from penstock.engines.redis.store import RedisPorts, ports_on
from penstock.engines.system.rolls import Rolls
from penstock.model.jobs import JobId
from penstock.model.rules import Rules
from penstock.ports.clock import Clock
from penstock.settings import RedisServer
from tests.support.servers.bare import Bare
from tests.support.servers.redis import shared_redis


class RedisStore:
    """A queue and nothing else."""

    def __init__(self, ports: RedisPorts) -> None:
        self.queue, self.desk, self.batches = ports.queue, ports.desk, ports.batches
        self.access = ports.access
        self._client = ports.client
        self._closing: asyncio.Task[None] | None = None

    async def close(self) -> None:
        await self._client.close()

    def abandon(self) -> None:
        self._closing = asyncio.get_event_loop().create_task(self._client.close())

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a queue on Redis has no {name}")


@cache
def server() -> RedisServer:
    """One for this test process, gone when it ends."""
    stack = ExitStack()
    atexit.register(stack.close)
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="penstock-redis-"))
    return stack.enter_context(shared_redis(Path(folder)))


def names_of(folder: Path) -> Names:
    """The documented names, behind a beginning of the folder's own."""
    own = f"{sha256(str(folder).encode()).hexdigest()[:12]}:"
    return Names(
        root=f"{own}rag:ingest:",
        queue=f"{own}rag:ingest:queue",
        lists={
            9: f"{own}rag:ingest:queue:high",
            5: f"{own}rag:ingest:queue:normal",
            1: f"{own}rag:ingest:queue:low",
        },
        processing=f"{own}jobqueue:worker:%s:processing",
        heartbeat=f"{own}worker:hb:%s",
        completed=f"{own}rag:ingest:completed",
        dead_letter=f"{own}rag:ingest:queue:dead-letter",
        home="acme",
    )


async def open_redis_store(folder: Path, rules: Rules, clock: Clock) -> RedisStore:
    client = Client(server(), clock, Limits(operation_seconds=20.0), None)
    await client.open()
    rolls = folder / "rolls"
    rolls.mkdir(parents=True, exist_ok=True)
    ports = ports_on(client, names=names_of(folder), rules=rules, clock=clock, rolls=Rolls(rolls))
    return RedisStore(ports)


def spoil_redis(folder: Path, job: JobId, payload_json: str) -> None:
    """Write a payload as a foreign program on the same server would."""
    with Bare(server()) as bare:
        key = f"{names_of(folder).root}entry:{job}"
        entry = msgspec.msgpack.decode(bare.call("GET", key))
        entry[8] = payload_json
        bare.call("SET", key, msgspec.msgpack.encode(entry))
