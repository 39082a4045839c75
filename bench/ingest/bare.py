"""`python -m bench.ingest.bare FOLDER DATA`: the work without the system around it, in one process.

Each trade goes over the whole corpus before the next begins, so its processor time can be told apart. The
model uses all cores, because a core's work takes longer while its neighbour is busy: what is divided by the
number of cores later is what the work costs while all of them work.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from io import BytesIO
from itertools import islice
from pathlib import Path

from penstock.engines.minilm import MODEL, BundledEmbedder, BundledTokenizer
from penstock.model.catalogue import LOCAL_TENANT, BlobId, Collection, NewChunk, NewDocument, Source
from penstock.model.chunks import Chunk, Piece, Vector
from penstock.model.parsed import Parsed
from penstock.model.recipes import Recipe
from penstock.pipeline.parse.reading import read_whole, warm_up
from penstock.pipeline.split import split
from penstock.ports.database import Transaction
from penstock.settings import load
from penstock.wiring.store import Store, open_store

CORES = len(os.sched_getaffinity(0))
PORTION = 50
"""Documents written in one transaction."""
SAMPLE = 8
"""Every so many texts are embedded once more while the other cores rest."""
BATCH = 64
"""Texts embedded in one call."""

Cut = list[tuple[Chunk, Piece]]


class Watch:
    """Processor seconds by trade, of all threads of the process."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def over(self, trade: str) -> Iterator[None]:
        """Count what happens meanwhile."""
        begin = time.process_time()
        yield
        self.seconds[trade] = self.seconds.get(trade, 0.0) + time.process_time() - begin


async def work(paths: Sequence[Path], data: Path) -> dict[str, float]:
    """Parse, split, embed and index these files; what each trade took."""
    watch, tokenizer = Watch(), BundledTokenizer()
    recipe = Recipe(model=MODEL)
    embedder = BundledEmbedder(tokenizer, threads=CORES)
    warm_up()
    await embedder.embed([Piece(text="warm")])
    with watch.over("parse"):
        parsed = [read_whole(BytesIO(path.read_bytes()), path.name) for path in paths]
    with watch.over("split"):
        cuts = [list(split(each, recipe, tokenizer)) for each in parsed]
    wanted = {piece.key: piece for cut in cuts for _, piece in cut}
    with watch.over("embed"):
        vectors = await embed(embedder, list(wanted.values()))
    known = dict(zip(wanted, vectors, strict=True))
    async with open_store(load(None, {}, {"data": str(data)})) as store:
        collection = await store.write(partial(_declared, recipe))
        with watch.over("index"):
            await index(store, collection, list(zip(paths, parsed, cuts, strict=True)), known)
    await embedder.close()
    return {
        **watch.seconds,
        "documents": len(paths),
        "chunks": sum(map(len, cuts)),
        "embed, other cores at rest": await alone(tokenizer, list(wanted.values())[::SAMPLE]) * SAMPLE,
    }


async def embed(embedder: BundledEmbedder, pieces: Sequence[Piece]) -> list[Vector]:
    """All vectors, every thread busy until the last few."""
    calls = [pieces[at : at + BATCH] for at in range(0, len(pieces), BATCH)]
    return [vector for vectors in await asyncio.gather(*map(embedder.embed, calls)) for vector in vectors]


async def alone(tokenizer: BundledTokenizer, pieces: Sequence[Piece]) -> float:
    """Processor seconds of some texts on one thread, while the other cores rest."""
    embedder = BundledEmbedder(tokenizer)
    await embedder.embed(pieces[:1])
    begin = time.process_time()
    await embedder.embed(pieces)
    taken = time.process_time() - begin
    await embedder.close()
    return taken


async def index(
    store: Store,
    collection: Collection,
    documents: Sequence[tuple[Path, Parsed, Cut]],
    vectors: dict[bytes, Vector],
) -> None:
    """Write every document with its chunks and make it searchable."""
    waiting = iter(documents)
    while portion := list(islice(waiting, PORTION)):
        await store.write(partial(_put, collection, portion, vectors), timeout=120)


def _declared(recipe: Recipe, tx: Transaction) -> Collection:
    return tx.shelves.declare(tx.shelves.workspace_of(LOCAL_TENANT), "bare", recipe_json=recipe.to_json())


def _put(
    collection: Collection,
    documents: Sequence[tuple[Path, Parsed, Cut]],
    vectors: dict[bytes, Vector],
    tx: Transaction,
) -> None:
    for path, parsed, cut in documents:
        document = tx.documents.admit(
            NewDocument(
                tenant=LOCAL_TENANT,
                collection=collection.id,
                source=Source.FILE,
                identity=str(path),
                name=path.name,
            )
        )
        tx.documents.describe(
            document.id, title=parsed.title, media=parsed.media, pages=None, metadata_json="{}"
        )
        blob = BlobId(sha256(parsed.text.encode()).hexdigest())
        version = tx.documents.begin(document.id, collection.generation, blob, len(parsed.text))
        tx.kept.keep_vectors(MODEL, [(piece.key, vectors[piece.key]) for _, piece in cut])
        new = [
            NewChunk(
                chunk=chunk, text=parsed.text[chunk.start : chunk.end], lead=parsed.title or "", key=piece.key
            )
            for chunk, piece in cut
        ]
        tx.documents.add_chunks(version.id, MODEL, new)
        tx.documents.publish(version.id, chunks=len(new))


if __name__ == "__main__":
    found = sorted(path for path in Path(sys.argv[1]).rglob("*") if path.is_file())
    print(json.dumps(asyncio.run(work(found, Path(sys.argv[2])))))
