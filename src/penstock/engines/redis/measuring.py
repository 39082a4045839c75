"""How much waits in the lists, whoever pushed it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from penstock.engines.redis.access import Access
from penstock.model.tallies import OTHER
from penstock.ports.telemetry import Meter


class RedisMeter:
    """Implements the meter port: what waits is counted here, what came in by the book all jobs stand in."""

    def __init__(self, access: Access, book: Meter, queues: Sequence[str]) -> None:
        """`queues` names the queue of each priority."""
        self._access = access
        self._queues = queues
        self._book = book

    async def lengths(self) -> Mapping[str, int]:
        """Messages in the lists by queue; one whose job was called off counts until its turn comes.

        Lists that nobody here configured, another process's or another day's, are one queue: `other`.
        """
        told = await self._access.run("lengths")
        found: Counter[str] = Counter()
        for rank, messages in zip(told[::2], told[1::2], strict=True):
            found[OTHER if rank < 0 else self._queues[rank]] += messages
        return {queue: messages for queue, messages in found.items() if messages}

    async def produced(self) -> Mapping[str, int]:
        """What the book says."""
        return await self._book.produced()
