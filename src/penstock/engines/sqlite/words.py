"""The words of a generation's chunks: one FTS5 table each, so that scores depend on nothing else.

The table's content is a view over the generation's own chunks: nothing is stored twice, and the table can be
checked against it and rebuilt from it. FTS5 sees a run of letters as one word, which finds nothing in scripts
that put no spaces between words; for those a chunk carries its letters in pairs, and so does a question.
"""

from __future__ import annotations

import re
import sqlite3

from penstock.engines.sqlite.statements import sql
from penstock.model.catalogue import GenerationId

UNSPACED = re.compile(
    "["
    "\u0e01-\u0e2e\u0e30-\u0e33\u0e40-\u0e46"  # Thai
    "\u0e81-\u0eae\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6"  # Lao
    "\u1000-\u102a\u1780-\u17b3"  # Burmese, Khmer
    "\u3041-\u3096\u30a1-\u30fa\u30fc"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7a3"  # Hangul
    "\U00020000-\U0003134f"  # Han, further planes
    "]+"
)


def words_sql(name: str, generation: GenerationId) -> str:
    """A statement about a generation's own table: in the files it is written for generation 0."""
    return sql(name).replace("words_0", f"words_{int(generation)}")


def make(db: sqlite3.Connection, generation: GenerationId) -> None:
    """The table and the view it indexes."""
    db.execute(words_sql("words_view", generation))
    db.execute(words_sql("words_make", generation))


def drop(db: sqlite3.Connection, generation: GenerationId) -> None:
    """Forget all words of a generation; doing it again changes nothing."""
    db.execute(words_sql("words_drop", generation))
    db.execute(words_sql("words_drop_view", generation))


def add(db: sqlite3.Connection, generation: GenerationId, version: int, after: int) -> int:
    """Take in a version's chunks with an id higher than that; how many."""
    return db.execute(words_sql("words_add", generation), (version, after)).rowcount


def remove(db: sqlite3.Connection, generation: GenerationId, chunk_ids: str) -> None:
    """Take out some chunks, given as a JSON list, while their text is still there."""
    db.execute(words_sql("words_remove", generation), (chunk_ids,))


def crumble(db: sqlite3.Connection, generation: GenerationId, rows: int) -> bool:
    """Drop a portion of the pages of a table nobody reads any more; True when few are left."""
    if db.execute(words_sql("words_there", generation)).fetchone() is None:
        return True
    gone = db.execute(words_sql("words_crumble_data", generation), (rows,)).rowcount
    gone += db.execute(words_sql("words_crumble_sizes", generation), (max(rows - gone, 0),)).rowcount
    return gone < rows


def grams_of(text: str) -> str:
    """The letters of unspaced scripts in pairs."""
    if text.isascii():
        return ""
    return " ".join(pair for run in UNSPACED.findall(text) for pair in pairs(run))


def pairs(run: str) -> list[str]:
    """Each letter with the next, and the last by itself: so one letter is found by how pairs begin."""
    return [run[at : at + 2] for at in range(len(run))]
