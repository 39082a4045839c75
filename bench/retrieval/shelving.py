"""Papers go into a real store as a worker puts documents there: split, embedded, written, published."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256

from bench.retrieval.corpora import Paper
from penstock.model.catalogue import (
    LOCAL_TENANT,
    BlobId,
    Collection,
    NewChunk,
    NewDocument,
    Source,
    VersionId,
)
from penstock.model.chunks import Chunk, Piece, Vector
from penstock.model.parsed import Media, Parsed
from penstock.model.recipes import Recipe
from penstock.pipeline.projection import Projection
from penstock.pipeline.split import split
from penstock.ports.database import Database, Transaction
from penstock.ports.embedder import Embedder, Tokenizer

PORTION = 200
"""Papers written in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """A collection to fill."""

    database: Database
    collection: Collection
    recipe: Recipe
    projection: Projection | None = None
    """What keeps vectors outside the database, where they are kept there too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A paper in chunks, each with its vector."""

    name: str
    title: str
    text: str
    chunks: Sequence[tuple[Chunk, Piece, Vector]]


async def declared(
    database: Database, name: str, recipe: Recipe, projection: Projection | None = None
) -> Shelf:
    """A new collection of this recipe."""

    def work(tx: Transaction) -> Collection:
        return tx.shelves.declare(tx.shelves.workspace_of(LOCAL_TENANT), name, recipe_json=recipe.to_json())

    collection = await database.write(work)
    return Shelf(database=database, collection=collection, recipe=recipe, projection=projection)


async def cut_up(
    recipe: Recipe,
    papers: Iterable[tuple[str, Paper]],
    embedder: Embedder,
    tokenizer: Tokenizer,
    *,
    beside: int,
) -> list[Cut]:
    """Papers in chunks with their vectors, as many at once as keep the embedder busy."""
    cuts: list[tuple[str, Paper, list[tuple[Chunk, Piece]]]] = []
    for name, paper in papers:
        parsed = Parsed(text=paper.text, media=Media.TEXT, title=paper.title or None)
        cuts.append((name, paper, list(split(parsed, recipe, tokenizer))))
    pieces = [piece for _, _, pairs in cuts for _, piece in pairs]
    share = -(-len(pieces) // beside) or 1
    done = await asyncio.gather(
        *(embedder.embed(pieces[at : at + share]) for at in range(0, len(pieces), share))
    )
    vectors = iter([vector for each in done for vector in each])
    return [
        Cut(
            name=name,
            title=paper.title,
            text=paper.text,
            chunks=[(chunk, piece, next(vectors)) for chunk, piece in pairs],
        )
        for name, paper, pairs in cuts
        if pairs
    ]


async def write(shelf: Shelf, cuts: Sequence[Cut]) -> None:
    """Make them searchable."""
    for at in range(0, len(cuts), PORTION):
        portion = cuts[at : at + PORTION]
        versions = await shelf.database.write(partial(_put, shelf, portion), timeout=120)
        if shelf.projection is not None:
            for version in versions:
                await shelf.projection.put(version)


def _put(shelf: Shelf, cuts: Sequence[Cut], tx: Transaction) -> list[VersionId]:
    return [_put_one(shelf, cut, tx) for cut in cuts]


def _put_one(shelf: Shelf, cut: Cut, tx: Transaction) -> VersionId:
    model = shelf.recipe.model
    document = tx.documents.admit(
        NewDocument(
            tenant=LOCAL_TENANT,
            collection=shelf.collection.id,
            source=Source.CONTENT,
            identity=f"bench:{cut.name}",
            name=cut.name,
        )
    )
    blob = BlobId(sha256(cut.text.encode()).hexdigest())
    tx.documents.describe(
        document.id, title=cut.title or None, media=Media.TEXT, pages=None, metadata_json="{}"
    )
    version = tx.documents.begin(document.id, shelf.collection.generation, blob, len(cut.text))
    tx.kept.keep_vectors(model, [(piece.key, vector) for _, piece, vector in cut.chunks])
    new = [
        NewChunk(chunk=chunk, text=cut.text[chunk.start : chunk.end], lead=cut.title, key=piece.key)
        for chunk, piece, _ in cut.chunks
    ]
    tx.documents.add_chunks(version.id, model, new)
    tx.documents.publish(version.id, chunks=len(new))
    return version.id
