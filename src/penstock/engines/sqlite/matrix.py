"""The vectors of a generation in memory, and the best of them for a question.

An exact scan: a hundred thousand vectors of 384 numbers are one pass of a few milliseconds over 150 MB. The
matrix is kept up to date by the log of what readers gained and lost, so one new document costs its own rows;
rows that are seen no more are masked, and closed up when they are many. Rough scores come from one product
over all rows; the best are scored again, each row by itself, so equal vectors tie whatever block they lie in.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from penstock.engines.sqlite.statements import sql
from penstock.model.catalogue import GenerationId
from penstock.model.passages import Candidate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]
    Mask = NDArray[np.bool_]

ROWS_READ = 2048
ROWS_FIRST = 1024
DEAD_MIN = 4096
SLACK = 1e-4
"""More than what 32-bit sums in another order can differ by, for vectors of length one."""


class Matrix:
    """The vectors readers see in one generation; one thread at a time."""

    def __init__(self, generation: GenerationId, dimension: int) -> None:
        import numpy as np  # here, because most commands never search

        self._np = np
        self.generation = generation
        self._rows: Floats = np.empty((0, dimension), np.float32)
        self._chunks: Numbers = np.empty(0, np.int64)
        self._documents: Numbers = np.empty(0, np.int64)
        self._alive: Mask = np.empty(0, np.bool_)
        self._used = 0
        self._dead = 0
        self._places: dict[int, tuple[int, int]] = {}
        self._change: int | None = None

    @property
    def dimension(self) -> int:
        """How many numbers each of its vectors has."""
        return int(self._rows.shape[1])

    def __len__(self) -> int:
        return self._used - self._dead

    def follow(self, db: sqlite3.Connection) -> None:
        """Come to what the reader's snapshot shows."""
        first, last = db.execute(sql("index_state")).fetchone()
        if self._change is None:
            self._load(db)
        elif self._change + 1 < first:
            self._compare(db)
        elif self._change < last:
            changes = dict(db.execute(sql("index_changes"), (self._change, self.generation)).fetchall())
            for version, shown in changes.items():
                self._lose(version)
                if shown:
                    self._gain(db, version)
        self._change = last
        if self._dead > max(DEAD_MIN, self._used // 4):
            self._close_up()

    def best(self, question: Floats, limit: int, documents: Numbers | None) -> list[Candidate]:
        """The nearest rows, best first, ties by chunk id."""
        np = self._np
        seen = self._alive[: self._used]
        if documents is not None:
            seen = seen & np.isin(self._documents[: self._used], documents)
        places = np.flatnonzero(seen)
        if not len(places):
            return []
        if len(places) * 4 < self._used:
            scores = self._rows[places] @ question
        else:
            scores = (self._rows[: self._used] @ question)[places]
        near = rough_best(scores, limit)
        places = places[near]
        return exact_best(self._rows[places], self._chunks[places], question, limit)

    def _load(self, db: sqlite3.Connection) -> None:
        self._grow(db.execute(sql("index_size"), (self.generation,)).fetchone()[0])
        for versions, chunks, documents, rows in portions(db, self.generation, self._rows.shape[1]):
            start = self._append(chunks, documents, rows)
            for place, version in enumerate(versions, start):
                known = self._places.get(version, (place, place))
                self._places[version] = (known[0], place + 1)

    def _compare(self, db: sqlite3.Connection) -> None:
        """The log does not reach back far enough: compare what is loaded with what is there."""
        current = {row[0] for row in db.execute(sql("index_current"), (self.generation,))}
        for version in self._places.keys() - current:
            self._lose(version)
        for version in sorted(current - self._places.keys()):
            self._gain(db, version)

    def _gain(self, db: sqlite3.Connection, version: int) -> None:
        found = db.execute(sql("index_rows"), (version,)).fetchall()
        if found:
            rows = _stacked((row[2] for row in found), self._rows.shape[1])
            start = self._append([row[0] for row in found], [row[1] for row in found], rows)
            self._places[version] = (start, start + len(found))

    def _lose(self, version: int) -> None:
        place = self._places.pop(version, None)
        if place is not None:
            self._alive[place[0] : place[1]] = False
            self._dead += place[1] - place[0]

    def _append(self, chunks: list[int], documents: list[int], rows: Floats) -> int:
        start, end = self._used, self._used + len(chunks)
        if end > len(self._alive):
            self._grow(max(end, ROWS_FIRST, len(self._alive) * 5 // 4))
        self._rows[start:end] = rows
        self._chunks[start:end] = chunks
        self._documents[start:end] = documents
        self._alive[start:end] = True
        self._used = end
        return start

    def _grow(self, room: int) -> None:
        self._take(slice(0, self._used), self._used, room)

    def _close_up(self) -> None:
        """Leave out the rows nobody sees."""
        np = self._np
        kept = np.flatnonzero(self._alive[: self._used])
        moved = np.cumsum(self._alive[: self._used]) - 1
        self._places = {
            version: (int(moved[start]), int(moved[end - 1]) + 1)
            for version, (start, end) in self._places.items()
        }
        self._take(kept, len(kept), len(kept))
        self._used, self._dead = len(kept), 0

    def _take(self, which: Any, count: int, room: int) -> None:
        np = self._np
        for name in ("_rows", "_chunks", "_documents", "_alive"):
            old = getattr(self, name)
            new = np.empty((room, *old.shape[1:]), old.dtype)
            new[:count] = old[which]
            setattr(self, name, new)


def scan(
    db: sqlite3.Connection,
    generation: GenerationId,
    question: Floats,
    limit: int,
    documents: Numbers | None,
) -> list[Candidate]:
    """The same as `Matrix.best`, read from the database portion by portion: slower, and right at any size."""
    import numpy as np

    chunks: Numbers = np.empty(0, np.int64)
    rows: Floats = np.empty((0, len(question)), np.float32)
    for _, some, owners, vectors in portions(db, generation, len(question)):
        kept = np.arange(len(some)) if documents is None else np.flatnonzero(np.isin(owners, documents))
        chunks = np.concatenate([chunks, np.asarray(some, np.int64)[kept]])
        rows = np.concatenate([rows, vectors[kept]])
        near = rough_best(rows @ question, limit)
        chunks, rows = chunks[near], rows[near]
    return exact_best(rows, chunks, question, limit)


def portions(
    db: sqlite3.Connection, generation: GenerationId, dimension: int
) -> Iterator[tuple[list[int], list[int], list[int], Floats]]:
    """Versions, chunks, documents and vectors readers see in a generation, some at a time."""
    cursor = db.execute(sql("index_all"), (generation,))
    while found := cursor.fetchmany(ROWS_READ):
        versions, chunks, documents, vectors = zip(*found, strict=True)
        yield list(versions), list(chunks), list(documents), _stacked(vectors, dimension)


def rough_best(scores: Floats, limit: int) -> Numbers:
    """The places of all that may be among the best, in no order."""
    import numpy as np

    if len(scores) <= limit:
        return np.arange(len(scores))
    least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    return np.flatnonzero(scores >= least - SLACK)


def exact_best(rows: Floats, chunks: Numbers, question: Floats, limit: int) -> list[Candidate]:
    """The best, scored row by row; ties by chunk id."""
    import numpy as np

    scores = (rows.astype(np.float64) * question.astype(np.float64)).sum(axis=1)
    order = np.lexsort((chunks, -scores))[:limit]
    return [Candidate(chunk=int(chunks[at]), score=float(scores[at])) for at in order]


def _stacked(vectors: Iterable[bytes], dimension: int) -> Floats:
    import numpy as np

    return np.frombuffer(b"".join(vectors), "<f4").reshape(-1, dimension)
