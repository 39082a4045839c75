"""What the words of a question weigh in a generation, counted in the generation's own table of words."""

from __future__ import annotations

import sqlite3

from penstock.engines.sqlite import wording
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.tokens import LETTER, Tokenizer
from penstock.engines.sqlite.words import words_sql
from penstock.model.catalogue import GenerationId
from penstock.model.points import weight_in_question

SMALL = 10_000
GROWTH = 1.05
"""A count of so many chunks stays good enough until there are so many more."""


class WholeCounts(wording.Counts):
    """Words counted to the end: a common one must not pass for a rarer one."""

    def _count(self, db: sqlite3.Connection, generation: GenerationId, term: str) -> int:
        return int(db.execute(words_sql("words_count", generation), (term, -1)).fetchone()[0])


class Weighing:
    """Weighs words; safe for several threads."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._counts = WholeCounts()
        self._chunks: dict[GenerationId, tuple[int, int]] = {}

    def of(self, db: sqlite3.Connection, generation: GenerationId, text: str) -> dict[str, float]:
        """Every word of a question as chunks hold it, and its weight."""
        terms = wording.terms_of(text)
        if not terms or not wording.is_there(db, generation):
            return {}
        counts = self._counts.of(db, generation, terms)
        chunks = self._all(db, generation)
        read = self._tokenizer.read([("", term.strip('"*'), "") for term in terms])
        found: dict[str, float] = {}
        for term, tokens in zip(terms, read, strict=True):
            weight = weight_in_question(counts[term], chunks)
            # A term with a star asks for one letter of a script without spaces, wherever it stands.
            words = [f"{LETTER}{term[1]}"] if term.endswith("*") else _words(tokens.counts)
            for word in words:
                found[word] = found.get(word, 0.0) + weight / len(words)
        return found

    def _all(self, db: sqlite3.Connection, generation: GenerationId) -> int:
        last = int(db.execute(sql("chunk_last")).fetchone()[0])
        seen, chunks = self._chunks.get(generation, (0, 0))
        if last != seen and (chunks < SMALL or last > seen * GROWTH):
            chunks = int(db.execute(sql("words_size"), (generation,)).fetchone()[0])
            self._chunks[generation] = (last, chunks)
        return chunks


def _words(counts: dict[str, float]) -> list[str]:
    return [word for word in counts if not word.startswith(LETTER)]
