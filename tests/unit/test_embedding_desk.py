"""Many documents, one embedder: fair turns, errors that stay with their text, nothing embedded twice."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

import pytest

from penstock.model.chunks import Piece, Vector
from penstock.model.errors import Broken, Fault, Refused, Unavailable
from penstock.pipeline.embed import AHEAD_BATCHES, EmbeddingDesk
from penstock.ports.embedder import Oversized
from penstock.work.breaker import Breaker, BreakerRules
from tests.support.clock import FakeClock


class SlowEmbedder:
    """A remote model whose every call waits to be let go."""

    model = "slow"
    dimension = 1

    def __init__(self, *, batch: int = 4, calls: int = 1, ahead: int = 0) -> None:
        self.batch = batch
        self.calls = calls
        self.ahead = ahead
        self.asked: list[list[str]] = []
        self.faults: dict[str, Fault] = {}
        self.most = batch
        """How many pieces a call really takes."""
        self.swallowed = 0
        """How many vectors of a call are not given."""
        self.busy = 0
        self.busiest = 0
        self.gate = asyncio.Semaphore(0)
        self.begun = asyncio.Semaphore(0)

    def free(self) -> None:
        """Let every call pass from now on."""
        for _ in range(10_000):
            self.gate.release()

    async def embed(self, pieces: Sequence[Piece]) -> list[Vector]:
        texts = [piece.text for piece in pieces]
        self.asked.append(texts)
        self.busy += 1
        self.busiest = max(self.busiest, self.busy)
        self.begun.release()
        try:
            await self.gate.acquire()
        finally:
            self.busy -= 1
        if len(texts) > self.most:
            raise Oversized
        for text in texts:
            if text in self.faults:
                raise self.faults[text]
        return [vector(text) for text in texts[self.swallowed :]]

    async def close(self) -> None:
        """Nothing is open."""


def vector(text: str) -> Vector:
    return Vector(text.encode())


def pieces(name: str, count: int) -> list[Piece]:
    return [Piece(text=f"{name}{number}") for number in range(count)]


async def gathered(desk: EmbeddingDesk, some: Sequence[Piece]) -> dict[int, Vector]:
    found: dict[int, Vector] = {}
    async for results in desk.embed(some):
        for place, one in results:
            assert place not in found
            found[place] = one
    return found


def all_of(some: Sequence[Piece]) -> dict[int, Vector]:
    return {place: vector(piece.text) for place, piece in enumerate(some)}


async def test_every_caller_gets_its_own_vectors() -> None:
    """Callers at once share batches and each gets exactly its own, at their places."""
    embedder = SlowEmbedder(batch=4, calls=2)
    embedder.free()
    desk = EmbeddingDesk(embedder)
    orders = [pieces(name, count) for name, count in (("a", 1), ("b", 9), ("c", 30), ("d", 0))]

    found = await asyncio.gather(*(gathered(desk, order) for order in orders))

    assert found == [all_of(order) for order in orders]
    assert sum(len(texts) for texts in embedder.asked) == 40
    assert max(len(texts) for texts in embedder.asked) <= 4
    assert embedder.busiest <= 2


async def test_a_small_document_does_not_wait_for_a_large_one() -> None:
    """Turns are fair: three pieces that come after a thousand are done within two batches."""
    embedder = SlowEmbedder(batch=4)
    desk = EmbeddingDesk(embedder)
    large = asyncio.create_task(gathered(desk, pieces("large", 1000)))
    await embedder.begun.acquire()
    small = asyncio.create_task(gathered(desk, pieces("small", 3)))
    await asyncio.sleep(0)

    embedder.free()
    await small

    first = next(at for at, texts in enumerate(embedder.asked) if "small2" in texts)
    assert first <= 3
    assert len(await large) == 1000


async def test_calls_share_little_work() -> None:
    """When few pieces wait they are spread over the calls, so that no core idles."""
    embedder = SlowEmbedder(batch=8, calls=2)
    desk = EmbeddingDesk(embedder)
    task = asyncio.create_task(gathered(desk, pieces("a", 4)))
    await embedder.begun.acquire()
    await embedder.begun.acquire()

    assert [len(texts) for texts in embedder.asked] == [2, 2]
    embedder.free()
    await task


async def test_an_embedder_has_its_next_batch_before_one_ends() -> None:
    """What it likes to be ahead is begun beside what it works on; little work is not spread over that."""
    embedder = SlowEmbedder(batch=4, calls=2, ahead=1)
    desk = EmbeddingDesk(embedder)
    few = asyncio.create_task(gathered(desk, pieces("few", 4)))
    many = asyncio.create_task(gathered(desk, pieces("many", 40)))
    for _ in range(3):
        await embedder.begun.acquire()
    await asyncio.sleep(0)

    assert [len(texts) for texts in embedder.asked] == [2, 2, 4]
    embedder.free()
    await asyncio.gather(few, many)
    assert embedder.busiest == 3


async def test_a_desk_is_crowded_while_a_batch_more_is_asked_than_is_in_work() -> None:
    """One document alone crowds nobody, however its texts are spread; many do, until there is room again."""
    embedder = SlowEmbedder(batch=4, calls=2, ahead=1)
    desk = EmbeddingDesk(embedder)
    alone = asyncio.create_task(gathered(desk, pieces("alone", 4)))
    await embedder.begun.acquire()
    crowded = [desk.is_crowded]

    many = asyncio.create_task(gathered(desk, pieces("many", 40)))
    await embedder.begun.acquire()
    await asyncio.sleep(0)
    crowded.append(desk.is_crowded)

    embedder.free()
    await asyncio.gather(alone, many)
    crowded.append(desk.is_crowded)
    assert crowded == [False, True, False]


async def test_a_bad_text_fails_alone() -> None:
    """A batch that fails is tried piece by piece: the text's own caller fails, its neighbour does not."""
    embedder = SlowEmbedder(batch=8)
    embedder.free()
    embedder.faults["bad1"] = Refused("too long", code="ERR_TEXT_TOO_LONG")
    desk = EmbeddingDesk(embedder)

    good, bad = await asyncio.gather(
        gathered(desk, pieces("good", 3)), gathered(desk, pieces("bad", 3)), return_exceptions=True
    )

    assert good == all_of(pieces("good", 3))
    assert isinstance(bad, Refused)
    assert bad.code == "ERR_TEXT_TOO_LONG"


