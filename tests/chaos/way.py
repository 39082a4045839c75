"""The way to Redis: the fault proxy on a loop of its own, so that a test may wait and block as it likes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from tests.support.proxy import Loss, Proxy, Strike, a_proxy
from tests.support.servers.redis import Redis

T = TypeVar("T")
PATIENCE = 30.0


class Way:
    """What a test may do to every connection at once."""

    def __init__(self, proxy: Proxy, loop: asyncio.AbstractEventLoop) -> None:
        self._proxy = proxy
        self._loop = loop

    @property
    def port(self) -> int:
        return self._proxy.port

    @property
    def commands(self) -> int:
        """How many came by."""
        return self._done(lambda: sum(self._proxy.commands.values()))

    def delay(self, seconds: float) -> None:
        """Everything takes so much longer, in each direction."""
        self._done(lambda: setattr(self._proxy, "delay_seconds", seconds))

    def break_off(self, share: float) -> None:
        """The connection breaks at this share of all commands, before or after they were done."""
        self._done(lambda: setattr(self._proxy, "reset_share", share))

    def freeze(self) -> None:
        """Nothing gets through, nothing breaks."""
        self._done(self._proxy.freeze)

    def thaw(self) -> None:
        self._done(self._proxy.thaw)

    def lose(self, word: bytes | None = None, *, nth: int = 1, loss: Loss = Loss.REPLY) -> Strike:
        """Lose the n-th such command from now on, or its reply."""
        return self._done(lambda: self._proxy.lose(word, nth=nth, loss=loss))

    def pardon(self) -> None:
        """What was to be lost and has not come by is spared."""
        self._done(self._proxy.pardon)

    def _done(self, work: Callable[[], T]) -> T:
        async def on_the_loop() -> T:
            return work()

        return asyncio.run_coroutine_threadsafe(on_the_loop(), self._loop).result(PATIENCE)


@contextmanager
def a_way_to(redis: Redis, *, seed: int = 0) -> Iterator[Way]:
    """A proxy before the server, gone at the end."""
    ready: threading.Event = threading.Event()
    made: list[Way] = []

    async def live() -> None:
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        async with a_proxy(redis.server.host, redis.server.port, seed=seed) as proxy:
            made.append(Way(proxy, loop))
            closing.append(lambda: loop.call_soon_threadsafe(ended.set))
            ready.set()
            await ended.wait()

    closing: list[Callable[[], object]] = []
    thread = threading.Thread(target=asyncio.run, args=(live(),), name="way")
    thread.start()
    assert ready.wait(PATIENCE), "the proxy does not listen"
    try:
        yield made[0]
    finally:
        closing[0]()
        thread.join(PATIENCE)
