"""Conversations: what people asked and were answered.

What changes them is a verb of a transaction; looking, and keeping answers alive, is asked of `Transcript`.

H1   A question is stored `done` and its answer `pending` in one step; posting under the same key again gives
     what is there and changes nothing, and another question under it is Refused ERR_IDEMPOTENCY_MISMATCH;
     keys are a conversation's own. A conversation without a title is called by its first question.
H2   Messages of a conversation are numbered from 1 in the order they were stored.
H3   A new message is one `message.created` event of the workspace's owner, a new status one
     `message.status_updated`, in the same transaction, whoever made the change; an ended answer's carries
     all there is to show.
H4   `take` gives a pending answer to one owner, once; it is running then.
H5   Only its owner renews, finishes or fails an answer, and only until it has ended: later words change
     nothing.
H6   An answer whose owner has not renewed it for HOLD_SECONDS, taken or not, is due: `heal` ends it with
     ERR_INTERRUPTED, or ERR_STOPPED where it was to stop. What was written so far stays.
H7   Stopping ends a pending answer at once and tells the owner of a running one; an ended one stays as it is.
H8   Regenerating adds another answer to the same question, unless one is still on its way; those before stay.
H9   What belongs to another workspace is not there.
H10  Questions, titles, scopes, messages of a conversation, answers on their way to one user and pages are
     bounded; beyond is refused with a code, never cut. A page asked too large is given as large as it may be.
H11  Removing a conversation removes its messages; an answer on its way is lost to its owner. So are those of
     a workspace that is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from penstock.model.catalogue import DocumentId, WorkspaceId
from penstock.model.conversations import (
    Assignment,
    Bookmark,
    Conversation,
    ConversationId,
    Message,
    MessageId,
    Posted,
    Standing,
    Written,
)
from penstock.model.errors import ErrorReport


class Conversations(Protocol):
    """The verbs, inside a transaction."""

    def open(
        self,
        workspace: WorkspaceId,
        *,
        title: str = "",
        collections: tuple[str, ...] = (),
        documents: tuple[DocumentId, ...] = (),
    ) -> Conversation:
        """A new conversation over these collections and documents, or over all there is (H10)."""
        ...

    def count(self, workspace: WorkspaceId, *, most: int) -> int:
        """How many a workspace has; no more than so many are counted (H9)."""
        ...

    def find(self, workspace: WorkspaceId, conversation: ConversationId) -> Conversation | None:
        """One by id (H9)."""
        ...

    def rename(self, workspace: WorkspaceId, conversation: ConversationId, title: str) -> Conversation:
        """Another title (H9, H10)."""
        ...

    def rescope(
        self,
        workspace: WorkspaceId,
        conversation: ConversationId,
        *,
        collections: tuple[str, ...] = (),
        documents: tuple[DocumentId, ...] = (),
    ) -> Conversation:
        """Other collections and documents from the next question on (H9, H10)."""
        ...

    def remove(self, workspace: WorkspaceId, conversation: ConversationId) -> bool:
        """Remove it with all its messages (H11); False if it is not there."""
        ...

    def remove_some(self, workspace: WorkspaceId, *, limit: int) -> int:
        """Remove up to so many of a workspace (H11); how many, fewer than `limit` at the end."""
        ...

    def post(
        self,
        workspace: WorkspaceId,
        conversation: ConversationId,
        text: str,
        *,
        owner: str,
        key: str | None = None,
    ) -> Posted:
        """A question with its answer to come, which `owner` will write (H1, H2)."""
        ...

    def regenerate(self, workspace: WorkspaceId, answer: MessageId, *, owner: str) -> Message:
        """Another answer to come, to the question this one is to (H8)."""
        ...

    def stop(self, workspace: WorkspaceId, answer: MessageId) -> bool:
        """Let it end now (H7); False if it has ended."""
        ...

    def take(self, answer: MessageId, owner: str) -> Assignment | None:
        """Begin to write it; None if it is not there to be taken (H4)."""
        ...

    def finish(self, answer: MessageId, owner: str, written: Written) -> bool:
        """It is written; False if it is no longer the owner's (H5)."""
        ...

    def fail(self, answer: MessageId, owner: str, error: ErrorReport, written: Written | None = None) -> bool:
        """It could not be written to its end; what was written by then may stay (H5)."""
        ...


class Transcript(Protocol):
    """Looking, and keeping answers alive."""

    async def conversations(
        self, workspace: WorkspaceId, *, before: Bookmark | None = None, limit: int = 50
    ) -> list[Conversation]:
        """A workspace's, those with the latest news first."""
        ...

    async def conversation(self, workspace: WorkspaceId, conversation: ConversationId) -> Conversation | None:
        """One by id (H9)."""
        ...

    async def messages(
        self,
        workspace: WorkspaceId,
        conversation: ConversationId,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int = 50,
    ) -> list[Message]:
        """A page in order of number: the first ones after a number, else the last ones (before one)."""
        ...

    async def message(self, workspace: WorkspaceId, message: MessageId) -> Message | None:
        """One by id (H9)."""
        ...

    async def renew(self, owner: str, answers: Mapping[MessageId, str]) -> Mapping[MessageId, Standing]:
        """Say that these are still being written, and what they say so far (H5, H6)."""
        ...

    async def heal(self, kept: Callable[[str], str] = str, *, limit: int = 100) -> list[MessageId]:
        """End what nobody writes any more (H6); which. With a limit of 0 it only looks.

        `kept` makes what stays out of what was written so far.
        """
        ...
