"""What is found out about a set-up and about what it keeps: findings for people, flaws that can be mended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How a finding is meant."""

    OK = "ok"
    WARNING = "warning"
    """It works, but somebody should know."""
    WRONG = "wrong"
    """It does not work, or not for long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    check: str
    verdict: Verdict
    sentence: str
    advice: str = ""
    """What to do; empty where there is nothing to do."""


class Flaw(StrEnum):
    """What may disagree between catalogue, vectors, words, bytes and queue."""

    VERSION_CHUNKS = "version_chunks"
    CHUNK_VECTORS = "chunk_vectors"
    CHUNK_TEXTS = "chunk_texts"
    CHUNK_SPANS = "chunk_spans"
    CHUNK_ORPHANS = "chunk_orphans"
    WORDS = "words"
    VECTORS_MISSING = "vectors_missing"
    VECTORS_DIFFER = "vectors_differ"
    VECTORS_UNUSED = "vectors_unused"
    VERSION_UNPURGED = "version_unpurged"
    VERSION_UNFINISHED = "version_unfinished"
    VERSION_ORPHANS = "version_orphans"
    DOCUMENT_UNPURGED = "document_unpurged"
    DOCUMENT_ORPHANS = "document_orphans"
    DOCUMENT_STRAYS = "document_strays"
    DOCUMENT_METADATA = "document_metadata"
    COLLECTION_INDEX = "collection_index"
    GENERATION_UNPURGED = "generation_unpurged"
    DOCUMENT_VERSIONLESS = "document_versionless"
    DOCUMENT_WAITING = "document_waiting"
    STAGE_LOST = "stage_lost"
    BATCH_COUNTS = "batch_counts"
    JOB_ASTRAY = "job_astray"
    EVENT_PAYLOAD = "event_payload"
    BLOB_MISSING = "blob_missing"
    BLOB_DAMAGED = "blob_damaged"
    BLOB_UNUSED = "blob_unused"
    BLOB_FOREIGN = "blob_foreign"
    UNFINISHED_FILES = "unfinished_files"
    DATABASE = "database"


MEANINGS: dict[Flaw, str] = {
    Flaw.VERSION_CHUNKS: "A current version has not exactly its chunks; mended by building it anew.",
    Flaw.CHUNK_VECTORS: "A chunk has no vector, or one of the wrong length or model; mended likewise.",
    Flaw.CHUNK_TEXTS: "A chunk has another text's vector, or none that is one (looked for with `--deep`); "
    "mended likewise.",
    Flaw.CHUNK_SPANS: "A chunk is not what stands at its place in the kept text (looked for with `--deep`); "
    "mended likewise.",
    Flaw.CHUNK_ORPHANS: "Chunks belong to no version; mended by removing them.",
    Flaw.WORDS: "The words of a collection are not those of its chunks; mended by making them anew.",
    Flaw.VECTORS_MISSING: "Chunks are not in the vector store; mended by putting them there again.",
    Flaw.VECTORS_DIFFER: "What lies in the vector store is not what chunks have (looked for with `--deep`); "
    "mended likewise.",
    Flaw.VECTORS_UNUSED: "Vectors in the vector store belong to no chunk; mended by removing them.",
    Flaw.VERSION_UNPURGED: "An old version is neither needed nor owed a purge; mended by owing it.",
    Flaw.VERSION_UNFINISHED: "A version nobody builds any more holds chunks; mended by owing their purge.",
    Flaw.VERSION_ORPHANS: "A version's document is not there; mended by giving it up and owing its purge.",
    Flaw.DOCUMENT_UNPURGED: "A deleted document is owed no purge; mended by owing it.",
    Flaw.DOCUMENT_ORPHANS: "A document's collection is not there; mended by deleting it.",
    Flaw.DOCUMENT_STRAYS: "A document says another workspace than its collection; mended by saying the same.",
    Flaw.DOCUMENT_METADATA: "A document's metadata is no JSON object; mended by keeping the text under the "
    "key `unreadable`.",
    Flaw.COLLECTION_INDEX: "An index of a collection, or its recipe, is not there or cannot be read; mended "
    "by its newest one, else by putting it back and building the collection anew beside it.",
    Flaw.GENERATION_UNPURGED: "An old index is neither used nor owed a purge; mended by owing it.",
    Flaw.DOCUMENT_VERSIONLESS: "An ingested document has no current version; mended by building it anew.",
    Flaw.DOCUMENT_WAITING: "A document waits for a job that is not there; mended by submitting one.",
    Flaw.STAGE_LOST: "A step has not ended though its job has; mended by ending it.",
    Flaw.BATCH_COUNTS: "A batch says other counts than its children; mended by counting them.",
    Flaw.JOB_ASTRAY: "A job waits for a collection that is not there; mended by cancelling it.",
    Flaw.EVENT_PAYLOAD: "An event of the log is no JSON object; mended by forgetting it and those before it, "
    "so that whoever has not read them is told to read anew.",
    Flaw.BLOB_MISSING: "Stored bytes are gone; mended from the file itself where it still holds them.",
    Flaw.BLOB_DAMAGED: "Stored bytes cannot be read, or are not what was stored (looked for with `--deep`); "
    "mended likewise.",
    Flaw.BLOB_UNUSED: "Stored bytes that nothing refers to for an hour; mended by removing them.",
    Flaw.BLOB_FOREIGN: "What lies among the stored bytes for an hour and is none of them; mended by moving "
    "it to `strays` in the data folder.",
    Flaw.UNFINISHED_FILES: "Half-written files of writers that are gone; mended by removing them.",
    Flaw.DATABASE: "The database file itself is damaged; restore it from a backup.",
}
"""What each means and how it is mended; the how-to page tells the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """One flaw: where it is, in words, and the document it concerns if it concerns one."""

    flaw: Flaw
    about: str
    sentence: str
    document: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Bytes something refers to: a version of a document, or a kept parse."""

    blob: str
    document: str | None
    """The document's id; None for a kept parse."""
    identity: str
    """Where the bytes came from, as the document is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Laid:
    """A version whose chunks were cut from a text: under which blobs parses of its bytes are kept."""

    version: int
    document: str
    name: str
    parses: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """How much of a kind is owed, since when, and why the latest try failed."""

    kind: str
    count: int
    since: float
    tries: int
    reason: str
