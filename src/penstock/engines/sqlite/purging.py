"""Purging, portion by portion, so that the writer is never held for long.

A portion is a number of rows. What is purged is out of readers' sight already; a purge that finds it in sight
again, or gone, has nothing to do and is paid. The words of a whole generation are not taken out one by one:
nobody reads its table any more, so its pages are dropped in portions, and at last the table.
Bytes that may be needed no more are owed by triggers on versions and parses.
"""

from __future__ import annotations

import json
import sqlite3
from typing import assert_never

from penstock.engines.sqlite import doomed, words
from penstock.engines.sqlite.debts import SqliteDebts
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso
from penstock.model.catalogue import Debt, DebtKind, GenerationId, NewDebt, VersionState
from penstock.model.errors import Broken

UNUSED_SECONDS = 7 * 24 * 3600.0


class Portion:
    """How many rows may still go in this write."""

    def __init__(self, rows: int) -> None:
        self.left = max(rows, 1)

    def take(self, rows: int) -> None:
        """So many went."""
        self.left -= rows

    @property
    def spent(self) -> bool:
        return self.left <= 0


def purge(db: sqlite3.Connection, debt: Debt, now: float, *, limit: int) -> bool:
    """Do a portion of a purge; True when nothing of it is left (K15)."""
    portion = Portion(limit)
    match debt.kind:
        case DebtKind.PURGE_VERSION:
            return _purge_version(db, int(debt.about), portion)
        case DebtKind.PURGE_DOCUMENT:
            return _purge_document(db, debt.about, portion)
        case DebtKind.PURGE_GENERATION:
            return _purge_generation(db, GenerationId(int(debt.about)), now, portion)
        case DebtKind.PURGE_POINTS | DebtKind.MOVE | DebtKind.REBUILD | DebtKind.FREE_BLOB:
            raise Broken(f"{debt.kind} is no purge")
        case _:
            assert_never(debt.kind)


def sweep(db: sqlite3.Connection, now: float, *, limit: int) -> int:
    """Forget vectors and parses that nothing has used for a week, and holds that are over."""
    where = {"before": iso(now - UNUSED_SECONDS), "limit": limit}
    debts = SqliteDebts(db, now)
    blobs = db.execute(sql("parse_sweep"), where).fetchall()
    for (blob,) in blobs:  # no version ever had these bytes, so none will owe them
        debts.owe(NewDebt(kind=DebtKind.FREE_BLOB, about=blob))
    over = db.execute(sql("held_forget"), {"now": iso(now), "limit": limit}).rowcount
    return len(blobs) + over + db.execute(sql("embedding_sweep"), where).rowcount


def _purge_version(db: sqlite3.Connection, version: int, portion: Portion) -> bool:
    row = db.execute(sql("purge_version"), (version,)).fetchone()
    if row is None or row[1] == VersionState.CURRENT:
        return True
    generation, state, at_work = row
    if state == VersionState.GONE:
        return _empty(db, version, GenerationId(generation), portion)
    return bool(at_work) or _clear(db, version, GenerationId(generation), portion)


def _purge_document(db: sqlite3.Connection, document: str, portion: Portion) -> bool:
    row = db.execute(sql("purge_document"), (document,)).fetchone()
    if row is None:
        return True
    while version := db.execute(sql("purge_of_document"), row).fetchone():
        if not _empty(db, version[0], GenerationId(version[1]), portion):
            return False
    _forget_document(db, row[0])
    return True


def _purge_generation(db: sqlite3.Connection, generation: GenerationId, now: float, portion: Portion) -> bool:
    row = db.execute(sql("purge_generation"), (generation,)).fetchone()
    if row is None:
        return True
    portion.take(doomed.end_some(db, now, limit=portion.left))
    if portion.spent:
        return False
    while version := db.execute(sql("purge_of_generation"), (generation,)).fetchone():
        if not _empty(db, version[0], None, portion):
            return False
    if not words.crumble(db, generation, portion.left):
        return False
    words.drop(db, generation)
    db.execute(sql("generation_remove"), (generation,))
    collection, removed = row
    if not removed or db.execute(sql("generation_list"), (collection,)).fetchone() is not None:
        return True
    return _purge_collection(db, collection, now, portion)


def _purge_collection(db: sqlite3.Connection, collection: int, now: float, portion: Portion) -> bool:
    """The documents of a removed collection, after its last generation; each is told to its owner first."""
    for (number,) in db.execute(sql("document_some"), (collection, portion.left)).fetchall():
        db.execute(sql("document_hide"), {"number": number, "now": iso(now)})
        _forget_document(db, number)
        portion.take(1)
    if portion.spent:
        return False
    db.execute(sql("collection_forget"), (collection,))
    return True


def _empty(db: sqlite3.Connection, version: int, words_in: GenerationId | None, portion: Portion) -> bool:
    """Take a version's chunks, words and vectors away, then itself; False if the portion was spent before."""
    rows = db.execute(sql("purge_chunks"), (version, portion.left)).fetchall()
    if rows:
        chunk_ids = json.dumps([row[0] for row in rows])
        if words_in is not None:
            words.remove(db, words_in, chunk_ids)
        db.execute(sql("chunk_remove"), (chunk_ids,))
        db.execute(sql("embedding_remove"), (json.dumps([row[1] for row in rows]),))
        portion.take(len(rows))
    if portion.spent:
        return False
    for (blob,) in db.execute(sql("version_remove"), (version,)).fetchall():
        db.execute(sql("parse_remove"), (blob,))
    portion.take(1)
    return True


def _clear(db: sqlite3.Connection, version: int, generation: GenerationId, portion: Portion) -> bool:
    """Take the chunks and words of a version that will not be finished.

    Its bytes stay for whoever tries again, and its vectors as long as unused ones are: both are paid for.
    """
    rows = db.execute(sql("purge_chunks"), (version, portion.left)).fetchall()
    if rows:
        chunk_ids = json.dumps([row[0] for row in rows])
        words.remove(db, generation, chunk_ids)
        db.execute(sql("chunk_remove"), (chunk_ids,))
        portion.take(len(rows))
    if portion.spent:
        return False
    db.execute(sql("version_emptied"), (version,))
    return True


def _forget_document(db: sqlite3.Connection, number: int) -> None:
    db.execute(sql("stage_remove"), (number,))
    db.execute(sql("document_remove"), (number,))
