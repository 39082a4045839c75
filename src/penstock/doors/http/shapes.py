"""What the API says and takes, as its reference shows it; the names are promises."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from penstock.model.accounts import NAME_CHARACTERS_MAX
from penstock.model.conversations import QUESTION_CHARACTERS_MAX, SCOPE_NAMES_MAX, TITLE_CHARACTERS_MAX

TOP_MAX = 50
NAME_MAX = 255


def instant(at: float) -> str:
    """A time as it is told: ISO 8601 in UTC."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class Said(BaseModel):
    """What we say."""

    model_config = ConfigDict(frozen=True)


class Asked(BaseModel):
    """What we are told; a word nobody knows is refused, for it may be a misspelt one."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_max_length=1_000_000)


class FieldProblem(Said):
    """A field that is wrong."""

    field: str
    message: str


class Problem(Said):
    """A problem document (RFC 9457); `code` is stable, `detail` is for people."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    suggestions: list[str]
    errors: list[FieldProblem] | None = None


class Me(Said):
    """Who asks."""

    user_id: str
    role: str
    proof: Literal["token", "ticket", "local"]
    expires_at: str | None


class TicketSaid(Said):
    """A word in place of a token, good once."""

    ticket: str
    expires_in: float


class WorkspaceSaid(Said):
    """A workspace."""

    id: str
    name: str
    created_at: str


class WorkspacePage(Said):
    """All workspaces of whoever asks."""

    items: list[WorkspaceSaid]


class WorkspaceAsked(Asked):
    """A workspace to be made, or its new name."""

    name: str = Field(min_length=1, max_length=4 * NAME_CHARACTERS_MAX)


class CollectionAsked(Asked):
    """A collection to be made."""

    name: str = Field(min_length=1, max_length=NAME_MAX)
    description: str = Field(default="", max_length=2_000)


class CollectionSaid(Said):
    """A collection; `documents` counts them by state, `chunks` and `bytes` are what can be found."""

    name: str
    description: str
    created_at: str
    documents: dict[str, int]
    chunks: int
    bytes: int
    rebuilding: bool


class CollectionPage(Said):
    """All collections of a workspace."""

    items: list[CollectionSaid]


class Filtered(Asked):
    """What a search is narrowed to; nothing given is everything the workspace has."""

    collections: list[str] = Field(default=[], max_length=SCOPE_NAMES_MAX)
    documents: list[str] = Field(default=[], max_length=SCOPE_NAMES_MAX)
    path: str | None = Field(default=None, max_length=4_096)
    metadata: dict[str, str | int | float | bool | None] = Field(default={}, max_length=20)


class QueryAsked(Asked):
    """A question to be answered from one workspace, or from one collection of it."""

    question: str = Field(min_length=1, max_length=1_000_000)
    workspace_id: str | None = Field(default=None, max_length=100)
    collection: str | None = Field(default=None, max_length=NAME_MAX)
    top_k: int = Field(default=8, ge=1, le=TOP_MAX)
    threshold: float = Field(default=0.0, ge=0.0, le=1.0, description="The least cosine a source may have.")
    filters: Filtered = Filtered()


class SearchAsked(Asked):
    """Words to search for."""

    query: str = Field(min_length=1, max_length=1_000_000)
    top_k: int = Field(default=8, ge=1, le=TOP_MAX)
    threshold: float = Field(default=0.0, ge=0.0, le=1.0, description="The least cosine a hit may have.")
    filters: Filtered = Filtered()


class Span(Said):
    """Words of a document: exactly the characters from `start` to `end` of its stored text."""

    text: str
    start: int
    end: int
    page_first: int | None
    page_last: int | None


class Place(Said):
    """Where something stands; pages count from 1 and are null where the format has none."""

    label: str
    document_id: str
    document: str
    title: str | None
    identity: str
    collection: str
    headings: list[str]
    page_first: int | None
    page_last: int | None
    start: int
    end: int
    spans: list[Span]


class HitSaid(Place):
    """One stretch of a document; `cosine` is null where only words found it."""

    rank: int
    score: float
    cosine: float | None


class EvidenceSaid(Said):
    """What the confidence was judged from."""

    cosine: float | None
    coverage: float
    agreement: float


class Found(Said):
    """What a search found; `found` is false where nothing speaks of the question, whatever the hits hold."""

    question: str
    found: bool
    confidence: str
    evidence: EvidenceSaid
    hits: list[HitSaid]
    notes: list[str]


class CitationSaid(Place):
    """A numbered source of an answer; `quotes` is what the answer quotes of it word for word."""

    number: int
    quotes: list[Span]


class ClaimSaid(Said):
    """A sentence of the answer, its characters from `start` to `end`, and the numbers it cites."""

    text: str
    start: int
    end: int
    citations: list[int]


