"""What searching works with: where to look, what was found, and where exactly it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.model.catalogue import CollectionId, DocumentId, GenerationId, WorkspaceId
from penstock.model.chunks import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What may be looked at: always one workspace, then ever narrower."""

    workspace: WorkspaceId
    collections: tuple[CollectionId, ...]
    """Never empty: whoever asks names them, or all the workspace has."""
    documents: tuple[DocumentId, ...] = ()
    """Only these, where any are named."""
    path_prefix: str | None = None
    """Only files under this path, or the file itself."""
    metadata: Mapping[str, object] = field(default_factory=dict)
    """Only documents whose metadata holds all of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is looked for, as words and as vectors: one for each model the collections use."""

    text: str
    vectors: Mapping[str, Vector]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A chunk one leg of the search found."""

    chunk: int
    score: float
    """Cosine for the dense leg; the larger the better for both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The best of each leg, best first; a generation's own, so scores of unlike models never mix."""

    generation: GenerationId
    dense: tuple[Candidate, ...]
    lexical: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A chunk with everything a citation needs; `text` is exactly the stored text's [start:end]."""

    chunk: int
    document: DocumentId
    document_name: str
    document_title: str | None
    identity: str
    collection: str
    ordinal: int
    start: int
    end: int
    text: str
    headings: tuple[str, ...] = ()
    page_first: int | None = None
    page_last: int | None = None
    metadata_json: str = "{}"
