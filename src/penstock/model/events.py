"""Events: a closed union of what readers of the log can meet.

Each is a row written in the transaction that changed the state it tells of, numbered per user. The names and
payload fields are the documented ones; `seq` and `ts` stand beside them in the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, get_args


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCreated:
    """A document is there."""

    type: ClassVar[str] = "document.created"
    workspace_id: str
    document: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentStatusUpdated:
    """A document moved on."""

    type: ClassVar[str] = "document.status_updated"
    workspace_id: str
    document_id: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentMoved:
    """A document has another name, or stands in another collection."""

    type: ClassVar[str] = "document.moved"
    workspace_id: str
    document_id: str
    name: str
    collection: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatusUpdated:
    """A parse or ingest stage moved on."""

    type: ClassVar[str] = "job.status_updated"
    job_id: str
    job_type: str
    document_id: str
    workspace_id: str
    status: str
    retry_count: int = 0
    error_message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStatusUpdated:
    """Another job on a document moved on: a delete, a rename."""

    type: ClassVar[str] = "task.status_updated"
    job_id: str
    item_type: str
    op: str
    document_id: str
    workspace_id: str
    status: str
    retry_count: int = 0
    error_message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCreated:
    """A message of a conversation is there."""

    type: ClassVar[str] = "message.created"
    workspace_id: str
    conversation_id: str
    message: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStatusUpdated:
    """An answer moved on; once it has ended, with all there is to show of it."""

    type: ClassVar[str] = "message.status_updated"
    workspace_id: str
    conversation_id: str
    message_id: str
    status: str
    content: str | None = None
    citations: Sequence[Mapping[str, object]] | None = None
    usage: Mapping[str, object] | None = None
    metadata: Mapping[str, object] | None = None
    error_code: str | None = None
    error_message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadCreated:
    """A file begins to come."""

    type: ClassVar[str] = "upload.created"
    workspace_id: str
    upload: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadStatusUpdated:
    """It was taken in as a document, or will not be."""

    type: ClassVar[str] = "upload.status_updated"
    workspace_id: str
    upload_id: str
    status: str
    done: int
    document_id: str | None = None
    error_code: str | None = None
    error_message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceCreated:
    """A workspace is there."""

    type: ClassVar[str] = "workspace.created"
    workspace_id: str
    workspace: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceRenamed:
    """A workspace has another name."""

    type: ClassVar[str] = "workspace.renamed"
    workspace_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceRemoved:
    """A workspace is gone, with everything in it."""

    type: ClassVar[str] = "workspace.removed"
    workspace_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionCreated:
    """A collection is there."""

    type: ClassVar[str] = "collection.created"
    workspace_id: str
    collection: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionRemoved:
    """A collection is gone, with all its documents."""

    type: ClassVar[str] = "collection.removed"
    workspace_id: str
    collection: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationCreated:
    """A conversation is there."""

    type: ClassVar[str] = "conversation.created"
    workspace_id: str
    conversation: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationRenamed:
    """A conversation has another title."""

    type: ClassVar[str] = "conversation.renamed"
    workspace_id: str
    conversation_id: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationRemoved:
    """A conversation is gone, with all its messages."""

    type: ClassVar[str] = "conversation.removed"
    workspace_id: str
    conversation_id: str


Event = (
    DocumentCreated
    | DocumentStatusUpdated
    | DocumentMoved
    | JobStatusUpdated
    | TaskStatusUpdated
    | MessageCreated
    | MessageStatusUpdated
    | UploadCreated
    | UploadStatusUpdated
    | WorkspaceCreated
    | WorkspaceRenamed
    | WorkspaceRemoved
    | CollectionCreated
    | CollectionRemoved
    | ConversationCreated
    | ConversationRenamed
    | ConversationRemoved
)

EVENT_TYPES: tuple[str, ...] = tuple(kind.type for kind in get_args(Event))


_SAID_ALWAYS = frozenset({"status", "job_type", "item_type", "op", "role", "error_code", "reply_to"})
"""Texts of a payload that are nobody's words; so are ids and times."""

_THINGS = frozenset({"document", "message", "upload", "workspace", "collection", "conversation"})


class LoggedEvent(NamedTuple):
    """An event as the log keeps it; `payload_json` is what was committed, byte for byte.

    A tuple, because many are made for every commit.
    """

    user: str
    seq: int
    ts: float
    type: str
    payload_json: str


def without_words(payload: Mapping[str, object]) -> dict[str, object]:
    """A payload that still tells which thing changed and to what, and none of the words it had.

    What stays is named here, so that a field added later goes until somebody says that it may stay.
    """
    return {
        name: _wordless(value) if name in _THINGS and isinstance(value, Mapping) else _empty(name, value)
        for name, value in payload.items()
    }


def _wordless(thing: Mapping[str, object]) -> dict[str, object]:
    return {name: _empty(name, value) for name, value in thing.items()}


def _empty(name: str, value: object) -> object:
    match value:
        case str():
            return value if name in _SAID_ALWAYS or name == "id" or name.endswith(("_id", "_at")) else ""
        case Mapping():
            return {}
        case list() | tuple():
            return []
        case _:
            return value
