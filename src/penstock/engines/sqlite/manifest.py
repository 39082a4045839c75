"""The manifest on SQLite: what points are made of, and what readers see of them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.engines.sqlite.index import Looking, documents_of
from penstock.engines.sqlite.kept import FLOAT_BYTES
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.tokens import Tokenizer, Tokens
from penstock.engines.sqlite.weighing import Weighing
from penstock.model.catalogue import (
    CollectionId,
    DebtKind,
    DocumentId,
    GenerationId,
    VersionId,
    VersionState,
    WorkspaceId,
)
from penstock.model.chunks import Vector
from penstock.model.errors import Broken
from penstock.model.jobs import TenantId
from penstock.model.passages import Scope
from penstock.model.points import Point, Space, weight_in_chunk
from penstock.model.recipes import kept_recipe
from penstock.ports.manifest import Ground, Listed, Seen

WORDS_A_TOKEN = 0.6
"""How many words a chunk has on average for each token it may have: BM25 must know before all are there."""


class SqliteManifest:
    """Looks beside the writer."""

    def __init__(self, store: Looking) -> None:
        self._store = store
        self._tokenizer = Tokenizer()
        self._weighing = Weighing(self._tokenizer)
        self._home: str | None = None

    async def home(self) -> str:
        """By what this database is told from others."""
        if self._home is None:
            row = await self._store.look(lambda db: db.execute(sql("home")).fetchone())
            self._home = str(row[0])
        return self._home

    async def space_of(self, version: VersionId) -> Space | None:
        """Where a version's points belong; None once it is gone, or while it has no chunk."""
        row = await self._store.look(lambda db: db.execute(sql("manifest_space"), (version,)).fetchone())
        return None if row is None else _space(row[0], row[1])

    async def points(self, version: VersionId, *, first: int = 0, limit: int = 256) -> list[Point]:
        """Some chunks of a version, from this ordinal on."""
        return await self._store.look(lambda db: self._points(db, version, first, limit))

    async def grounds(self, scope: Scope) -> list[Ground]:
        """What a scope comes to; a collection of another workspace is not there (K16)."""
        return await self._store.look(lambda db: _grounds(db, scope))

    async def weights(self, generation: GenerationId, text: str) -> Mapping[str, float]:
        """What the words of a question weigh."""
        return await self._store.look(lambda db: self._weighing.of(db, generation, text))

    async def seen(self, generation: GenerationId, chunks: Sequence[int]) -> Seen:
        """Which of these chunks are there in this generation, and what their versions are."""
        return await self._store.look(lambda db: _seen(db, generation, chunks))

    async def current(self, *, after: int = 0, limit: int = 100) -> list[Listed]:
        """Current versions of generations in use, with a higher number than that."""
        return await self._store.look(lambda db: _current(db, after, limit))

    async def size(self) -> int:
        """How many chunks the current versions of generations in use have."""
        row = await self._store.look(lambda db: db.execute(sql("manifest_size")).fetchone())
        return int(row[0])

    async def missing(self, chunks: Sequence[int]) -> list[int]:
        """Which of these chunks are not there."""
        where = {"chunks": json.dumps(list(chunks))}
        rows = await self._store.look(lambda db: db.execute(sql("manifest_missing"), where).fetchall())
        return [chunk for (chunk,) in rows]

    async def is_needed(self, space: Space, *, building: bool = False) -> bool:
        """Whether any version belongs there, or is being built there."""
        rows = await self._store.look(lambda db: db.execute(sql("manifest_uses")).fetchall())
        return any(
            _key(recipe_json) in (None, space.recipe)
            # Of a generation without a chunk nobody knows yet how long its vectors will be.
            and length in (None, space.dimension * FLOAT_BYTES)
            for recipe_json, length, is_building in rows
            if is_building or not building
        )

    async def is_owed(self, kind: DebtKind, about: str) -> bool:
        """Is such a debt still unpaid?"""
        row = await self._store.look(lambda db: db.execute(sql("debt_unpaid"), (kind, about)).fetchone())
        return bool(row[0])

    def _points(self, db: sqlite3.Connection, version: VersionId, first: int, limit: int) -> list[Point]:
        space = db.execute(sql("manifest_space"), (version,)).fetchone()
        if space is None:
            return []
        where = {"version": version, "first": first, "limit": limit}
        rows = db.execute(sql("manifest_points"), where).fetchall()
        average = WORDS_A_TOKEN * kept_recipe(space[0]).chunk_tokens
        read = self._tokenizer.read([row[8:11] for row in rows])
        return [_point(row, version, tokens, average) for row, tokens in zip(rows, read, strict=True)]


def _key(recipe_json: str) -> str | None:
    """What tells a recipe from others; None where it cannot be read, so that it may be any."""
    try:
        return kept_recipe(recipe_json).key
    except Broken:
        return None


def _space(recipe_json: str, length: int) -> Space:
    return Space(recipe=kept_recipe(recipe_json).key, dimension=length // FLOAT_BYTES)


def _point(row: tuple[Any, ...], version: VersionId, tokens: Tokens, average: float) -> Point:
    return Point(
        chunk=row[0],
        version=version,
        generation=GenerationId(row[1]),
        collection=CollectionId(row[2]),
        document=DocumentId(row[3]),
        document_number=row[4],
        tenant=TenantId(row[5]),
        workspace=WorkspaceId(row[6]),
        vector=Vector(row[7]),
        words={word: weight_in_chunk(count, tokens.length, average) for word, count in tokens.counts.items()},
    )


def _grounds(db: sqlite3.Connection, scope: Scope) -> list[Ground]:
    where = {"workspace": scope.workspace, "collections": json.dumps(list(dict.fromkeys(scope.collections)))}
    return [
        Ground(
            collection=CollectionId(collection),
            generation=GenerationId(generation),
            revision=revision,
            model=model,
            space=_space(recipe_json, length) if length and is_seen else None,
            documents=documents_of(db, scope, CollectionId(collection)),
        )
        for collection, generation, revision, recipe_json, model, length, is_seen in db.execute(
            sql("manifest_ground"), where
        ).fetchall()
    ]


def _seen(db: sqlite3.Connection, generation: GenerationId, chunks: Sequence[int]) -> Seen:
    where = {"generation": generation, "chunks": json.dumps(list(chunks))}
    revision = db.execute(sql("manifest_revision"), (generation,)).fetchone()
    return Seen(
        states={
            chunk: (VersionId(version), VersionState(state))
            for chunk, version, state in db.execute(sql("manifest_seen"), where)
        },
        revision=None if revision is None else revision[0],
    )


def _current(db: sqlite3.Connection, after: int, limit: int) -> list[Listed]:
    found: list[Listed] = []
    while not found:
        rows = db.execute(sql("manifest_current"), {"after": after, "limit": limit}).fetchall()
        if not rows:
            break
        after = rows[-1][0]
        # Of a recipe that cannot be read nobody can say where its points belong, until it is mended.
        found = [_listed(db, row) for row in rows if _key(row[3]) is not None]
    return found


def _listed(db: sqlite3.Connection, row: tuple[Any, ...]) -> Listed:
    version, document, name, recipe_json, length = row
    return Listed(
        version=VersionId(version),
        document=DocumentId(document),
        name=name,
        space=_space(recipe_json, length),
        chunks=tuple(chunk for (chunk,) in db.execute(sql("manifest_chunks"), (version,))),
    )
