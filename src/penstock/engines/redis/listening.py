"""Hearing what is published: one connection for every channel, made again for as long as the client lives.

Messages published while it is down are lost to us, so each new connection rings every bell: whoever waits
looks once more than needed, and never too seldom.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence

from penstock.engines.redis.protocol import Reply, Wire, Word, packed
from penstock.engines.redis.watching import Watch
from penstock.model.errors import Fault

SILENCE_SECONDS = 10.0
"""After so long without a word the server is asked whether it is still there."""
ANSWER_SECONDS = 3.0
AGAIN_SECONDS = 0.05
AGAIN_SECONDS_MAX = 1.0


class Wake:
    """A bell: whoever waits is woken, all of them; a ring nobody hears is kept for the next."""

    def __init__(self) -> None:
        self._rung = False
        self._waiting: set[asyncio.Future[bool]] = set()
        self.listening = False
        """Whether publications reach us now; if not, only looking tells of news."""

    def ring(self) -> None:
        """Wake whoever waits."""
        self._rung = not self._waiting
        for sleeper in self._waiting:
            if not sleeper.done():
                sleeper.set_result(True)

    async def wait(self, timeout: float) -> bool:
        """Until it rings; False when the time ran out."""
        if self._rung:
            self._rung = False
            return True
        loop = asyncio.get_running_loop()
        sleeper: asyncio.Future[bool] = loop.create_future()
        self._waiting.add(sleeper)
        timer = loop.call_later(timeout, _time_out, sleeper)
        try:
            return await sleeper
        finally:
            timer.cancel()
            self._waiting.discard(sleeper)


class Listener:
    """Keeps one connection subscribed to every channel somebody asked for."""

    def __init__(self, dial: Callable[[], Awaitable[Wire]]) -> None:
        self._dial = dial
        self._bells: dict[bytes, list[Wake]] = {}
        self._wire: Wire | None = None
        self._task: asyncio.Task[None] | None = None
        self._watch: Watch | None = None

    def watch(self, watch: Watch) -> None:
        """Let it watch over this connection, from the next one on."""
        self._watch = watch

    def watch_others(self, keys: Sequence[Word]) -> None:
        """Watch these keys from now on."""
        if self._watch is not None:
            self._watch.exchange(keys)

    def subscribe(self, channel: Word) -> Wake:
        """A bell for the channel; it counts as listening once the server has said so."""
        name = channel if isinstance(channel, bytes) else str(channel).encode()
        wake = Wake()
        self._bells.setdefault(name, []).append(wake)
        if self._wire is not None and self._wire.is_usable:
            self._wire.tell(packed(("SUBSCRIBE", name)))
        if self._task is None:
            self._task = asyncio.create_task(self._live(), name="redis-listen")
        return wake

    async def close(self) -> None:
        """Stop listening."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _live(self) -> None:
        tries = 0
        while True:
            try:
                self._wire = await self._dial()
                tries = 0
                await self._listen(self._wire)
            except Fault:
                tries += 1
            finally:
                self._mute()
            longest = min(AGAIN_SECONDS * (1 << min(tries, 10)), AGAIN_SECONDS_MAX)
            await asyncio.sleep(longest * random.uniform(0.5, 1.0))  # noqa: S311  # spread, no secret

    async def _listen(self, wire: Wire) -> None:
        """Until the connection is gone; a silent one is asked, and left if it does not answer."""
        wire.listen(self._heard)
        if self._watch is not None:
            self._watch.begin(wire)
        wire.tell(packed(("SUBSCRIBE", *self._bells)))
        loop = asyncio.get_running_loop()
        try:
            while not wire.gone.done():
                await asyncio.wait({wire.gone}, timeout=SILENCE_SECONDS)
                if not wire.gone.done() and loop.time() - wire.heard_at >= SILENCE_SECONDS:
                    asked = loop.time()
                    wire.tell(packed(("PING",)))
                    await asyncio.wait({wire.gone}, timeout=ANSWER_SECONDS)
                    if wire.heard_at < asked:
                        wire.abort("it fell silent")
        finally:
            wire.abort()

    def _heard(self, reply: Reply) -> None:
        if self._watch is not None and self._watch.heard(reply):
            return
        if not isinstance(reply, list) or len(reply) != 3:
            return  # a pong, or a refusal: the wire stays, and whoever waits looks for himself
        kind, channel, _ = reply
        for wake in self._bells.get(channel, ()):
            if kind == b"subscribe":
                wake.listening = True
            wake.ring()

    def _mute(self) -> None:
        for wakes in self._bells.values():
            for wake in wakes:
                wake.listening = False


def _time_out(sleeper: asyncio.Future[bool]) -> None:
    if not sleeper.done():
        sleeper.set_result(False)
