"""What FTS5 makes of texts, asked of FTS5 itself: the same words, folded and stemmed in the same way.

A table in memory takes some texts in, its vocabulary tells their words, and it is emptied again. A porter
stemmer of our own would have to agree with SQLite's to the letter; this one does by being it.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.words import UNSPACED

LEAD_WEIGHT = 2.0
"""Words of title and headings count twice, as `words_best` has it."""
LETTER = "letter "
"""Before a single letter of an unspaced script: no word of FTS5 holds a space."""


@dataclass(slots=True, kw_only=True)
class Tokens:
    """The words of one text: how often each is there, and how many there are in all."""

    counts: dict[str, float]
    length: int = 0


class Tokenizer:
    """Takes texts apart; safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None

    def read(self, texts: Sequence[tuple[str, str, str]]) -> list[Tokens]:
        """The words of chunks, each given as its lead, its text and its pairs of letters."""
        found = [Tokens(counts={}) for _ in texts]
        with self._lock:
            db = self._opened()
            db.executemany(sql("tokens_add"), [(at, *each) for at, each in enumerate(texts, start=1)])
            for at, column, term, count in db.execute(sql("tokens_list")):
                tokens = found[at - 1]
                tokens.length += count
                weight = LEAD_WEIGHT * count if column == "lead" else count
                tokens.counts[term] = tokens.counts.get(term, 0.0) + weight
            db.execute(sql("tokens_empty"))
        for tokens, (lead, text, _) in zip(found, texts, strict=True):
            for letter in _letters(lead) + _letters(text):
                tokens.counts[letter] = tokens.counts.get(letter, 0.0) + 1
        return found

    def _opened(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
            self._db.execute(sql("tokens_make"))
            self._db.execute(sql("tokens_vocabulary"))
        return self._db


def _letters(text: str) -> list[str]:
    """The letters of unspaced scripts, each by itself: for questions of one letter."""
    if text.isascii():
        return []
    return [f"{LETTER}{letter}" for run in UNSPACED.findall(text) for letter in run]
