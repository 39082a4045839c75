"""Hints: a word to every process of a set-up that somebody has committed something.

The word says neither what nor for whom: the log of events does, and a hint that is lost costs its hearer no
more than the time to his next look. Commits that come quickly one after another share one word; where nobody
listens, or the server is away, it is said once a second at most.
"""

from __future__ import annotations

import asyncio
import contextlib

from penstock.engines.redis.client import Client
from penstock.engines.redis.listening import Wake
from penstock.model.errors import Fault

GATHER_SECONDS = 0.003
DEADLINE_SECONDS = 1.0
REST_SECONDS = 1.0
"""After a word that nobody heard; what is committed meanwhile is told then."""


class Hints:
    """Tells from any thread, on the loop it was made on."""

    def __init__(self, client: Client, channel: str) -> None:
        self._client = client
        self._channel = channel
        self._loop = asyncio.get_running_loop()
        self._telling: asyncio.Task[None] | None = None
        self._more = False
        self._closed = False

    def committed(self) -> None:
        """This process has committed something."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to tell it
            self._loop.call_soon_threadsafe(self._due)

    def listen(self) -> Wake:
        """A bell that rings when others have, and after every gap in listening."""
        return self._client.subscribe(self._channel)

    async def close(self) -> None:
        """Tell nothing more."""
        self._closed = True
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)

    def _due(self) -> None:
        self._more = True
        if not self._closed and (self._telling is None or self._telling.done()):
            self._telling = self._loop.create_task(self._tell(), name="redis-hint")

    async def _tell(self) -> None:
        while self._more:
            await asyncio.sleep(GATHER_SECONDS)
            self._more = False
            if not await self._said():
                await asyncio.sleep(REST_SECONDS)

    async def _said(self) -> bool:
        """Whether anybody heard it."""
        try:
            heard = await self._client.call(
                "PUBLISH", self._channel, "", deadline=DEADLINE_SECONDS, again=True
            )
        except Fault:
            return False
        return bool(heard)
