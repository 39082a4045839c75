"""Conversations: questions people ask one after another, and the answers to them.

A question is `done` when it is stored. Its answer is stored beside it as `pending`, is `running` while one
owner writes it, and ends `done` or `error`. An answer written anew is another message to the same question:
the newest is the one to show, the earlier ones stay.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, NewType

from penstock.model.catalogue import DocumentId, WorkspaceId
from penstock.model.errors import ErrorReport, Refused
from penstock.model.instants import instant

ConversationId = NewType("ConversationId", str)
MessageId = NewType("MessageId", str)

QUESTION_CHARACTERS_MAX = 10_000
TITLE_CHARACTERS_MAX = 200
KEY_CHARACTERS_MAX = 200
CONTENT_CHARACTERS_MAX = 200_000
"""More than any answer has: what is longer was not written by us."""
SCOPE_NAMES_MAX = 100
MESSAGES_MAX = 1_000
"""Messages of one conversation."""
UNFINISHED_MAX = 10
"""Answers of one conversation that may be on their way at once."""
UNFINISHED_OWNED_MAX = 20
"""The same for all conversations of one user."""
PAGE_MAX = 200
"""Conversations or messages one page gives at most."""
JOINERS = "\u200c\u200d"
HOLD_SECONDS = 6.0
"""How long an answer is its owner's without a word from it; a dead owner's ends well within ten seconds."""


class Role(StrEnum):
    """Who speaks."""

    USER = "user"
    AI = "ai"


class MessageStatus(StrEnum):
    """How far a message is."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    ERROR = "error"

    @property
    def is_final(self) -> bool:
        """Does it stay so?"""
        return self in (MessageStatus.DONE, MessageStatus.ERROR)


class Standing(StrEnum):
    """What an owner learns about an answer when it says that it is still there."""

    HELD = "held"
    STOPPING = "stopping"
    """Somebody wants it to end now."""
    LOST = "lost"
    """It has ended, or is gone: nothing more can be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmark:
    """Where a page of conversations ended."""

    updated_at: float
    id: ConversationId


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation, and what its questions look at: everything the workspace has, if nothing is named."""

    id: ConversationId
    workspace: WorkspaceId
    title: str
    created_at: float
    updated_at: float
    collections: tuple[str, ...] = ()
    documents: tuple[DocumentId, ...] = ()
    messages: int = 0

    @property
    def bookmark(self) -> Bookmark:
        """What asks for the page behind it."""
        return Bookmark(updated_at=self.updated_at, id=self.id)

    def facts(self) -> dict[str, object]:
        """The conversation as people and programs are shown it, in `conversation.created` and in listings."""
        return {
            "id": self.id,
            "workspace_id": self.workspace,
            "title": self.title,
            "collections": list(self.collections),
            "documents": list(self.documents),
            "messages": self.messages,
            "created_at": instant(self.created_at),
            "updated_at": instant(self.updated_at),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A question or an answer; `number` is its place in the conversation."""

    id: MessageId
    conversation: ConversationId
    number: int
    role: Role
    status: MessageStatus
    content: str
    created_at: float
    updated_at: float
    citations_json: str = "[]"
    usage_json: str | None = None
    metadata_json: str = "{}"
    error: ErrorReport | None = None
    reply_to: MessageId | None = None

    def facts(self) -> dict[str, object]:
        """The message as people and programs are shown it, in `message.created` and in every listing."""
        return {
            "id": self.id,
            "number": self.number,
            "role": self.role.value,
            "status": self.status.value,
            "content": self.content,
            "citations": json.loads(self.citations_json),
            "usage": None if self.usage_json is None else json.loads(self.usage_json),
            "metadata": json.loads(self.metadata_json),
            "error_code": self.error.code if self.error else None,
            "error_message": self.error.message if self.error else None,
            "reply_to": self.reply_to,
            "created_at": instant(self.created_at),
            "updated_at": instant(self.updated_at),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A question and its answer to come."""

    question: Message
    answer: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """An answer taken by its owner, with the question it is to and where that was asked."""

    conversation: Conversation
    question: Message
    answer: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What an answer says, and from where."""

    content: str
    citations_json: str = "[]"
    usage_json: str | None = None
    metadata_json: str = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDelta:
    """The next words of an answer being written; `start` is where they stand in its content.

    It is shown to whoever looks on, never logged and never sent again: the text so far is in the message.
    """

    type: ClassVar[str] = "message.delta"
    workspace_id: str
    conversation_id: str
    message_id: str
    start: int
    text: str


def question_of(text: str) -> str:
    """A question as it is kept: as typed, without characters that cannot be kept or shown."""
    if len(text) > QUESTION_CHARACTERS_MAX:
        raise Refused(
            f"the question has {len(text):,} characters, the limit is {QUESTION_CHARACTERS_MAX:,}; ask in"
            " fewer words, or submit the text as a document",
            code="ERR_QUERY_INVALID",
        )
    kept = _kept(text).strip()
    if not kept:
        raise Refused("the question is empty; say what to look for", code="ERR_QUERY_INVALID")
    return kept


def title_of(text: str) -> str:
    """A title as it is kept: one line."""
    kept = one_line(text)
    if len(kept) > TITLE_CHARACTERS_MAX:
        raise Refused(
            f"the title has {len(kept):,} characters, the limit is {TITLE_CHARACTERS_MAX:,}",
            code="ERR_TITLE_INVALID",
        )
    return kept


def one_line(text: str) -> str:
    """Text without line breaks, double spaces and characters that cannot be kept, or that only turn others.

    Joiners of letters and emoji stay, unless nothing else is there: a name is something people can see.
    """
    line = " ".join("".join(char for char in _kept(text) if not _is_unseen(char)).split())
    return line if line.strip(f"{JOINERS} ") else ""


def _is_unseen(char: str) -> bool:
    """Whether it is there for how its neighbours are shown; signs before Arabic numbers are seen."""
    return (
        char not in JOINERS and unicodedata.category(char) == "Cf" and unicodedata.bidirectional(char) != "AN"
    )


def key_of(text: str) -> str:
    """A key by which a caller knows a question again."""
    if not text or len(text) > KEY_CHARACTERS_MAX or not text.isascii() or not text.isprintable():
        raise Refused(
            f"a question's key has 1 to {KEY_CHARACTERS_MAX} printable ASCII characters",
            code="ERR_MESSAGE_KEY_INVALID",
        )
    return text


def scope_json_of(collections: tuple[str, ...], documents: tuple[DocumentId, ...]) -> str:
    """What a conversation looks at, as it is kept."""
    if len(collections) + len(documents) > SCOPE_NAMES_MAX:
        raise Refused(
            f"a conversation names at most {SCOPE_NAMES_MAX} collections and documents",
            code="ERR_SCOPE_INVALID",
        )
    scope: Mapping[str, object] = {"collections": list(collections), "documents": list(documents)}
    return json.dumps(scope)


def _kept(text: str) -> str:
    """Without control characters and lone surrogates; joiners of letters and emoji stay."""
    return "".join(
        char if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cs") else " " for char in text
    )
