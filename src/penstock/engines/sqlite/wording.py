"""The lexical leg: a question becomes an expression of FTS5, and its matches the best chunks by BM25.

FTS5 scores every chunk that holds any of the words, a microsecond each, so a word that half of all chunks
hold makes a search slow and tells little. Only chunks that hold one of the rarer words are therefore scored,
but by all the words. How many chunks hold a word is counted once and remembered until they are many more.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Sequence

from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.words import UNSPACED, pairs, words_sql
from penstock.model.catalogue import GenerationId
from penstock.model.passages import Candidate

TERMS_MAX = 64
TERM_LENGTH_MAX = 200
MATCHES_MAX = 6_000
"""How many chunks may be scored for one question, about: with fewer, answers to wordy questions are lost in a
large collection; with more, nothing more is found (bench/retrieval asks both ways)."""
MATCHES_ENOUGH = 200
"""With fewer, a word three times too common is let in."""
REMEMBERED_MAX = 20_000
GROWTH = 1.25
_WORD = re.compile(r"[^\W_]+")
_STOP = frozenset(
    """
    a about above after again against all am an and any are as at be because been before being below
    between both but by can could did do does doing down during each few for from further had has have
    having he her here hers him his how i if in into is it its itself just me more most my no nor not of
    off on once only or other our ours out over own same she should so some such than that the their
    theirs them then there these they this those through to too under until up very was we were what
    when where which while who whom why will with would you your yours
    """.split()  # noqa: SIM905 - a column of quotes says no more
)
"""English words that tell nothing by themselves."""


class Counts:
    """How many chunks hold a word; a bounded memory, begun anew when there are a quarter more chunks."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[GenerationId, str], int] = OrderedDict()
        self._chunks = 0
        self._lock = threading.Lock()

    def of(self, db: sqlite3.Connection, generation: GenerationId, terms: Sequence[str]) -> dict[str, int]:
        """About how many chunks hold each term, counted no further than matters."""
        last = db.execute(sql("chunk_last")).fetchone()[0]
        with self._lock:
            if last > self._chunks * GROWTH:
                self._known.clear()
                self._chunks = last
            known = {term: self._known.get((generation, term)) for term in terms}
        counted = {
            term: self._count(db, generation, term) if count is None else count
            for term, count in known.items()
        }
        with self._lock:
            for term, count in counted.items():
                self._known[generation, term] = count
                self._known.move_to_end((generation, term))
            while len(self._known) > REMEMBERED_MAX:
                self._known.popitem(last=False)
        return counted

    def _count(self, db: sqlite3.Connection, generation: GenerationId, term: str) -> int:
        asked = (term, 3 * MATCHES_MAX + 1)
        return int(db.execute(words_sql("words_count", generation), asked).fetchone()[0])


def terms_of(text: str) -> list[str]:
    """The words of a question, each as a quoted term; nothing in a text can be an operator."""
    found: dict[str, None] = {}
    stops: dict[str, None] = {}
    whole = unicodedata.normalize("NFC", text)
    for word in _WORD.findall(UNSPACED.sub(" ", whole)):
        folded = word.casefold()
        if len(word) <= TERM_LENGTH_MAX:
            (stops if folded in _STOP else found)[f'"{folded}"'] = None
    for run in UNSPACED.findall(whole):
        for pair in [run] if len(run) == 1 else pairs(run)[:-1]:
            found[f'"{pair}"*' if len(pair) == 1 else f'"{pair}"'] = None
    return list(found or stops)[:TERMS_MAX]


def is_there(db: sqlite3.Connection, generation: GenerationId) -> bool:
    """False once the generation was purged."""
    return db.execute(words_sql("words_there", generation)).fetchone() is not None


def best(
    db: sqlite3.Connection,
    generation: GenerationId,
    text: str,
    limit: int,
    documents: Sequence[int] | None,
    counts: Counts,
) -> list[Candidate]:
    """The best chunks for the words of a text; the larger the score the better, ties by chunk id."""
    expression, times = _expression(db, generation, terms_of(text), counts)
    if not expression:
        return []
    asked: dict[str, object] = {"terms": expression, "generation": generation}
    name = "words_best"
    if documents is not None:
        name, asked["documents"] = "words_best_within", json.dumps(list(documents))
    cursor = db.execute(words_sql(name, generation), asked)
    found: list[Candidate] = []
    while len(found) < limit and (rows := cursor.fetchmany(2 * limit)):
        where = {"generation": generation, "chunks": json.dumps([row[0] for row in rows])}
        seen = {row[0] for row in db.execute(sql("index_visible"), where)}
        found += [Candidate(chunk=chunk, score=-cost / times) for chunk, cost in rows if chunk in seen]
    return found[:limit]


def _expression(
    db: sqlite3.Connection, generation: GenerationId, terms: list[str], counts: Counts
) -> tuple[str, int]:
    """What to ask FTS5 for, and how often each word is then counted.

    `rare AND (rare OR common OR common)` matches what holds a rare word, and scores it by all of them, each
    twice: FTS5 knows no word that may be there or not.
    """
    rare: list[str] = []
    common: list[str] = []
    matches = 0
    for count, term in sorted((count, term) for term, count in counts.of(db, generation, terms).items()):
        most = 3 * MATCHES_MAX if matches < MATCHES_ENOUGH else MATCHES_MAX
        if matches and matches + count > most:
            common.append(term)
        else:
            rare.append(term)
            matches += count
    if not common:
        return " OR ".join(rare), 1
    return f"({' OR '.join(rare)}) AND ({' OR '.join([*rare, *common, *common])})", 2
