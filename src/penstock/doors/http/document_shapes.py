"""What the API says and takes about documents and jobs."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from penstock.doors.http.shapes import NAME_MAX, Asked, Said
from penstock.doors.http.treatment import Treatment
from penstock.model.catalogue import DocumentState, Source, StageKind, StageState, VersionState
from penstock.model.jobs import Accepted, Operation
from penstock.model.payloads import ItemType


class ErrorSaid(Said):
    """Why something failed, and what can be done."""

    stage: StageKind | None
    code: str
    message: str
    suggestions: list[str]


class DocumentSaid(Said):
    """A document."""

    id: str
    workspace_id: str
    collection: str
    name: str
    title: str | None
    source: Source
    status: DocumentState
    media: str | None
    size: int | None
    pages: int | None
    chunks: int
    metadata: dict[str, Any]
    error: ErrorSaid | None
    created_at: str
    updated_at: str


class StageSaid(Said):
    """A step of a document's job, as `job.status_updated` tells it; it is tried again at `next_run_at`."""

    job_id: str
    job_type: StageKind
    status: StageState
    retry_count: int
    next_run_at: str | None
    error_code: str | None
    error_message: str | None
    created_at: str
    updated_at: str


class VersionSaid(Said):
    """One ingest of a document's bytes; one is current, one may be being built."""

    id: int
    state: VersionState
    sha256: str
    chunks: int


class DocumentDetail(DocumentSaid):
    """A document with its stages, oldest first, and its versions, newest first."""

    stages: list[StageSaid]
    versions: list[VersionSaid]


class DocumentPage(Said):
    """Documents in the order asked for; `total` is exact unless `total_is_more`."""

    items: list[DocumentSaid]
    next: str | None
    total: int
    total_is_more: bool


class ChunkSaid(Said):
    """A piece of a document's text: its characters from `start` to `end`."""

    ordinal: int
    start: int
    end: int
    tokens: int
    headings: list[str]
    page_first: int | None
    page_last: int | None
    text: str


class ChunkPage(Said):
    """Chunks in the order of the text; `next` is the ordinal to ask on behind."""

    items: list[ChunkSaid]
    next: int | None


class AcceptedSaid(Said):
    """A document that was taken in, and the job that works on it; a new name alone needs none."""

    document_id: str | None
    job_id: str | None
    name: str
    how: Accepted


class AcceptedPage(Said):
    """What was taken in, in the order it came."""

    items: list[AcceptedSaid]


class RetriedPage(AcceptedPage):
    """What is tried again; `next` goes on where there may be more, whether or not some of these could be."""

    next: str | None


class TextAsked(Treatment):
    """A text to be taken in as a document."""

    collection: str = Field(min_length=1, max_length=NAME_MAX)
    name: str = Field(min_length=1, max_length=NAME_MAX)
    content: str = Field(min_length=1)
    metadata: dict[str, Any] = Field(default_factory=dict)


class MoveAsked(Asked):
    """Another name, or another collection of the workspace, or both."""

    name: str | None = Field(default=None, min_length=1, max_length=4 * NAME_MAX)
    collection: str | None = Field(default=None, min_length=1, max_length=NAME_MAX)


class ManyAsked(Asked):
    """Documents by their ids."""

    ids: list[str] = Field(min_length=1, max_length=1_000)


class FailedAsked(Asked):
    """Which failed documents: of one collection or of all, with one error code or any that nobody wanted."""

    collection: str | None = Field(default=None, max_length=NAME_MAX)
    code: str | None = Field(default=None, max_length=100)
    after: str | None = Field(
        default=None, max_length=100, description="The `next` of the call before, to go on behind it."
    )


class JobSaid(Said):
    """A job."""

    id: str
    item_type: ItemType
    operation: Operation
    collection: str
    status: StageState
    priority: int
    retry_count: int
    max_retries: int
    document_id: str | None
    progress_done: int | None
    progress_total: int | None
    error_code: str | None
    error_message: str | None
    next_run_at: str | None
    replay_of: str | None
    created_at: str
    updated_at: str
    finished_at: str | None


class JobPage(Said):
    """Jobs, the newest first; `next` asks for those behind."""

    items: list[JobSaid]
    next: str | None


class CancelledSaid(Said):
    """Whether there was still something to cancel."""

    cancelled: bool
