"""What the API says and takes about conversations."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from penstock.doors.http.shapes import Asked, Said
from penstock.model.conversations import QUESTION_CHARACTERS_MAX, SCOPE_NAMES_MAX, TITLE_CHARACTERS_MAX


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
