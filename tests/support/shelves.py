"""Documents put into a real store as a worker puts them there: split, embedded, written, published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from json import dumps

from penstock.model.catalogue import (
    LOCAL_TENANT,
    BlobId,
    Collection,
    DocumentId,
    NewChunk,
    NewDocument,
    Source,
    Version,
)
from penstock.model.parsed import Heading, Media, Page, Parsed
from penstock.model.recipes import Recipe
from penstock.pipeline.split import split
from penstock.ports.database import Database, Transaction
from penstock.ports.embedder import Embedder, Tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A document to put in."""

    path: str
    text: str
    title: str | None = None
    headings: tuple[Heading, ...] = ()
    pages: tuple[Page, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)


class Librarian:
    """Fills collections of one store."""

    def __init__(
        self, database: Database, embedder: Embedder, tokenizer: Tokenizer, *, chunk_tokens: int = 60
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._tokenizer = tokenizer
        self._recipe = Recipe(model=embedder.model, chunk_tokens=chunk_tokens, chunk_tokens_min=8)

    async def declare(self, name: str, *, model: str | None = None) -> Collection:
        """A collection; `model` names another than the librarian's own."""
        recipe = self._recipe if model is None else Recipe(model=model)

        def work(tx: Transaction) -> Collection:
            workspace = tx.shelves.workspace_of(LOCAL_TENANT)
            return tx.shelves.declare(workspace, name, recipe_json=recipe.to_json())

        return await self._database.write(work)

    async def put(self, collection: Collection, given: Text, *, publish: bool = True) -> DocumentId:
        """A document, searchable once it is published."""
        parsed = Parsed(
            text=given.text,
            media=Media.TEXT,
            title=given.title,
            headings=given.headings,
            pages=given.pages,
        )
        pairs = list(split(parsed, self._recipe, self._tokenizer))
        vectors = await self._embedder.embed([piece for _, piece in pairs])
        keyed = [(piece.key, vector) for (_, piece), vector in zip(pairs, vectors, strict=True)]
        chunks = [
            NewChunk(
                chunk=chunk,
                text=given.text[chunk.start : chunk.end],
                lead=" > ".join(filter(None, (given.title, *chunk.headings))),
                key=piece.key,
            )
            for chunk, piece in pairs
        ]

        def work(tx: Transaction) -> DocumentId:
            version = self._begun(tx, collection, given)
            tx.kept.keep_vectors(self._recipe.model, keyed)
            tx.documents.add_chunks(version.id, self._recipe.model, chunks)
            if publish:
                tx.documents.publish(version.id, chunks=len(chunks))
            return version.document

        return await self._database.write(work)

    def _begun(self, tx: Transaction, collection: Collection, given: Text) -> Version:
        document = tx.documents.admit(
            NewDocument(
                tenant=LOCAL_TENANT,
                collection=collection.id,
                source=Source.FILE,
                identity=given.path,
                name=given.path.rpartition("/")[2],
            )
        )
        tx.documents.describe(
            document.id,
            title=given.title,
            media=Media.TEXT,
            pages=len(given.pages) or None,
            metadata_json=dumps(dict(given.metadata)),
        )
        blob = BlobId(sha256(given.text.encode()).hexdigest())
        return tx.documents.begin(document.id, collection.generation, blob, len(given.text.encode()))

    async def hide(self, document: DocumentId) -> None:
        """Delete it, as far as readers can tell."""
        await self._database.write(lambda tx: tx.documents.hide(document))
