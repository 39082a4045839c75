"""The documents of `penstock ingest … --json`: names here are promises."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from penstock.doors.cli.shapes import ErrorFacts, ProgressFacts


class ItemFacts(TypedDict):
    """One thing handed in, its job, and what is known of it; a dry run counts `files` of what holds some."""

    kind: str
    name: str
    size: int | None
    files: int | None
    priority: int
    job_id: str | None
    how: str | None
    document_id: str | None


class FailedFacts(TypedDict):
    """A job that failed."""

    job_id: str
    name: str
    error: ErrorFacts


class WaitFacts(TypedDict):
    """What became of it while somebody waited; `end` is `ended`, `timeout`, `interrupted` or `given up`."""

    end: str
    total: int
    done: int
    failed: int
    failures: list[FailedFacts]


class RefusedFacts(TypedDict):
    """A file a server did not take."""

    name: str
    error: ErrorFacts


class OverlookedFacts(TypedDict):
    """What folders kept back, a hundred with why; known in a dry run, after `--wait`, with a server."""

    total: int
    named: list[str]


class Refusals(TypedDict, total=False):
    """What a server did not take, where there is a server."""

    refused: list[RefusedFacts]


class Handed(Refusals):
    """What was handed in, in order; `wait` is null unless somebody waited; only a server has `refused`.

    `reindexing` tells whether the collection is built anew; with a server, whether that was asked for.
    `rebuilt` is what became of that; null unless somebody waited, and always with a server.
    """

    collection: str
    items: list[ItemFacts]
    overlooked: OverlookedFacts
    reindexing: bool
    wait: WaitFacts | None
    rebuilt: WaitFacts | None
    dry_run: bool


class StageFacts(TypedDict):
    """One step of a document's job."""

    id: str
    stage: str
    status: str
    retry_count: int
    next_run_at: str | None
    error_code: str | None
    error_message: str | None


class BatchFacts(TypedDict):
    """The children of a folder, project or library."""

    state: str
    total: int
    done: int
    failed: int
    failures: list[FailedFacts]


class StatusRecord(TypedDict):
    """The documented status of a job, then what else is known: `why` says in a sentence why it waits."""

    job_id: str
    rag_id: str
    filename: str
    status: str
    submitted_at: str
    started_at: NotRequired[str | None]
    completed_at: str | None
    duration_seconds: NotRequired[float | None]
    chunks_created: int
    embeddings_generated: int
    tokens_used: NotRequired[int]
    error: str | None
    error_type: str | None
    retry_count: int
    error_code: str | None
    max_retries: int
    progress: ProgressFacts | None
    next_run_at: str | None
    stages: list[StageFacts]
    suggestions: list[str]
    document_id: str | None
    document_state: str | None
    batch: BatchFacts | None
    found: NotRequired[object]
    why: NotRequired[str]


class DocumentFacts(TypedDict):
    """One document; a server does not tell its identity."""

    id: str
    collection: str
    state: str
    name: str
    source: str
    identity: NotRequired[str]
    title: str | None
    media: str | None
    size: int | None
    pages: int | None
    chunks: int
    metadata: object
    created_at: str
    updated_at: str
    error: ErrorFacts | None


class DocumentList(TypedDict):
    """A page of documents, by identity; `next_after` is the `--after` of the next page."""

    documents: list[DocumentFacts]
    next_after: str | None


class Reindexed(TypedDict):
    """What a reindex does: `action` is `rebuild`, `nothing` or `submit`."""

    collection: str
    policy: str
    action: str
    documents: int
    recipe: dict[str, object]
    jobs: list[str]
    wait: WaitFacts | None
    dry_run: bool


class AgainFacts(TypedDict):
    """A failed document and the job that tries it again."""

    document_id: str
    name: str
    code: str
    job_id: str | None


class RetriedDocuments(TypedDict):
    """What is tried again; `skipped` ones cannot be, for their input is gone."""

    documents: list[AgainFacts]
    skipped: list[AgainFacts]
    dry_run: bool


class RemovalFacts(TypedDict):
    """A document whose deletion is submitted."""

    name: str
    job_id: str | None


class RemovedDocuments(TypedDict):
    """What is deleted."""

    collection: str
    documents: list[RemovalFacts]
    dry_run: bool
