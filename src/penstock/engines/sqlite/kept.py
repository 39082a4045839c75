"""Parses and vectors that were paid for once, on SQLite."""

from __future__ import annotations

import json
import math
import sqlite3
import uuid
from array import array
from collections.abc import Sequence

from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso
from penstock.model.catalogue import BlobId, CollectionId, DocumentId, HoldId, KeptParse
from penstock.model.chunks import Vector
from penstock.model.errors import Broken
from penstock.model.jobs import JobId, TenantId

FLOAT_BYTES = 4


class SqliteKept:
    """The verbs inside a transaction."""

    def __init__(self, db: sqlite3.Connection, now: float) -> None:
        self._db = db
        self._at = now
        self._now = iso(now)

    def keep_parse(self, parse: KeptParse) -> None:
        """Remember a parse by its bytes and parser."""
        self._db.execute(sql("parse_keep"), (parse.blob, parse.parser, parse.result, self._now))

    def parse_of(self, blob: BlobId, parser: str) -> KeptParse | None:
        """A kept parse."""
        row = self._db.execute(sql("parse_find"), (blob, parser)).fetchone()
        return None if row is None else KeptParse(blob=BlobId(row[0]), parser=row[1], result=BlobId(row[2]))

    def keep_vectors(self, model: str, vectors: Sequence[tuple[bytes, Vector]]) -> None:
        """Remember vectors by text key (K12); one of another length or not finite raises Broken."""
        if not vectors:
            return
        model_id, length = self._model(model, vectors[0][1])
        for _, vector in vectors:
            _check(vector, model, length)
        rows = ((model_id, key, vector, self._now) for key, vector in vectors)
        self._db.executemany(sql("embedding_keep"), rows)

    def note_file(self, document: DocumentId, *, mark: str | None, root: str | None) -> None:
        """How a document's file looked when its bytes of now were taken, and where it was found."""
        if mark is not None or root is not None:
            self._db.execute(sql("file_note"), {"document": document, "mark": mark, "root": root})

    def mark_of(self, document: DocumentId) -> str | None:
        """How its file looked when its bytes of now were taken."""
        row = self._db.execute(sql("file_mark"), (document,)).fetchone()
        return None if row is None else row[0]

    def keep_report(self, job: JobId, report_json: str) -> None:
        """What a look at a folder found; a later look of the same job counts."""
        self._db.execute(sql("report_keep"), (job, report_json, self._now))

    def hold(self, job: JobId, blob: BlobId) -> None:
        """The bytes a job brought stay until it has ended (K18)."""
        self._db.execute(sql("held_add"), (job, blob, None))

    def hold_meanwhile(self, blob: BlobId, *, seconds: float) -> HoldId:
        """Bytes stay for a while, or until they are let go (K18)."""
        hold = HoldId(f"sending:{uuid.uuid4()}")
        self._db.execute(sql("held_add"), (hold, blob, iso(self._at + seconds)))
        return hold

    def let_go(self, hold: HoldId) -> None:
        """Hold no longer; letting go twice is fine."""
        self._db.execute(sql("held_remove"), (hold,))

    def held(self, job: JobId) -> BlobId | None:
        """The bytes a job brought, while it has not ended."""
        row = self._db.execute(sql("held_find"), (job,)).fetchone()
        return None if row is None else BlobId(row[0])

    def _model(self, name: str, first: Vector) -> tuple[int, int]:
        row = self._db.execute(sql("model_find"), (name,)).fetchone()
        if row is not None:
            return row[0], row[1]
        _check(first, name, len(first))
        added = self._db.execute(sql("model_add"), (name, len(first))).fetchone()
        return added[0], len(first)


def _check(vector: Vector, model: str, length: int) -> None:
    if not vector or len(vector) != length or length % FLOAT_BYTES:
        raise Broken(f"a vector of {model} has {len(vector)} bytes where {length} are due")
    if not math.isfinite(sum(array("f", vector))):
        raise Broken(f"a vector of {model} holds a number that is not finite")


def known_vectors(db: sqlite3.Connection, model: str, keys: Sequence[bytes]) -> set[bytes]:
    """Which of these texts have their vector already."""
    row = db.execute(sql("model_find"), (model,)).fetchone()
    if row is None:
        return set()
    statement = sql("embedding_find")
    return {key for key in keys if db.execute(statement, (row[0], key)).fetchone() is not None}


def marks(
    db: sqlite3.Connection, tenant: TenantId, collection: CollectionId, identities: Sequence[str]
) -> dict[str, str]:
    """How those of these files looked that are ingested."""
    where = {"tenant": tenant, "collection": collection, "identities": json.dumps(list(identities))}
    return dict(db.execute(sql("file_marks"), where).fetchall())
