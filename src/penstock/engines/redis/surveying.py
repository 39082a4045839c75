"""The keys of a queue, counted and shown, and removed when that is meant.

Lists that are known are asked for by name. Everything else is found by walking through all keys, a page at a
time, as `SCAN` does: never by `KEYS`, which stops the server for everybody.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence

from penstock.engines.redis.access import Access
from penstock.engines.redis.rows import fields_of
from penstock.model.errors import Broken
from penstock.model.inventory import Health, Inventory, KeyCount, QueueLength
from penstock.model.letters import job_named_in

PAGE = 1_000
CONNECTED_SECONDS = 5.0
"""A worker that beat within this time is connected, as the contract has it."""
LANES_MAX = 1_000
OTHERS = "others"
"""Keys that belong to somebody else."""
SEPARATOR = "\x1f"


class RedisSurvey:
    """Looks at one queue."""

    def __init__(self, access: Access, *, priorities: Mapping[str, str], rate_key: str) -> None:
        """`priorities` are the lists that have a name of their own."""
        self._access = access
        self._priorities = priorities
        self._call = access.client.call
        self._rate_key = rate_key
        names = access.names
        self._letters = names.dead_letters
        self._patterns = (
            ("processing", _pattern(names.processing)),
            ("heartbeats", _pattern(names.heartbeat)),
            ("job hashes", re.compile(re.escape(f"{names.root}job:").encode())),
            ("tasks", re.compile(f"{re.escape(names.root)}(task|entry):".encode())),
        )
        self._named = {name.encode(): "queues" for name in self.queues().values()}
        self._named |= {name.encode(): "dead letters" for name in self._letters}
        self._named |= {names.completed.encode(): "completed", rate_key.encode(): "rate limit"}
        self._root = names.root.encode()

    async def inventory(self) -> Inventory:
        """Lists by their names, workers by their beats."""
        names = self._access.names
        queues = {**self.queues(), **await self._lanes()}
        known = [row[0].decode() for row in await self._access.run("workers")]
        processing = {worker: await self._length(names.processing_of(worker)) for worker in known}
        beating = [await self._call("EXISTS", names.heartbeat_of(worker), again=True) for worker in known]
        return Inventory(
            queues=tuple(
                [
                    QueueLength(name=name, key=key, length=await self._length(key))
                    for name, key in queues.items()
                ]
            ),
            processing=processing,
            heartbeats=sum(beating),
            completed=await self._length(names.completed),
            dead_letters=sum([await self._length(name) for name in self._letters]),
        )

    async def count(self, most: int) -> KeyCount:
        """Every key by what it is; broken off after so many."""
        found = KeyCount()
        async for page in self._pages():
            for key in page:
                family = self.family_of(key)
                found.families[family] = found.families.get(family, 0) + 1
                if family == "processing":
                    found.processing_items += await self._length(key)
            found.looked_at += len(page)
            if found.looked_at >= most:
                found.whole = False
                break
        return found

    async def rate_seconds_left(self) -> float | None:
        """How long the shared rate limit is still remembered; None if nobody produces."""
        left = await self._call("PTTL", self._rate_key, again=True)
        return left / 1000 if left > 0 else None

    async def peek(self, key: str, most: int) -> list[bytes]:
        """The messages that are next in a list, the next one first."""
        found: list[bytes] = await self._call("LRANGE", key, -most, -1, again=True)
        return found[::-1]

    async def shown(self, job_id: str) -> dict[str, str]:
        """The documented hash of a job, whoever wrote it; empty if there is none, or something else."""
        try:
            flat = await self._call("HGETALL", f"{self._access.names.root}job:{job_id}", again=True)
        except Broken as fault:
            if fault.code != "ERR_STORE_CORRUPT":
                raise
            return {}
        return fields_of(flat)

    async def pushed(self, job_id: str) -> bytes | None:
        """A message about this job that nobody has taken yet, among the first of each list."""
        for key in self.queues().values():
            for message in await self.peek(key, PAGE):
                if job_named_in(message) == job_id:
                    return message
        return None

    async def health(self) -> Health:
        """The documented health check."""
        names, now = self._access.names, self._access.clock.now()
        beats = await self._call("ZCOUNT", f"{names.root}workers", repr(now - CONNECTED_SECONDS), "+inf")
        keys = {*self.queues().values(), *(await self._lanes()).values()}
        return Health(
            queue_name=names.queue,
            connection=self._access.client.where,
            queue_length=await self._length(names.queue),
            processing=int(await self._call("ZCARD", f"{names.root}running", again=True)),
            queued=sum([await self._length(key) for key in keys]),
            worker_connected=beats > 0,
        )

    async def erase(self) -> int:
        """Remove every key of the queue; how many."""
        removed = 0
        async for page in self._pages():
            ours = [key for key in page if self.family_of(key) != OTHERS]
            if ours:
                removed += await self._call("UNLINK", *ours, again=True)
        return removed

    def family_of(self, key: bytes) -> str:
        """What a key is."""
        if key in self._named:
            return self._named[key]
        for family, pattern in self._patterns:
            if pattern.match(key):
                return family
        return "indexes" if key.startswith(self._root) else OTHERS

    def queues(self) -> dict[str, str]:
        """Every list other programs push to, by the name people call it: a priority's, a collection's."""
        names = self._access.names
        collections = {name: f"{names.queue}:{name}" for name in names.collections}
        return {names.queue: names.queue, **collections, **self._priorities}

    async def _lanes(self) -> dict[str, str]:
        """Lists of further priorities and tenants, while something waits in them."""
        names = self._access.names
        told: Sequence[bytes] = await self._call("ZRANGE", f"{names.root}lanes", 0, LANES_MAX - 1, again=True)
        lists = [lane.decode(errors="surrogateescape").rpartition(SEPARATOR)[2] for lane in told]
        known = set(self.queues().values())
        return {name.removeprefix(f"{names.queue}:"): name for name in lists if name not in known}

    async def _length(self, key: str | bytes) -> int:
        return int(await self._call("LLEN", key, again=True))

    async def _pages(self) -> AsyncIterator[list[bytes]]:
        cursor = b"0"
        while True:
            cursor, page = await self._call("SCAN", cursor, "COUNT", PAGE, again=True)
            yield page
            if cursor == b"0":
                return


def _pattern(name: str) -> re.Pattern[bytes]:
    before, _, after = name.partition("%s")
    return re.compile(f"{re.escape(before)}.+{re.escape(after)}$".encode(), re.DOTALL)