class UsageSaid(Said):
    """What the endpoint says the answer used."""

    prompt_tokens: int
    completion_tokens: int


class Answered(Said):
    """An answer; `kind` is extractive, grounded, ungrounded or not_found."""

    question: str
    found: bool
    kind: str
    confidence: str
    text: str
    citations: list[CitationSaid]
    claims: list[ClaimSaid]
    unknown_citations: list[int]
    unverified_quotes: list[str]
    model: str | None
    usage: UsageSaid | None
    notes: list[str]


class ConversationAsked(Asked):
    """A conversation to be opened, over some collections and documents or over all there is."""

    workspace_id: str | None = Field(default=None, max_length=100)
    title: str = Field(default="", max_length=10 * TITLE_CHARACTERS_MAX)
    collections: list[str] = Field(default=[], max_length=SCOPE_NAMES_MAX)
    documents: list[str] = Field(default=[], max_length=SCOPE_NAMES_MAX)


class ConversationChanged(Asked):
    """What is to be another; what is left out stays."""

    title: str | None = Field(default=None, max_length=10 * TITLE_CHARACTERS_MAX)
    collections: list[str] | None = Field(default=None, max_length=SCOPE_NAMES_MAX)
    documents: list[str] | None = Field(default=None, max_length=SCOPE_NAMES_MAX)


class ConversationSaid(Said):
    """A conversation."""

    id: str
    workspace_id: str
    title: str
    collections: list[str]
    documents: list[str]
    messages: int
    created_at: str
    updated_at: str


class ConversationPage(Said):
    """Conversations, those with the latest news first; `next` asks for those behind."""

    items: list[ConversationSaid]
    next: str | None


class MessageAsked(Asked):
    """A question."""

    content: str = Field(min_length=1, max_length=100 * QUESTION_CHARACTERS_MAX)


class MessageSaid(Said):
    """A question or an answer, as `message.created` tells it too."""

    id: str
    number: int
    role: Literal["user", "ai"]
    status: Literal["pending", "running", "done", "error"]
    content: str
    citations: list[dict[str, Any]]
    usage: dict[str, Any] | None
    metadata: dict[str, Any]
    error_code: str | None
    error_message: str | None
    reply_to: str | None
    created_at: str
    updated_at: str


class MessagePage(Said):
    """Messages in order of their numbers."""

    items: list[MessageSaid]


class PostedSaid(Said):
    """A question and its answer, done or still to come."""

    question: MessageSaid
    answer: MessageSaid


class StoppedSaid(Said):
    """Whether there was still something to stop."""

    stopped: bool


class ErrorSaid(Said):
    """Why something failed, and what can be done."""

    stage: str | None
    code: str
    message: str
    suggestions: list[str]


class DocumentSaid(Said):
    """A document; `status` is pending, parsed, ingested or error."""

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
    error: ErrorSaid | None
    created_at: str
    updated_at: str


class StageSaid(Said):
    """A step of a document's job, as `job.status_updated` tells it; it is tried again at `next_run_at`."""

    job_id: str
    job_type: str
    status: str
    retry_count: int
    next_run_at: str | None
    error_code: str | None
    error_message: str | None
    created_at: str
    updated_at: str


class VersionSaid(Said):
    """One ingest of a document's bytes; one is current, one may be being built."""

    id: int
    state: str
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
    """A document that was taken in, and the job that works on it; `how` is new, merged or existing."""

    document_id: str | None
    job_id: str
    name: str
    how: str


class AcceptedPage(Said):
    """What was taken in, in the order it came."""

    items: list[AcceptedSaid]


class TextAsked(Asked):
    """A text to be taken in as a document."""

    collection: str = Field(min_length=1, max_length=NAME_MAX)
    name: str = Field(min_length=1, max_length=NAME_MAX)
    content: str = Field(min_length=1)
    metadata: dict[str, Any] = {}


class MoveAsked(Asked):
    """Another name, or another collection of the workspace, or both."""

    name: str | None = Field(default=None, min_length=1, max_length=4 * NAME_MAX)
    collection: str | None = Field(default=None, min_length=1, max_length=NAME_MAX)


class ManyAsked(Asked):
    """Documents by their ids."""

    ids: list[str] = Field(min_length=1, max_length=1_000)


class FailedAsked(Asked):
    """Which failed documents: of one collection or of all, with one error code or any."""

    collection: str | None = Field(default=None, max_length=NAME_MAX)
    code: str | None = Field(default=None, max_length=100)


class JobSaid(Said):
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


class JobPage(Said):
    """Jobs, the newest first; `next` asks for those behind."""

    items: list[JobSaid]
    next: str | None


class CancelledSaid(Said):
    """Whether there was still something to cancel."""

    cancelled: bool
