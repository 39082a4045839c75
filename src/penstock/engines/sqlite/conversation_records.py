"""Rows of conversations and messages as values of the model."""

from __future__ import annotations

import json
from typing import Any

from penstock.engines.sqlite.times import seconds
from penstock.model.catalogue import DocumentId, WorkspaceId
from penstock.model.conversations import (
    Conversation,
    ConversationId,
    Message,
    MessageId,
    MessageStatus,
    Role,
)
from penstock.model.errors import ErrorReport


def conversation_of(row: tuple[Any, ...]) -> Conversation:
    """A conversation from a row of `conversation_find` or `conversation_list`."""
    scope = json.loads(row[3])
    return Conversation(
        id=ConversationId(row[0]),
        workspace=WorkspaceId(row[1]),
        title=row[2],
        collections=tuple(scope.get("collections", ())),
        documents=tuple(map(DocumentId, scope.get("documents", ()))),
        messages=row[4],
        created_at=seconds(row[5]),
        updated_at=seconds(row[6]),
    )


def message_of(row: tuple[Any, ...]) -> Message:
    """A message from a row of `chat_find` and its like."""
    return Message(
        id=MessageId(row[0]),
        conversation=ConversationId(row[1]),
        number=row[2],
        role=Role(row[3]),
        status=MessageStatus(row[4]),
        content=row[5],
        citations_json=row[6],
        usage_json=row[7],
        metadata_json=row[8],
        error=None if row[9] is None else ErrorReport(code=row[9], message=row[10] or ""),
        reply_to=None if row[11] is None else MessageId(row[11]),
        created_at=seconds(row[12]),
        updated_at=seconds(row[13]),
    )
