"""`python -m bench.ingest.peers NAME FOLDER STATE`: a peer takes a folder in, as its documentation shows it.

Both read files with our readers, cut to the same number of tokens as we count them, embed with our model on
all cores, and keep vectors in a plain SQLite table that is committed at every call: what differs is theirs.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy

from penstock.engines.minilm import BundledEmbedder, BundledTokenizer
from penstock.model.chunks import Piece
from penstock.pipeline.parse.reading import read_whole, warm_up

CHUNK_TOKENS = 200
CORES = len(os.sched_getaffinity(0))
BATCH = 64
TOKENIZER = BundledTokenizer()
PACKAGES = {"LlamaIndex": "llama-index-core", "LangChain": "langchain-core"}
WAYS = {
    "LlamaIndex": "`IngestionPipeline` with `SentenceSplitter`, a document store against doubles "
    "(upserts), persisted when the run is over",
    "LangChain": "`index()` with `RecursiveCharacterTextSplitter`, a record manager on SQLite, "
    "`cleanup=incremental`, batches of 100 as it comes",
}


class SharedModel:
    """Our model for callers without an event loop; a call is spread over all cores."""

    def __init__(self) -> None:
        self._embedder = BundledEmbedder(TOKENIZER, threads=CORES)
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """As lists of numbers, which is what both take."""
        return asyncio.run_coroutine_threadsafe(self._vectors(texts), self._loop).result()

    async def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        pieces = [_piece(text) for text in texts]
        share = -(-len(pieces) // CORES) or 1
        calls = [pieces[at : at + share] for at in range(0, len(pieces), share)]
        done = await asyncio.gather(*map(self._embedder.embed, calls))
        return [numpy.frombuffer(vector, "<f4").tolist() for found in done for vector in found]


class Table:
    """Vectors in SQLite; each call is on disk when it returns."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS vectors"
            " (id TEXT PRIMARY KEY, document TEXT NOT NULL, text TEXT NOT NULL, vector BLOB NOT NULL)"
        )

    def put(self, rows: Iterable[tuple[str, str, str, Sequence[float]]]) -> None:
        """Rows of id, document, text and vector."""
        with self._db:
            self._db.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)",
                ((*row[:3], numpy.asarray(row[3], "<f4").tobytes()) for row in rows),
            )

    def remove(self, column: str, values: Iterable[str]) -> None:
        """Rows by their id or document."""
        with self._db:
            self._db.executemany(
                f"DELETE FROM vectors WHERE {column} = ?",  # noqa: S608  # one of two names of ours
                ((value,) for value in values),
            )


def texts_of(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file with its text."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path), read_whole(BytesIO(path.read_bytes()), path.name).text


def _piece(text: str) -> Piece:
    ids = TOKENIZER.tokens(text).ids[: TOKENIZER.tokens_max]
    return Piece(text=text, token_ids=ids)


def llama_index(folder: Path, state: Path) -> None:
    """One run of the pipeline over all documents; its state is loaded before and persisted after."""
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.core.schema import BaseNode, Document, MetadataMode
    from llama_index.core.storage.docstore import SimpleDocumentStore
    from llama_index.core.vector_stores.types import BasePydanticVectorStore

    model, table = SharedModel(), Table(state / "vectors.db")

    class Embedding(BaseEmbedding):
        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return model.vectors(texts)

        def _get_text_embedding(self, text: str) -> list[float]:
            return model.vectors([text])[0]

        def _get_query_embedding(self, query: str) -> list[float]:
            return model.vectors([query])[0]

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

    class Vectors(BasePydanticVectorStore):
        stores_text: bool = True

        @property
        def client(self) -> Any:
            return table

        def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
            table.put(
                (
                    node.node_id,
                    str(node.ref_doc_id),
                    node.get_content(MetadataMode.NONE),
                    node.get_embedding(),
                )
                for node in nodes
            )
            return [node.node_id for node in nodes]

        def delete(self, ref_doc_id: str, **_: Any) -> None:
            table.remove("document", [ref_doc_id])

        def query(self, query: Any, **_: Any) -> Any:
            raise NotImplementedError

    splitter = SentenceSplitter(
        chunk_size=CHUNK_TOKENS, chunk_overlap=0, tokenizer=lambda text: TOKENIZER.tokens(text).ids
    )
    pipeline = IngestionPipeline(
        transformations=[splitter, Embedding(embed_batch_size=BATCH)],
        vector_store=Vectors(),
        docstore=SimpleDocumentStore(),
        docstore_strategy=DocstoreStrategy.UPSERTS,
    )
    kept = state / "pipeline"
    if kept.exists():
        pipeline.load(str(kept))
    pipeline.run(documents=[Document(text=text, doc_id=name) for name, text in texts_of(folder)])
    pipeline.persist(str(kept))


def langchain(folder: Path, state: Path) -> None:
    """One call of index() over all documents."""
    from langchain_classic.indexes import SQLRecordManager
    from langchain_core.documents import Document
    from langchain_core.indexing import index
    from langchain_core.vectorstores import VectorStore
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    model, table = SharedModel(), Table(state / "vectors.db")

    class Vectors(VectorStore):
        def add_documents(self, documents: list[Document], **given: Any) -> list[str]:
            texts, ids = [each.page_content for each in documents], list(given["ids"])
            names = [str(each.metadata["source"]) for each in documents]
            table.put(zip(ids, names, texts, model.vectors(texts), strict=True))
            return ids

        def delete(self, ids: list[str] | None = None, **_: Any) -> bool:
            table.remove("id", ids or ())
            return True

        def similarity_search(self, query: str, k: int = 4, **_: Any) -> list[Document]:
            raise NotImplementedError

        @classmethod
        def from_texts(cls, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    splitter = RecursiveCharacterTextSplitter(
        chunk_size=CHUNK_TOKENS, chunk_overlap=0, length_function=lambda text: len(TOKENIZER.tokens(text).ids)
    )
    records = SQLRecordManager("bench", db_url=f"sqlite:///{state / 'records.db'}")
    records.create_schema()
    pieces = (
        piece
        for name, text in texts_of(folder)
        for piece in splitter.split_documents([Document(page_content=text, metadata={"source": name})])
    )
    index(pieces, records, Vectors(), cleanup="incremental", source_id_key="source", key_encoder="sha256")


RUNS = {"LlamaIndex": llama_index, "LangChain": langchain}


def main(name: str, folder: Path, state: Path) -> None:
    """Take the folder in; what is in the table afterwards."""
    state.mkdir(exist_ok=True)
    warm_up()
    RUNS[name](folder, state)
    print(json.dumps(contents(state)))


def contents(state: Path) -> dict[str, int]:
    """Documents and chunks in the table, and texts that are there more than once in a document."""
    path = state / "vectors.db"
    if not path.exists():
        return {"documents": 0, "chunks": 0, "doubled": 0}
    db = sqlite3.connect(path)
    documents, chunks = db.execute("SELECT count(DISTINCT document), count(*) FROM vectors").fetchone()
    (different,) = db.execute("SELECT count(*) FROM (SELECT DISTINCT document, text FROM vectors)").fetchone()
    db.close()
    return {"documents": documents, "chunks": chunks, "doubled": chunks - different}


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
