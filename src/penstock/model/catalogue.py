"""What the catalogue holds: collections, their generations, documents, versions and stages.

    collection  ── one answering generation, at most one being built beside it
      document  ── keeps its id over edits, moves and re-ingests
        version ── one ingest of its bytes in one generation: building, then current, then gone

A reader sees the current version of each document that is not hidden, in the answering generation, and
nothing else; so the flip of a version, a delete and the swap of a generation are each one small write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import NewType

from penstock.model.chunks import Chunk
from penstock.model.errors import ErrorReport
from penstock.model.instants import instant
from penstock.model.jobs import JobId, TenantId
from penstock.model.stored_json import stored_object

WorkspaceId = NewType("WorkspaceId", str)
CollectionId = NewType("CollectionId", int)
GenerationId = NewType("GenerationId", int)
DocumentId = NewType("DocumentId", str)
VersionId = NewType("VersionId", int)
StageId = NewType("StageId", str)
BlobId = NewType("BlobId", str)
"""The SHA-256 of some bytes, in hex: the name they are stored under."""
HoldId = NewType("HoldId", str)
"""By which bytes are held that no document needs yet."""

LOCAL_USER = "00000000-0000-4000-8000-000000000001"
LOCAL_WORKSPACE = WorkspaceId("00000000-0000-4000-8000-000000000002")
LOCAL_TENANT = TenantId("local")


class Source(StrEnum):
    """Where a document comes from, which decides what its identity is."""

    FILE = "file"
    """Identity: the absolute path."""
    CONTENT = "content"
    """Identity: `sha256:` of the text."""
    LIBRARY = "library"
    """Identity: `{name}:{version}`, with `#{path}` for one file of several."""
    UPLOAD = "upload"
    """Identity: `/upload:/sha256:` and the hash of the bytes; see uploads."""


class DocumentState(StrEnum):
    """How far a document is."""

    PENDING = "pending"
    PARSED = "parsed"
    INGESTED = "ingested"
    ERROR = "error"


class StageKind(StrEnum):
    """The steps of a document's job, and `task` for other jobs on a document."""

    PARSE = "parse"
    INGEST = "ingest"
    TASK = "task"


class StageState(StrEnum):
    """A stage in the words of job events."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"


class VersionState(StrEnum):
    """A version's life."""

    BUILDING = "building"
    CURRENT = "current"
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """How much a workspace holds."""

    documents: int
    size: int
    """Bytes, as they were sent or ingested; of a file nobody has read yet none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A named body of documents searched as one."""

    id: CollectionId
    workspace: WorkspaceId
    name: str
    recipe_json: str
    """How its documents are made into vectors; a change asks for a new generation."""
    generation: GenerationId
    """The one that answers."""
    building: GenerationId | None = None
    """The one being built beside it."""
    revision: int = 0
    """Rises with every change a reader could see."""
    description: str = ""
    created_at: float = 0.0

    def facts(self, counts: Mapping[str, int]) -> dict[str, object]:
        """The collection as people and programs are shown it, in `collection.created` and in every listing.

        `counts` are its documents by state, `chunks` and `bytes`; what is left out is none.
        """
        return {
            "name": self.name,
            "description": self.description,
            "created_at": instant(self.created_at),
            "documents": {state.value: counts.get(state, 0) for state in DocumentState},
            "chunks": counts.get("chunks", 0),
            "bytes": counts.get("bytes", 0),
            "rebuilding": self.building is not None,
            "recipe": stored_object(self.recipe_json),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One index of a collection, all of one recipe."""

    id: GenerationId
    collection: CollectionId
    recipe_json: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """A document as intake meets it."""

    tenant: TenantId
    collection: CollectionId
    source: Source
    identity: str
    name: str
    branch: str = "main"
    metadata: Mapping[str, object] = field(default_factory=dict)
    size: int = 0
    """How many bytes it has, where that is known already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document as the catalogue knows it."""

    id: DocumentId
    tenant: TenantId
    workspace: WorkspaceId
    collection: CollectionId
    source: Source
    identity: str
    name: str
    state: DocumentState
    collection_name: str = ""
    branch: str = "main"
    title: str | None = None
    media: str | None = None
    blob: BlobId | None = None
    """The bytes of the current version."""
    size: int | None = None
    """Of the current version, else of the bytes it was last begun or sent with."""
    version: VersionId | None = None
    """The current version in the answering generation."""
    chunks: int = 0
    pages: int | None = None
    metadata_json: str = "{}"
    error_stage: StageKind | None = None
    error: ErrorReport | None = None
    hidden: bool = False
    created_at: float = 0.0
    updated_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One ingest of a document's bytes in one generation."""

    id: VersionId
    document: DocumentId
    generation: GenerationId
    blob: BlobId
    state: VersionState
    chunks: int = 0
    """Rows written so far, or in all once it is current."""
    size: int = 0
    """Of its bytes; told where versions are listed, as the times are."""
    begun_at: float = 0.0
    published_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A step of a document's job, kept beyond it; its id is the `job_id` of its events."""

    id: StageId
    kind: StageKind
    document: DocumentId
    job: JobId
    state: StageState
    retry_count: int = 0
    next_run_at: float | None = None
    error: ErrorReport | None = None
    created_at: float = 0.0
    updated_at: float = 0.0
    finished_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChunk:
    """A chunk as it goes into a version; its vector must be known by (model, key) already."""

    chunk: Chunk
    text: str
    lead: str
    """The title and headings above it, which are searched too."""
    key: bytes
    """The text key of what was embedded for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptParse:
    """The kept result of a parse: under which blob its text and layout lie."""

    blob: BlobId
    parser: str
    """Name and version of the parser, and whether it was lenient."""
    result: BlobId


class DebtKind(StrEnum):
    """Durable work outside the queue's matrix, each with a trade of its own."""

    PURGE_VERSION = "purge_version"
    PURGE_DOCUMENT = "purge_document"
    PURGE_GENERATION = "purge_generation"
    PURGE_POINTS = "purge_points"
    """Vectors outside the database whose chunks are purged go too."""
    FREE_BLOB = "free_blob"
    """Bytes nothing refers to any more are let go."""
    MOVE = "move"
    """A file of our own folders goes to processed or failed."""
    REBUILD = "rebuild"
    """Every document of a collection is built into its new generation, then the generations swap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDebt:
    """Something that must be done until it is done."""

    kind: DebtKind
    about: str
    """What it is about: an id, or a path for a move. One unpaid debt per kind and about."""
    details_json: str = "{}"
    due_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Debt:
    """A debt taken for a while by one owner."""

    id: int
    kind: DebtKind
    about: str
    details_json: str
    tries: int


def content_identity(text: str) -> str:
    """What a text given directly is known by."""
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def library_identity(name: str, version: str) -> str:
    """What a library's documentation is known by where it is one document."""
    return f"{name}:{version}"