async def test_a_model_that_gives_too_few_vectors_is_told() -> None:
    """Whoever waits for them learns it; nobody waits for ever."""
    embedder = SlowEmbedder()
    embedder.swallowed = 1
    embedder.free()

    with pytest.raises(Broken, match="slow gave 0 vectors for 1 texts"):
        async with asyncio.timeout(30):
            await gathered(EmbeddingDesk(embedder), pieces("a", 3))


async def test_what_half_a_batch_brought_is_kept() -> None:
    """E6: too large a batch is halved; the first half is told though the second fails."""
    embedder = SlowEmbedder(batch=8)
    embedder.most = 4
    embedder.free()
    embedder.faults["a6"] = Unavailable("gone")
    desk, some, found = EmbeddingDesk(embedder), pieces("a", 8), dict[int, Vector]()

    async def collect() -> None:
        async for results in desk.embed(some):
            found.update(results)

    with pytest.raises(Unavailable):
        await collect()
    del embedder.faults["a6"]
    rest = await gathered(desk, some[4:])

    assert found == all_of(some[:4])
    assert len(rest) == 4
    assert [len(texts) for texts in embedder.asked] == [8, 4, 4, 4]


async def test_the_halves_of_a_failed_order_are_not_asked_for() -> None:
    """E6: after the first half failed the second is let go, but a neighbour's pieces in it are not."""
    embedder = SlowEmbedder(batch=8)
    embedder.most = 4
    embedder.faults["a1"] = Unavailable("gone")
    desk = EmbeddingDesk(embedder)
    orders = [pieces("a", 6), pieces("b", 2)]
    tasks = [asyncio.create_task(gathered(desk, order)) for order in orders]
    await embedder.begun.acquire()
    embedder.free()

    bad, good = await asyncio.gather(*tasks, return_exceptions=True)

    assert isinstance(bad, Unavailable)
    assert good == all_of(orders[1])
    assert ["a4", "a5", "b0", "b1"] not in embedder.asked


