"""What the server tells, as values; a field this version does not know is left out, none is made up.

Times are ISO 8601 in UTC, as they were sent.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

ENDED = frozenset({"ingested", "error", "deleted"})
"""States of a document that nothing but a new request changes."""


class Me(Struct, frozen=True, kw_only=True):
    """Who the server takes us for."""

    user_id: str
    role: str
    proof: str
    expires_at: str | None


class Workspace(Struct, frozen=True, kw_only=True):
    """A workspace we own."""

    id: str
    name: str
    created_at: str


class Collection(Struct, frozen=True, kw_only=True):
    """A collection; `documents` counts them by state."""

    name: str
    description: str
    created_at: str
    documents: dict[str, int]
    chunks: int
    bytes: int
    rebuilding: bool
    recipe: dict[str, Any]


class Reason(Struct, frozen=True, kw_only=True):
    """Why a document is in error, and what can be done."""

    stage: str | None
    code: str
    message: str
    suggestions: tuple[str, ...]


class Document(Struct, frozen=True, kw_only=True):
    """A document; `status` is pending, parsed, ingested or error, or deleted where it is followed."""

    id: str
    workspace_id: str
    collection: str
    name: str
    title: str | None
    source: str
    status: str
    media: str | None
    size: int | None
    pages: int | None
    chunks: int
    metadata: dict[str, Any]
    error: Reason | None
    created_at: str
    updated_at: str

    @property
    def has_ended(self) -> bool:
        """Whether it is ingested, in error, or no longer there."""
        return self.status in ENDED

    @classmethod
    def deleted(cls, document_id: str) -> Document:
        """One that is not there: nothing but its id is known."""
        return Document(
            id=document_id,
            workspace_id="",
            collection="",
            name="",
            title=None,
            source="",
            status="deleted",
            media=None,
            size=None,
            pages=None,
            chunks=0,
            metadata={},
            error=None,
            created_at="",
            updated_at="",
        )


class Stage(Struct, frozen=True, kw_only=True):
    """A step of a document's job."""

    job_id: str
    job_type: str
    status: str
    retry_count: int
    next_run_at: str | None
    error_code: str | None
    error_message: str | None
    created_at: str
    updated_at: str


class Version(Struct, frozen=True, kw_only=True):
    """One ingest of a document's bytes."""

    id: int
    state: str
    sha256: str
    chunks: int


class DocumentDetail(Document, frozen=True, kw_only=True):
    """A document with its stages, oldest first, and its versions, newest first."""

    stages: tuple[Stage, ...]
    versions: tuple[Version, ...]


class DocumentPage(Struct, frozen=True, kw_only=True):
    """Some documents; `next` asks for those behind."""

    items: tuple[Document, ...]
    next: str | None
    total: int
    total_is_more: bool


class Accepted(Struct, frozen=True, kw_only=True):
    """Something that was taken in, and the job that works on it; a new name alone needs none."""

    document_id: str | None
    job_id: str | None
    name: str
    how: str


class Job(Struct, frozen=True, kw_only=True):
    """A job; `status` is queued, running, success or failed."""

    id: str
    item_type: str
    operation: str
    collection: str
    status: str
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


class Span(Struct, frozen=True, kw_only=True):
    """Words of a document: the characters from `start` to `end` of its stored text."""

    text: str
    start: int
    end: int
    page_first: int | None
    page_last: int | None


class Place(Struct, frozen=True, kw_only=True):
    """Where something stands."""

    label: str
    document_id: str
    document: str
    title: str | None
    identity: str
    collection: str
    headings: tuple[str, ...]
    page_first: int | None
    page_last: int | None
    start: int
    end: int
    spans: tuple[Span, ...]


class Hit(Place, frozen=True, kw_only=True):
    """One stretch of a document; `cosine` is None where only words found it."""

    rank: int
    score: float
    cosine: float | None


class Evidence(Struct, frozen=True, kw_only=True):
    """What the confidence was judged from."""

    cosine: float | None
    coverage: float
    agreement: float


class Found(Struct, frozen=True, kw_only=True):
    """What a search found; `found` is False where nothing speaks of the question, whatever the hits hold."""

    question: str
    found: bool
    confidence: str
    evidence: Evidence
    hits: tuple[Hit, ...]
    notes: tuple[str, ...]


class Citation(Place, frozen=True, kw_only=True):
    """A numbered source of an answer; `quotes` is what the answer quotes of it word for word."""

    number: int
    quotes: tuple[Span, ...]


class Claim(Struct, frozen=True, kw_only=True):
    """A sentence of the answer and the numbers it cites."""

    text: str
    start: int
    end: int
    citations: tuple[int, ...]


class Usage(Struct, frozen=True, kw_only=True):
    """What the endpoint says the answer used."""

    prompt_tokens: int
    completion_tokens: int


class Answer(Struct, frozen=True, kw_only=True):
    """An answer; `kind` is extractive, grounded, ungrounded or not_found."""

    question: str
    found: bool
    kind: str
    confidence: str
    text: str
    citations: tuple[Citation, ...]
    claims: tuple[Claim, ...]
    unknown_citations: tuple[int, ...]
    unverified_quotes: tuple[str, ...]
    model: str | None
    usage: Usage | None
    notes: tuple[str, ...]


class Conversation(Struct, frozen=True, kw_only=True):
    """A conversation, over some collections and documents or over all there is."""

    id: str
    workspace_id: str
    title: str
    collections: tuple[str, ...]
    documents: tuple[str, ...]
    messages: int
    created_at: str
    updated_at: str


class Message(Struct, frozen=True, kw_only=True):
    """A question or an answer; `status` is pending, running, done or error."""

    id: str
    number: int
    role: str
    status: str
    content: str
    citations: tuple[dict[str, Any], ...]
    usage: dict[str, Any] | None
    metadata: dict[str, Any]
    error_code: str | None
    error_message: str | None
    reply_to: str | None
    created_at: str
    updated_at: str

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will be written."""
        return self.status in ("done", "error")


class Posted(Struct, frozen=True, kw_only=True):
    """A question and its answer, done or still to come."""

    question: Message
    answer: Message


class WorkspacePage(Struct, frozen=True, kw_only=True):
    """All workspaces."""

    items: tuple[Workspace, ...]


class CollectionPage(Struct, frozen=True, kw_only=True):
    """All collections of a workspace."""

    items: tuple[Collection, ...]


class AcceptedPage(Struct, frozen=True, kw_only=True):
    """What was taken in, in the order it was sent."""

    items: tuple[Accepted, ...]


class RetriedPage(Struct, frozen=True, kw_only=True):
    """What is tried again; `next` asks for more."""

    items: tuple[Accepted, ...]
    next: str | None = None


class ConversationPage(Struct, frozen=True, kw_only=True):
    """Some conversations; `next` asks for those behind."""

    items: tuple[Conversation, ...]
    next: str | None


class MessagePage(Struct, frozen=True, kw_only=True):
    """Messages in order of their numbers."""

    items: tuple[Message, ...]
