"""What whoever sends events on learns from the store: what is new, what is underway, where things stand.

Events themselves are rows of the log. What is underway is no row: it is told while somebody looks on, never
numbered and never told again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from penstock.model.events import LoggedEvent

SNAPSHOT_DOCUMENTS_MAX = 500
"""Unfinished documents a snapshot names; with more it says so, and the list of documents has them all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Which of a user's events are still kept."""

    oldest: int
    """The first number kept; one more than `last` where none is."""
    last: int
    """The last number given; 0 before the first."""
    at: float | None = None
    """When it was given; None before the first."""


class Page(NamedTuple):
    """A user's next events after a number, and the last number he has."""

    user: str
    last: int
    events: tuple[LoggedEvent, ...] = ()

    def follows(self, seq: int) -> bool:
        """Whether these are the events right behind that number, none between or among them forgotten."""
        return self.events[-1].seq - seq == len(self.events) if self.events else self.last <= seq


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProgress:
    """How far a running stage of a document is; `total` is None where nobody knows it."""

    type: ClassVar[str] = "progress"
    job_id: str
    job_type: str
    document_id: str
    workspace_id: str
    done: int
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadProgress:
    """How many bytes of an upload have come; `total` is None where its sender does not say."""

    type: ClassVar[str] = "upload.progress"
    upload_id: str
    workspace_id: str
    done: int
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenUpload:
    """An upload that has not ended."""

    id: str
    workspace_id: str
    name: str
    status: str
    done: int
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSoFar:
    """An answer that has not ended, with the words it has by now."""

    workspace_id: str
    conversation_id: str
    message_id: str
    status: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Underway:
    """What goes on for one user between two events."""

    user: str
    progress: tuple[JobProgress, ...] = ()
    uploads: tuple[UploadProgress, ...] = ()
    answers: tuple[AnswerSoFar, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDocument:
    """A document that is neither ingested nor in error."""

    id: str
    workspace_id: str
    collection: str
    name: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Where things stand for a user once the event `seq` is known: whatever is not here has ended."""

    seq: int
    at: float | None = None
    """When that event was; None before the first."""
    documents: tuple[OpenDocument, ...] = ()
    documents_left_out: bool = False
    answers: tuple[AnswerSoFar, ...] = ()
    uploads: tuple[OpenUpload, ...] = ()