async def test_what_was_embedded_is_delivered_before_the_error() -> None:
    """A retry need not repeat it: every vector that was made reaches the caller, then the error does."""
    embedder = SlowEmbedder(batch=2)
    embedder.free()
    embedder.faults["a5"] = Broken("nonsense", code="ERR_EMBEDDER_ANSWER")
    desk = EmbeddingDesk(embedder)
    kept: dict[int, Vector] = {}

    async def keep() -> None:
        async for results in desk.embed(pieces("a", 9)):
            kept.update(results)

    with pytest.raises(Broken):
        await keep()

    assert set(kept) >= {0, 1, 2, 3, 4}
    assert 5 not in kept


async def test_an_outage_reaches_all_of_the_batch_at_once() -> None:
    """An endpoint that is down is not asked again for every piece; how long to wait is told."""
    embedder = SlowEmbedder(batch=8)
    embedder.faults["a0"] = Unavailable("limited", code="ERR_EMBEDDER_LIMITED", retry_after=7)
    desk = EmbeddingDesk(embedder)
    first = asyncio.create_task(gathered(desk, pieces("first", 1)))
    await embedder.begun.acquire()
    both = [asyncio.create_task(gathered(desk, pieces(name, 3))) for name in "ab"]
    await asyncio.sleep(0)

    embedder.free()
    await first
    found = await asyncio.gather(*both, return_exceptions=True)

    faults = [error for error in found if isinstance(error, Unavailable)]
    assert [(fault.code, fault.retry_after) for fault in faults] == [("ERR_EMBEDDER_LIMITED", 7)] * 2
    assert faults[0] is not faults[1]
    assert len(embedder.asked) == 2


async def test_leaving_drops_only_the_own_pieces() -> None:
    """A cancelled caller's waiting pieces are not embedded; the others' all are."""
    embedder = SlowEmbedder(batch=2)
    desk = EmbeddingDesk(embedder)
    gone = asyncio.create_task(gathered(desk, pieces("gone", 100)))
    await embedder.begun.acquire()
    stays = asyncio.create_task(gathered(desk, pieces("stays", 10)))
    await asyncio.sleep(0)

    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    embedder.free()

    assert await stays == all_of(pieces("stays", 10))
    assert sum(text.startswith("gone") for texts in embedder.asked for text in texts) == 2


async def test_a_slow_reader_holds_back_only_itself() -> None:
    """Vectors nobody reads do not pile up: an order waits for its caller after a few batches."""
    embedder = SlowEmbedder(batch=2)
    embedder.free()
    desk = EmbeddingDesk(embedder)
    async with aclosing(desk.embed(pieces("slow", 100))) as results:
        await anext(results)
        assert await gathered(desk, pieces("quick", 20)) == all_of(pieces("quick", 20))

        ahead = sum(text.startswith("slow") for texts in embedder.asked for text in texts)
        assert ahead <= (AHEAD_BATCHES + 1) * embedder.batch


async def test_closing_tells_who_still_waits() -> None:
    """Nobody waits for ever for a desk that is closed, and it takes nothing more."""
    embedder = SlowEmbedder()
    desk = EmbeddingDesk(embedder)
    waiting = asyncio.create_task(gathered(desk, pieces("a", 9)))
    await embedder.begun.acquire()

    await desk.close()

    with pytest.raises(Unavailable, match="closing"):
        await waiting
    with pytest.raises(Unavailable, match="closing"):
        await gathered(desk, pieces("b", 1))
    assert embedder.busy == 0


async def test_an_endpoint_that_fails_is_left_alone() -> None:
    """Behind an open breaker a caller is told at once, and the endpoint is not asked."""
    embedder = SlowEmbedder(batch=1)
    embedder.free()
    embedder.faults = {"a0": Unavailable("down", code="ERR_EMBEDDER_DOWN")}
    breaker = Breaker("the endpoint", FakeClock(), BreakerRules(min_samples=1))
    desk = EmbeddingDesk(embedder, breaker)

    told = []
    for name in ("a", "b"):
        with pytest.raises(Unavailable) as caught:
            await gathered(desk, pieces(name, 1))
        told.append(caught.value.code)

    assert told == ["ERR_EMBEDDER_DOWN", "ERR_BREAKER_OPEN"]
    assert embedder.asked == [["a0"]]
