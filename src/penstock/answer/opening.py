"""Opening and changing conversations, together with the caller's own changes."""

from __future__ import annotations

from penstock.model.catalogue import DocumentId, WorkspaceId
from penstock.model.conversations import Conversation, ConversationId, scope_json_of
from penstock.model.errors import Refused
from penstock.ports.database import Transaction


def opened(
    tx: Transaction,
    workspace: WorkspaceId,
    *,
    title: str = "",
    collections: tuple[str, ...] = (),
    documents: tuple[DocumentId, ...] = (),
) -> Conversation:
    """A new conversation; Refused where the workspace has not what it should look at."""
    _refuse_unknown(tx, workspace, collections, documents)
    return tx.conversations.open(workspace, title=title, collections=collections, documents=documents)


def changed(
    tx: Transaction,
    found: Conversation,
    *,
    title: str | None = None,
    collections: tuple[str, ...] | None = None,
    documents: tuple[DocumentId, ...] | None = None,
) -> Conversation:
    """Another title, or other things to look at from the next question on; None leaves what there is.

    Only what is named now is judged: of what was named before, something may be deleted by now.
    """
    if title is not None:
        found = tx.conversations.rename(found.workspace, found.id, title)
    if collections is None and documents is None:
        return found
    _refuse_unknown(tx, found.workspace, collections or (), documents or ())
    return tx.conversations.rescope(
        found.workspace,
        found.id,
        collections=found.collections if collections is None else collections,
        documents=found.documents if documents is None else documents,
    )


def known_conversation(tx: Transaction, workspace: WorkspaceId, conversation: ConversationId) -> Conversation:
    """The workspace's conversation of this id; Refused if it is not there."""
    found = tx.conversations.find(workspace, conversation)
    if found is None:
        raise Refused("there is no such conversation", code="ERR_CONVERSATION_UNKNOWN")
    return found


def _refuse_unknown(
    tx: Transaction,
    workspace: WorkspaceId,
    collections: tuple[str, ...],
    documents: tuple[DocumentId, ...],
) -> None:
    scope_json_of(collections, documents)  # refuses too many before any is looked up
    for name in collections:
        if tx.shelves.find(workspace, name) is None:
            raise Refused(f"there is no collection {name!r}", code="ERR_COLLECTION_UNKNOWN")
    for document in documents:
        found = tx.documents.get(document)
        if found is None or found.hidden or found.workspace != workspace:
            raise Refused(f"there is no document {document}", code="ERR_DOCUMENT_UNKNOWN")
