"""The words of a generation's chunks: one FTS5 table each, so that scores depend on nothing else.

The table's content is a view over the generation's own chunks: nothing is stored twice, and the table can be
checked against it and rebuilt from it. FTS5 sees a run of letters as one word, which finds nothing in scripts
that put no spaces between words; for those a chunk carries its letters in pairs, and so does a question.
"""

from __future__ import annotations

import re
import sqlite3

from penstock.model.catalogue import GenerationId

_UNSPACED = re.compile(
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


def table(generation: GenerationId) -> str:
    """The name of a generation's table."""
    return f"words_{int(generation)}"


def make(db: sqlite3.Connection, generation: GenerationId) -> None:
    """The table and the view it indexes."""
    name = table(generation)
    db.execute(
        f"CREATE VIEW {name}_of AS SELECT c.chunk_id, c.lead, c.text, c.grams FROM versions v"  # noqa: S608 - a number
        f" JOIN chunks c ON c.version_id = v.version_id WHERE v.generation_id = {int(generation)}"
    )
    db.execute(
        f"CREATE VIRTUAL TABLE {name} USING fts5(lead, text, grams, content='{name}_of',"
        " content_rowid='chunk_id', tokenize='porter unicode61 remove_diacritics 2')"
    )


def drop(db: sqlite3.Connection, generation: GenerationId) -> None:
    """Forget all words of a generation; doing it again changes nothing."""
    db.execute(f"DROP TABLE IF EXISTS {table(generation)}")
    db.execute(f"DROP VIEW IF EXISTS {table(generation)}_of")


def add(db: sqlite3.Connection, generation: GenerationId, version: int, after: int) -> int:
    """Take in a version's chunks with an id higher than that; how many."""
    name = table(generation)
    return db.execute(
        f"INSERT INTO {name} (rowid, lead, text, grams) SELECT chunk_id, lead, text, grams FROM chunks"  # noqa: S608
        " WHERE version_id = ? AND chunk_id > ?",
        (version, after),
    ).rowcount


def remove(db: sqlite3.Connection, generation: GenerationId, chunk_ids: str) -> None:
    """Take out some chunks, given as a JSON list, while their text is still there."""
    name = table(generation)
    db.execute(
        f"INSERT INTO {name} ({name}, rowid, lead, text, grams) SELECT 'delete', chunk_id, lead, text, grams"  # noqa: S608
        " FROM chunks WHERE chunk_id IN (SELECT value FROM json_each(?))",
        (chunk_ids,),
    )


def crumble(db: sqlite3.Connection, generation: GenerationId, rows: int) -> bool:
    """Drop a portion of the pages of a table nobody reads any more; True when few are left."""
    gone = 0
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (table(generation),)).fetchone() is not None:
        for part in ("data", "docsize"):
            name = f"{table(generation)}_{part}"
            gone += db.execute(
                f"DELETE FROM {name} WHERE id IN (SELECT id FROM {name} LIMIT ?)",  # noqa: S608 - a number
                (max(rows - gone, 0),),
            ).rowcount
    return gone < rows


def grams_of(text: str) -> str:
    """The letters of unspaced scripts in pairs; a lone one stands for itself."""
    if text.isascii():
        return ""
    return " ".join(pair for run in _UNSPACED.findall(text) for pair in _pairs(run))


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]
