"""Embedding for many documents at once.

The problem: a document of three chunks should not wait for one of three thousand, and the model should never
wait between two documents. The idea: every caller's pieces lie in an order of its own, and as many calls as
the embedder bears fill their batches from the orders in turn, as much of each as fits: what a document needs
comes back in few batches, and each is one thing to keep. What a batch brought is handed to its callers at
once: whatever fails later, it is not embedded again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

from penstock.model.chunks import Piece, Vector
from penstock.model.errors import Broken, Exhausted, Fault, Unavailable
from penstock.ports.embedder import Embedder, Oversized
from penstock.ports.guard import Guard

AHEAD_BATCHES = 4
"""How many batches of one order may be in work or unread before it has to wait for its caller."""

Result = tuple[int, Vector]


@dataclass(slots=True, kw_only=True, eq=False)
class _Order:
    """One caller's pieces: those that wait, and how many are in work or not yet read."""

    waiting: deque[tuple[int, Piece]]
    left: int
    told: asyncio.Queue[list[Result] | Exception] = field(default_factory=asyncio.Queue)
    flying: int = 0
    unread: int = 0
    failed: Exception | None = None

    def fail(self, error: Exception) -> None:
        """Nothing more is begun; the error is told after what is in work."""
        self.waiting.clear()
        self.failed = self.failed or error

    def landed(self, results: list[Result], failures: list[Exception]) -> None:
        """Some pieces came back."""
        self.flying -= len(results) + len(failures)
        if results:
            self.unread += len(results)
            self.told.put_nowait(results)
        if failures:
            self.fail(failures[0])
        if self.failed is not None and not self.flying:
            self.told.put_nowait(self.failed)


_Batch = list[tuple[_Order, int, Piece]]


class EmbeddingDesk:
    """Shares one embedder among callers in fair turns."""

    def __init__(self, embedder: Embedder, guard: Guard | None = None) -> None:
        self._embedder = embedder
        self._guard = guard
        self._orders: deque[_Order] = deque()
        self._calls: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def model(self) -> str:
        """The name the vectors are remembered by."""
        return self._embedder.model

    @property
    def is_crowded(self) -> bool:
        """Whether more is asked than is worked on, by a whole batch."""
        asked = sum(len(order.waiting) + order.flying for order in self._orders)
        return asked > 0 and asked >= (self._embedder.calls + 1) * self._embedder.batch

    async def embed(self, pieces: Sequence[Piece]) -> AsyncGenerator[list[Result], None]:
        """The vectors of some pieces, batch by batch as they come, each with the piece's place.

        A piece that cannot be embedded raises its error after everything in work was delivered. Leaving the
        loop drops what was not begun, of this caller alone.
        """
        if self._closed:
            raise _closing()
        order = _Order(waiting=deque(enumerate(pieces)), left=len(pieces))
        self._orders.append(order)
        try:
            while order.left:
                self._fill()
                told = await order.told.get()
                if isinstance(told, Exception):
                    raise _own(told)
                order.left -= len(told)
                order.unread -= len(told)
                yield told
        finally:
            order.waiting.clear()
            self._orders.remove(order)

    async def close(self) -> None:
        """End all calls; who still waits is told to try again later."""
        self._closed = True
        calls = list(self._calls)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        for order in self._orders:
            order.flying = 0
            order.fail(_closing())
            order.landed([], [])

    def _fill(self) -> None:
        """Start as many calls as there is work for and the embedder bears, and those it likes to be ahead."""
        embedder = self._embedder
        while (idle := embedder.calls - len(self._calls)) > -embedder.ahead and (batch := self._take(idle)):
            call = asyncio.create_task(self._work(batch))
            self._calls.add(call)

    async def _work(self, batch: _Batch) -> None:
        call = asyncio.current_task()
        try:
            while batch:
                await self._run(batch)
                batch = self._take(1 + self._embedder.calls - len(self._calls))
        finally:
            # In the same step as the last look for work: a caller that comes later starts a call of its own.
            self._calls = {other for other in self._calls if other is not call}

    def _take(self, idle: int) -> _Batch:
        """The next batch: the orders in turn, and an even share for all calls that idle."""
        calls = max(1, idle)
        waiting = 0
        for each in self._orders:
            waiting += min(len(each.waiting), self._room(each))
            if waiting >= calls * self._embedder.batch:
                break
        size = min(self._embedder.batch, -(-waiting // calls))
        batch: _Batch = []
        while len(batch) < size and (order := self._turn()) is not None:
            count = min(size - len(batch), len(order.waiting), self._room(order))
            batch += [(order, *order.waiting.popleft()) for _ in range(count)]
            order.flying += count
        return batch

    def _turn(self) -> _Order | None:
        for _ in range(len(self._orders)):
            order = self._orders[0]
            self._orders.rotate(-1)
            if self._room(order):
                return order
        return None

    def _room(self, order: _Order) -> int:
        if not order.waiting:
            return 0
        return max(0, AHEAD_BATCHES * self._embedder.batch - order.flying - order.unread)

    async def _run(self, batch: _Batch) -> None:
        """Embed a batch and tell its callers; a text that is at fault itself fails alone."""
        try:
            with nullcontext() if self._guard is None else self._guard.call():
                vectors = await self._embedder.embed([piece for _, _, piece in batch])
            if len(vectors) != len(batch):  # nobody would be told, and everybody wait
                raise Broken(f"{self.model} gave {len(vectors)} vectors for {len(batch)} texts")
        except (Unavailable, Exhausted) as fault:
            self._tell(batch, [fault] * len(batch))
        except Oversized:
            half = (len(batch) + 1) // 2
            await self._run_each([batch[:half], batch[half:]])
        except Exception as error:
            if len(batch) == 1:
                self._tell(batch, [error])
            else:
                await self._run_each([[one] for one in batch])
        else:
            self._tell(batch, vectors)

    async def _run_each(self, parts: list[_Batch]) -> None:
        """Embed a batch part by part, without the pieces of orders that have failed meanwhile."""
        for part in parts:
            for order in [order for order, _, _ in part if order.failed is not None]:
                order.flying -= 1
                order.landed([], [])
            left = [one for one in part if one[0].failed is None]
            if left:
                await self._run(left)

    @staticmethod
    def _tell(batch: _Batch, outcomes: Sequence[Vector | Exception]) -> None:
        results: dict[_Order, list[Result]] = {}
        failures: dict[_Order, list[Exception]] = {}
        for (order, place, _), outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, Exception):
                failures.setdefault(order, []).append(outcome)
            else:
                results.setdefault(order, []).append((place, outcome))
        for order in {order: None for order, _, _ in batch}:
            order.landed(results.get(order, []), failures.get(order, []))


def _own(error: Exception) -> Exception:
    """The error for one caller; several may get the same one, and each adds to its traceback."""
    if not isinstance(error, Fault):
        return error
    mine = type(error)(error.message, code=error.code, retry_after=error.retry_after)
    mine.__cause__ = error
    return mine


def _closing() -> Unavailable:
    return Unavailable("the program is closing", code="ERR_DEPENDENCY_DOWN")
