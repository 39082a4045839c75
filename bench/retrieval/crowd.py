"""What it costs that chunks of common words alone are not scored: judged questions among 100,000 chunks.

In a collection as small as the test collections no word is too common, so the rule of the lexical leg never
shows there. Here all papers lie in one collection with passages made up of sentences that answer none of the
questions: the words of a question become as common as they are in a large collection, and its answers stay
those that are judged. The same questions are then asked with the rule and without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from bench.retrieval.corpora import Corpus, Paper
from bench.retrieval.shelving import Cut
from penstock.engines.sqlite import wording

BOUNDLESS = 1 << 40


def merged(books: Sequence[Corpus], cuts: Mapping[str, Sequence[Cut]]) -> list[Cut]:
    """The papers of all, each under a name of its own."""
    return [replace(cut, name=_name(book, cut.name)) for book in books for cut in cuts[book.name]]


def among_all(book: Corpus) -> Corpus:
    """A corpus whose papers have the names they have among all."""
    relevant = {key: frozenset(_name(book, name) for name in names) for key, names in book.relevant.items()}
    return replace(book, relevant=relevant)


def strangers(books: Sequence[Corpus]) -> list[Paper]:
    """Papers that answer no question; of their sentences the crowd is made."""
    return [
        paper
        for book in books
        for name, paper in book.papers.items()
        if not any(name in answers for answers in book.relevant.values())
    ]


@contextmanager
def every_chunk_scored() -> Iterator[None]:
    """Search as if no word were too common: whatever holds any of the words is scored."""
    usual = wording.MATCHES_MAX
    wording.MATCHES_MAX = BOUNDLESS
    try:
        yield
    finally:
        wording.MATCHES_MAX = usual


def _name(book: Corpus, name: str) -> str:
    return f"{book.name} {name}"
