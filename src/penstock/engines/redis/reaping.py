"""The reaper: the slow sweep over processing lists, for workers that never said that they live.

Whoever beats is known, and is rescued from promptly. A list without a known worker was left by a worker of
another make, or by one whose first word was its last; it is found only by walking through all keys. So that
is done a page at a time, for a fifth of a second a pass, and the place is kept for the next: the cursor, and
the lists of its page that nobody has looked into yet.
"""

from __future__ import annotations

import re

from penstock.engines.redis import settling
from penstock.engines.redis.access import Access
from penstock.model.rules import Verdict, after_loss

PASS_SECONDS = 0.2
"""How long one pass goes on before it rests."""


class RedisReaper:
    """One pass a call; how long to rest between pages and passes is the caller's to say."""

    def __init__(self, access: Access, *, count: int = 100) -> None:
        """`count` keys are asked for a page."""
        self._access, self._count = access, count
        self._cursor = b"0"
        self._left: list[str] = []
        """Workers of the last page whose lists are still to be looked into; anybody named them."""
        self._began: float | None = None
        before, _, after = access.names.processing.partition("%s")
        self._pattern = f"{_literal(before)}*{_literal(after)}"
        self._name = re.compile(f"{re.escape(before)}(.+){re.escape(after)}", re.DOTALL)

    async def page(self) -> tuple[int, bool]:
        """Look at one page, or what the last pass left of it: how many went back, and is the pass over?"""
        if self._began is None:
            self._began = self._access.clock.steady()
        try:
            if not self._left:
                await self._scan()
            moved = 0
            while self._left and not self._is_late:
                moved += await self._reap(self._left[-1])
                self._left.pop()
        except BaseException:
            self._began = None
            raise
        over = self._is_late or (self._cursor == b"0" and not self._left)
        if over:
            self._began = None
        return moved, over

    @property
    def _is_late(self) -> bool:
        return self._began is not None and self._access.clock.steady() - self._began >= PASS_SECONDS

    async def _scan(self) -> None:
        self._cursor, keys = await self._access.client.call(
            "SCAN", self._cursor, "MATCH", self._pattern, "COUNT", self._count, again=True
        )
        found = (self._name.fullmatch(key.decode(errors="surrogateescape")) for key in keys)
        self._left = [name[1] for name in found if name]

    async def _reap(self, worker: str) -> int:
        now = self._access.clock.now()
        names = self._access.names
        keys = [names.processing_of(worker), names.heartbeat_of(worker), names.strangers_of(worker)]
        moved, *rows = await self._access.run("reap", _bytes(worker), keys=map(_bytes, keys), now=now)
        held = await settling.lost_of(self._access, rows)
        taken = await settling.settle_all(
            self._access, held, _died, how=settling.How.LOST, gone=[worker], now=now
        )
        if moved or taken:
            self._access.ring()
        return int(moved) + len(taken)


def _died(running: settling.Running) -> Verdict:
    return after_loss(running.attempt, worker_died=True, started=running.started)


def _bytes(name: str) -> bytes:
    """A name as it was found, text or not."""
    return name.encode(errors="surrogateescape")


def _literal(text: str) -> str:
    """What SCAN takes for the text itself."""
    return re.sub(r"([*?\[\]\\^])", r"\\\1", text)
