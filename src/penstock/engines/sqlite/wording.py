"""The lexical leg: a question becomes an expression of FTS5, and its matches the best chunks by BM25.

FTS5 scores every chunk that holds any of the words, so a word that half of all chunks hold makes a search
slow and tells little. Words are therefore taken from the rarest on, as long as all together are in a bounded
number of chunks. How many chunks hold a word is counted once and remembered for a while.
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
MATCHES_MAX = 20_000
"""Chunks scored for one question, about; what scoring may cost."""
REMEMBERED_MAX = 20_000
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
    """How many chunks hold a word, remembered per generation; at most so many, the least used forgotten."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[GenerationId, str], int] = OrderedDict()
        self._sizes: dict[GenerationId, int] = {}
        self._lock = threading.Lock()

    def of(self, db: sqlite3.Connection, generation: GenerationId, term: str) -> int:
        """About how many chunks hold the term, counted no further than matters."""
        key = (generation, term)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        count = db.execute(words_sql("words_count", generation), (term, MATCHES_MAX + 1)).fetchone()[0]
        with self._lock:
            self._known[key] = count
            while len(self._known) > REMEMBERED_MAX:
                self._known.popitem(last=False)
        return int(count)


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


def best(
    db: sqlite3.Connection,
    generation: GenerationId,
    text: str,
    limit: int,
    documents: Sequence[int] | None,
    counts: Counts,
) -> list[Candidate]:
    """The best chunks for the words of a text; the larger the score the better, ties by chunk id."""
    terms = _affordable(db, generation, terms_of(text), counts)
    if not terms:
        return []
    asked: dict[str, object] = {"terms": " OR ".join(terms), "generation": generation}
    name = "words_best"
    if documents is not None:
        name, asked["documents"] = "words_best_within", json.dumps(list(documents))
    cursor = db.execute(words_sql(name, generation), asked)
    found: list[Candidate] = []
    while len(found) < limit and (rows := cursor.fetchmany(2 * limit)):
        where = {"generation": generation, "chunks": json.dumps([row[0] for row in rows])}
        seen = {row[0] for row in db.execute(sql("index_visible"), where)}
        found += [Candidate(chunk=chunk, score=-cost) for chunk, cost in rows if chunk in seen]
    return found[:limit]


def _affordable(
    db: sqlite3.Connection, generation: GenerationId, terms: list[str], counts: Counts
) -> list[str]:
    """From the rarest on, as many as can be scored; the rarest that is there in any case."""
    held = sorted((count, term) for term in terms if (count := counts.of(db, generation, term)))
    chosen: list[str] = []
    matches = 0
    for count, term in held:
        matches += count
        if chosen and matches > MATCHES_MAX:
            break
        chosen.append(term)
    return chosen
