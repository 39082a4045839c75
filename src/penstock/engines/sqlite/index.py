"""The index on SQLite: FTS5 for words, an exact scan for vectors, both over what readers see and no more."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from penstock.engines.sqlite import matrix, wording
from penstock.engines.sqlite.statements import sql
from penstock.model.catalogue import CollectionId, DocumentId, GenerationId
from penstock.model.errors import Refused
from penstock.model.passages import Candidate, Candidates, Passage, Question, Scope
from penstock.model.stored_json import stored_words
from penstock.ports.index import VectorsLater

T = TypeVar("T")
VECTORS_MAX = 400_000
"""How many vectors of the usual length a process keeps in memory over all generations: 600 MB."""
USUAL_NUMBERS = 384
"""How many numbers such a vector has; a longer one counts for as many as it is long."""
_LAST = "\U0010ffff"


class Looking(Protocol):
    """What the index needs of its store."""

    async def look(self, work: Callable[[sqlite3.Connection], T]) -> T: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """One answering generation of a scope; `documents` are the only ones wanted, where any filter is set."""

    collection: CollectionId
    generation: GenerationId
    model: str | None
    dimension: int
    documents: tuple[int, ...] | None


class SqliteIndex:
    """Finds chunks; safe for several threads."""

    def __init__(self, store: Looking, *, vectors_max: int = VECTORS_MAX) -> None:
        self._store = store
        self._vectors_max = vectors_max
        self._matrices: OrderedDict[CollectionId, matrix.Matrix] = OrderedDict()
        self._counts = wording.Counts()
        self._lock = threading.Lock()

    async def candidates(
        self, scope: Scope, question: Question, *, limit: int = 50, vectors: VectorsLater | None = None
    ) -> list[Candidates]:
        """The best of each leg; words need no vector, so their leg does not wait for one."""
        there = await self._store.look(lambda db: grounds(db, scope))

        async def nearest() -> list[list[Candidate]]:
            asked = question if vectors is None else replace(question, vectors=await vectors())
            return await self._store.look(
                lambda db: [self._nearest(db, ground, asked, limit) for ground in there]
            )

        dense, lexical = await asyncio.gather(
            nearest(),
            self._store.look(lambda db: [self._wordiest(db, ground, question, limit) for ground in there]),
        )
        return [
            Candidates(generation=ground.generation, dense=tuple(near), lexical=tuple(wordy))
            for ground, near, wordy in zip(there, dense, lexical, strict=True)
        ]

    async def passages(self, scope: Scope, chunks: Sequence[int]) -> list[Passage]:
        """What the chunks say and where, in the given order; those no longer visible are left out."""
        return await self._store.look(lambda db: _passages(db, scope, chunks))

    def _nearest(
        self, db: sqlite3.Connection, ground: Ground, question: Question, limit: int
    ) -> list[Candidate]:
        vector = None if ground.model is None else question.vectors.get(ground.model)
        if vector is None:
            return []
        import numpy as np  # here, because most commands never search

        asked = np.frombuffer(vector, "<f4")
        if len(asked) != ground.dimension:
            raise Refused(
                f"the question has {len(asked)} numbers, the vectors of {ground.model} {ground.dimension}",
                code="ERR_QUERY_INVALID",
            )
        only = None if ground.documents is None else np.asarray(ground.documents, np.int64)
        with self._lock:
            loaded = self._matrix(db, ground)
            if loaded is not None:
                return loaded.best(asked, limit, only)
        return matrix.scan(db, ground.generation, asked, limit, only)

    def _matrix(self, db: sqlite3.Connection, ground: Ground) -> matrix.Matrix | None:
        """The generation's matrix, up to date; None where it does not fit into memory."""
        found = self._matrices.pop(ground.collection, None)
        if found is None or found.generation != ground.generation:
            count = db.execute(sql("index_size"), (ground.generation,)).fetchone()[0]
            if _weight(count, ground.dimension) > self._vectors_max:
                return None
            found = matrix.Matrix(ground.generation, ground.dimension)
        found.follow(db)
        weight = _weight(len(found), found.dimension)
        if weight > self._vectors_max:
            return None
        while self._matrices and weight + self._held() > self._vectors_max:
            self._matrices.popitem(last=False)
        self._matrices[ground.collection] = found
        return found

    def _held(self) -> float:
        return sum(_weight(len(each), each.dimension) for each in self._matrices.values())

    def _wordiest(
        self, db: sqlite3.Connection, ground: Ground, question: Question, limit: int
    ) -> list[Candidate]:
        if not wording.is_there(db, ground.generation):
            return []
        return wording.best(db, ground.generation, question.text, limit, ground.documents, self._counts)


def _weight(count: int, dimension: int) -> float:
    """How many vectors of the usual length these weigh."""
    return count * max(1.0, dimension / USUAL_NUMBERS)


def grounds(db: sqlite3.Connection, scope: Scope) -> list[Ground]:
    """What a scope comes to; a collection of another workspace is not there (K16)."""
    where = {"workspace": scope.workspace, "collections": json.dumps(list(dict.fromkeys(scope.collections)))}
    return [
        Ground(
            collection=CollectionId(collection),
            generation=GenerationId(generation),
            model=model,
            dimension=(length or 0) // 4,
            documents=documents_of(db, scope, CollectionId(collection)),
        )
        for collection, generation, model, length in db.execute(sql("index_ground"), where).fetchall()
    ]


def documents_of(
    db: sqlite3.Connection, scope: Scope, collection: CollectionId, among: Sequence[str] = ()
) -> tuple[int, ...] | None:
    """The numbers of the documents the filters leave, of all or of some; None where nothing is filtered."""
    if not (scope.documents or scope.path_prefix or scope.metadata):
        return None
    named = [each for each in scope.documents if each in among] if among and scope.documents else None
    chosen = named if named is not None else [*among, *scope.documents]
    path = scope.path_prefix.rstrip("/") if scope.path_prefix else None
    where = {
        "collection": collection,
        "path": path,
        "low": path or "",
        "high": _LAST if path is None else f"{path}0",  # the character after the slash
        "documents": json.dumps(chosen),
        "metadata": json.dumps(dict(scope.metadata)) if scope.metadata else None,
    }
    name = "index_documents_among" if among or scope.documents else "index_documents"
    return tuple(row[0] for row in db.execute(sql(name), where))


def _passages(db: sqlite3.Connection, scope: Scope, chunks: Sequence[int]) -> list[Passage]:
    where = {
        "workspace": scope.workspace,
        "collections": json.dumps(list(scope.collections)),
        "chunks": json.dumps(list(chunks)),
    }
    rows = db.execute(sql("index_passages"), where).fetchall()
    found = tuple({row[1] for row in rows})
    wanted = {
        collection: documents_of(db, scope, collection, found) for collection in {row[14] for row in rows}
    }
    return [_passage(row) for row in rows if (only := wanted[row[14]]) is None or row[15] in only]


def _passage(row: tuple[Any, ...]) -> Passage:
    return Passage(
        chunk=row[0],
        document=DocumentId(row[1]),
        document_name=row[2],
        document_title=row[3],
        identity=row[4],
        collection=row[5],
        ordinal=row[6],
        start=row[7],
        end=row[8],
        text=row[9],
        headings=stored_words(row[10]) or (),
        page_first=row[11],
        page_last=row[12],
        metadata_json=row[13],
    )
