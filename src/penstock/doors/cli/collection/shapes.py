"""The documents of `penstock collection … --json`: names here are promises."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from penstock.doors.cli.shapes import ErrorFacts


class StateCounts(TypedDict):
    """How many documents are in which state."""

    pending: int
    parsed: int
    ingested: int
    error: int


class CollectionFacts(TypedDict):
    """One collection; `recipe_differences` is what configuration would change; a server tells none."""

    name: str
    description: str
    declared: NotRequired[bool]
    documents: StateCounts
    chunks: int
    bytes: int
    created_at: str
    recipe: dict[str, object]
    recipe_differences: NotRequired[list[str]]
    building: bool


class CollectionList(TypedDict):
    """All collections, by name."""

    collections: list[CollectionFacts]


class Made(TypedDict):
    """A collection; `created` is false if it was there before; a server tells no recipe in a dry run."""

    name: str
    created: bool
    recipe: NotRequired[dict[str, object]]
    dry_run: bool


class BuildingFacts(TypedDict):
    """The index being built beside the one that answers, and how far it is."""

    recipe: dict[str, object]
    done: int
    total: int


class FailureFacts(TypedDict):
    """A document in error; a server does not tell its identity."""

    document_id: str
    name: str
    identity: NotRequired[str]
    error: ErrorFacts


class SourceFacts(TypedDict):
    """A folder documents come from; `own` ones are moved through, `untaken` counts what never will be."""

    path: str
    own: bool
    watch: bool
    patterns: list[str]
    ignore_patterns: list[str]
    depth: int
    untaken: NotRequired[int]


class CollectionDetails(CollectionFacts):
    """One collection with its failures, and with its sources and the index being built, told by no server."""

    failures: list[FailureFacts]
    failures_by_code: dict[str, int]
    building_progress: BuildingFacts | None
    sources: list[SourceFacts]


class Deleted(TypedDict):
    """What was deleted, or would be; readers see none of it from now on, the rest is purged by and by."""

    name: str
    documents: int
    chunks: int
    dry_run: bool
