"""Measurements other benchmarks can lean on: what the bare trades cost."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass

from penstock.engines.minilm import BundledEmbedder, BundledTokenizer
from penstock.model.chunks import Piece
from penstock.model.parsed import Media, Parsed
from penstock.model.recipes import Recipe
from penstock.pipeline.embed import EmbeddingDesk
from penstock.pipeline.split import split

WORDS = ("water", "pressure", "turbine", "measurement", "of", "the", "and", "in", "valve", "steelwork", "a")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """An amount, and the wall and processor seconds it took."""

    amount: float
    wall: float
    cpu: float

    @property
    def per_second(self) -> float:
        return self.amount / self.wall

    @property
    def per_cpu_second(self) -> float:
        return self.amount / self.cpu


def prose(characters: int, seed: int = 1) -> str:
    """Paragraphs of sentences, as long as asked."""
    draw, parts, length = random.Random(seed), list[str](), 0
    while length < characters:
        sentences = [" ".join(draw.choices(WORDS, k=draw.randint(6, 20))).capitalize() for _ in range(4)]
        parts.append(". ".join(sentences) + ".\n\n")
        length += len(parts[-1])
    return "".join(parts)[:characters]


def splitting(text: str, recipe: Recipe | None = None) -> Rate:
    """Megabytes of text a second, token ids included."""
    tokenizer = BundledTokenizer()
    tokenizer.tokens("warm")
    parsed = Parsed(text=text, media=Media.TEXT)
    wall, cpu = time.perf_counter(), time.process_time()
    count = sum(1 for _ in split(parsed, recipe or Recipe(model="m"), tokenizer))
    assert count
    return Rate(
        amount=len(text.encode()) / 1e6,
        wall=time.perf_counter() - wall,
        cpu=time.process_time() - cpu,
    )


def embedding(pieces: list[Piece], threads: int) -> Rate:
    """Pieces a second through the desk, the model loaded before."""
    return asyncio.run(_embedding(pieces, threads))


async def _embedding(pieces: list[Piece], threads: int) -> Rate:
    embedder = BundledEmbedder(BundledTokenizer(), threads=threads)
    desk = EmbeddingDesk(embedder)
    await embedder.embed(pieces[:threads])
    wall, cpu = time.perf_counter(), time.process_time()
    async for _ in desk.embed(pieces):
        pass
    rate = Rate(amount=len(pieces), wall=time.perf_counter() - wall, cpu=time.process_time() - cpu)
    await desk.close()
    await embedder.close()
    return rate


def full_pieces(count: int, tokens: int) -> list[Piece]:
    """Pieces of exactly so many tokens."""
    tokenizer, draw = BundledTokenizer(), random.Random(2)
    found = []
    for _ in range(count):
        text = " ".join(draw.choices(WORDS, k=tokens))
        kept = tokenizer.tokens(text)
        end = kept.ends[tokens - 1]
        found.append(Piece(text=text[:end], token_ids=kept.ids[:tokens]))
    return found
