"""How long a search takes over 100,000 chunks, in a warm process, from the question's words to its hits.

The chunks are sentences of the test collections shuffled into passages, so words are as common and as rare as
in real text; their vectors lie around a few hundred directions, as those of real passages do.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import numpy as np

from bench.retrieval.corpora import Corpus, Paper
from bench.retrieval.shelving import Cut, Shelf, write
from penstock.answer.scoping import Ground
from penstock.answer.search import Searcher
from penstock.model.chunks import Chunk, Piece, Vector

SENTENCES = 8
CHUNKS_A_DOCUMENT = 50
DIRECTIONS = 300
DOCUMENTS_AT_ONCE = 200


def papers_of(corpora: Sequence[Corpus]) -> list[Paper]:
    """All papers there are."""
    return [paper for corpus in corpora for paper in corpus.papers.values()]


async def fill_with_passages(shelf: Shelf, papers: Sequence[Paper], chunks: int, dimension: int) -> None:
    """Put so many chunks made up of the papers' sentences in."""
    drawn = random.Random(7)
    numbers = np.random.default_rng(7)
    sentences = [sentence for paper in papers for sentence in paper.text.split(". ") if sentence]
    centres = numbers.standard_normal((DIRECTIONS, dimension))
    documents = chunks // CHUNKS_A_DOCUMENT
    for first in range(0, documents, DOCUMENTS_AT_ONCE):
        some = range(first, min(first + DOCUMENTS_AT_ONCE, documents))
        await write(shelf, [_made_up(number, sentences, centres, drawn, numbers) for number in some])


def _made_up(
    number: int,
    sentences: Sequence[str],
    centres: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    drawn: random.Random,
    numbers: np.random.Generator,
) -> Cut:
    text = ""
    chunks: list[tuple[Chunk, Piece, Vector]] = []
    near = numbers.standard_normal((CHUNKS_A_DOCUMENT, centres.shape[1])) + centres[number % len(centres)]
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    for ordinal in range(CHUNKS_A_DOCUMENT):
        passage = ". ".join(drawn.choices(sentences, k=SENTENCES)) + "."
        start = len(text)
        text += passage + "\n\n"
        chunk = Chunk(ordinal=ordinal, start=start, end=start + len(passage), tokens=len(passage) // 5)
        vector = Vector(near[ordinal].astype("<f4").tobytes())
        chunks.append((chunk, Piece(text=f"{number}:{ordinal}:{passage}"), vector))
    return Cut(name=f"made-up-{number}", title=f"Volume {number}", text=text, chunks=chunks)


async def latencies(searcher: Searcher, ground: Ground, questions: Sequence[str]) -> list[float]:
    """Milliseconds of each search, after a few that warm the process."""
    for text in questions[:10]:
        await searcher.search(ground, text)
    taken = []
    for text in questions:
        begin = time.perf_counter()
        await searcher.search(ground, text)
        taken.append((time.perf_counter() - begin) * 1000)
    return taken
