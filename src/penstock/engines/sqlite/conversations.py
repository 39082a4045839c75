"""Conversations on SQLite: the verbs inside a transaction."""

from __future__ import annotations

import sqlite3

from penstock.engines.sqlite.conversation_records import conversation_of, message_of
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.telling import tell
from penstock.engines.sqlite.times import iso
from penstock.model.catalogue import DocumentId, WorkspaceId
from penstock.model.codes import CODES
from penstock.model.conversations import (
    HOLD_SECONDS,
    MESSAGES_MAX,
    UNFINISHED_MAX,
    UNFINISHED_OWNED_MAX,
    Assignment,
    Conversation,
    ConversationId,
    Message,
    MessageId,
    MessageStatus,
    Posted,
    Role,
    Written,
    key_of,
    question_of,
    scope_json_of,
    title_of,
)
from penstock.model.errors import ErrorReport, Exhausted, Refused
from penstock.model.events import ConversationCreated, ConversationRemoved, ConversationRenamed
from penstock.model.ids import new_job_id

STOPPED = "ERR_STOPPED"
INTERRUPTED = "ERR_INTERRUPTED"
TITLE_MADE_CHARACTERS = 80


class SqliteConversations:
    """The verbs inside a transaction."""

    def __init__(self, db: sqlite3.Connection, now: float) -> None:
        self._db = db
        self._now = now

    def open(
        self,
        workspace: WorkspaceId,
        *,
        title: str = "",
        collections: tuple[str, ...] = (),
        documents: tuple[DocumentId, ...] = (),
    ) -> Conversation:
        """A new conversation; Refused if there is no such workspace."""
        conversation = ConversationId(new_job_id(self._now))
        row = {
            "id": conversation,
            "workspace": workspace,
            "title": title_of(title),
            "scope": scope_json_of(collections, documents),
            "now": iso(self._now),
        }
        if not self._db.execute(sql("conversation_add"), row).rowcount:
            raise Refused("there is no such workspace", code="ERR_WORKSPACE_UNKNOWN")
        made = self._known(workspace, conversation)
        told = ConversationCreated(workspace_id=workspace, conversation=made.facts())
        tell(self._db, self._now, workspace, told)
        return made

    def count(self, workspace: WorkspaceId, *, most: int) -> int:
        """How many a workspace has, up to so many (H9)."""
        return int(self._db.execute(sql("conversation_count"), (workspace, most)).fetchone()[0])

    def find(self, workspace: WorkspaceId, conversation: ConversationId) -> Conversation | None:
        """One by id (H9)."""
        where = {"workspace": workspace, "conversation": conversation}
        row = self._db.execute(sql("conversation_find"), where).fetchone()
        return None if row is None else conversation_of(row)

    def rename(self, workspace: WorkspaceId, conversation: ConversationId, title: str) -> Conversation:
        """Another title."""
        before = self._known(workspace, conversation)
        where = {"workspace": workspace, "conversation": conversation, "title": title_of(title)}
        self._db.execute(sql("conversation_rename"), where)
        renamed = self._known(workspace, conversation)
        if renamed.title != before.title:
            told = ConversationRenamed(
                workspace_id=workspace, conversation_id=conversation, title=renamed.title
            )
            tell(self._db, self._now, workspace, told)
        return renamed

    def rescope(
        self,
        workspace: WorkspaceId,
        conversation: ConversationId,
        *,
        collections: tuple[str, ...] = (),
        documents: tuple[DocumentId, ...] = (),
    ) -> Conversation:
        """Other collections and documents from now on."""
        where = {
            "workspace": workspace,
            "conversation": conversation,
            "scope": scope_json_of(collections, documents),
        }
        self._db.execute(sql("conversation_rescope"), where)
        return self._known(workspace, conversation)

    def remove(self, workspace: WorkspaceId, conversation: ConversationId) -> bool:
        """Remove it with all its messages."""
        where = {"workspace": workspace, "conversation": conversation}
        if not self._db.execute(sql("conversation_remove"), where).rowcount:
            return False
        self._tell_removed(workspace, conversation)
        return True

    def remove_some(self, workspace: WorkspaceId, *, limit: int) -> int:
        """Remove up to so many of a workspace; how many there were."""
        removed = self._db.execute(sql("conversation_remove_some"), (workspace, limit)).fetchall()
        for (conversation,) in removed:
            self._tell_removed(workspace, ConversationId(conversation))
        return len(removed)

    def post(
        self,
        workspace: WorkspaceId,
        conversation: ConversationId,
        text: str,
        *,
        owner: str,
        key: str | None = None,
    ) -> Posted:
        """A question with its answer to come."""
        content = question_of(text)
        there = self._known(workspace, conversation)
        if key is not None and (known := self._posted(workspace, conversation, key_of(key))):
            if known.question.content != content:
                raise Refused(
                    "this idempotency key was used for another question", code="ERR_IDEMPOTENCY_MISMATCH"
                )
            return known
        self._refuse_beyond(there, 2)
        asked = self._add(there, there.messages + 1, Role.USER, content=content, key=key)
        answer = self._add(there, there.messages + 2, Role.AI, reply_to=asked, owner=owner)
        if not there.title and there.messages == 0:
            self.rename(workspace, conversation, _beginning(content))
        return Posted(question=self._message(workspace, asked), answer=self._message(workspace, answer))

    def regenerate(self, workspace: WorkspaceId, answer: MessageId, *, owner: str) -> Message:
        """Another answer to come, to the question this one is to."""
        found = self._message(workspace, answer)
        newest = None if found.reply_to is None else self._newest(found.reply_to)
        if newest is None or found.reply_to is None:
            raise Refused(f"message {answer} is no answer", code="ERR_MESSAGE_UNKNOWN")
        if not newest.status.is_final:
            raise Refused("the question is being answered; wait, or stop it", code="ERR_ANSWER_UNFINISHED")
        there = self._known(workspace, found.conversation)
        self._refuse_beyond(there, 1)
        added = self._add(there, there.messages + 1, Role.AI, reply_to=found.reply_to, owner=owner)
        return self._message(workspace, added)

    def stop(self, workspace: WorkspaceId, answer: MessageId) -> bool:
        """Let it end now."""
        self._message(workspace, answer)
        where = {"message": answer, "code": STOPPED, "error": CODES[STOPPED], "now": iso(self._now)}
        if self._db.execute(sql("chat_stop_pending"), where).rowcount:
            return True
        return bool(self._db.execute(sql("chat_stop_running"), {"message": answer}).rowcount)

    def take(self, answer: MessageId, owner: str) -> Assignment | None:
        """Begin to write it."""
        where = {"message": answer, "owner": owner, "due": self._due(), "now": iso(self._now)}
        row = self._db.execute(sql("chat_take"), where).fetchone()
        if row is None:
            return None
        (workspace,) = self._db.execute(sql("chat_workspace"), (row[0],)).fetchone()
        return Assignment(
            conversation=self._known(workspace, row[0]),
            question=self._message(workspace, row[1]),
            answer=self._message(workspace, answer),
        )

    def finish(self, answer: MessageId, owner: str, written: Written) -> bool:
        """It is written."""
        where = {"message": answer, "owner": owner, "now": iso(self._now), **_row(written)}
        return bool(self._db.execute(sql("chat_finish"), where).rowcount)

    def fail(self, answer: MessageId, owner: str, error: ErrorReport, written: Written | None = None) -> bool:
        """It could not be written to its end."""
        where = {
            "message": answer,
            "owner": owner,
            "code": error.code,
            "error": error.message,
            "now": iso(self._now),
            **_row(written),
        }
        return bool(self._db.execute(sql("chat_fail"), where).rowcount)

    def _known(self, workspace: WorkspaceId, conversation: ConversationId) -> Conversation:
        found = self.find(workspace, conversation)
        if found is None:
            raise Refused(f"there is no conversation {conversation}", code="ERR_CONVERSATION_UNKNOWN")
        return found

    def _tell_removed(self, workspace: WorkspaceId, conversation: ConversationId) -> None:
        told = ConversationRemoved(workspace_id=workspace, conversation_id=conversation)
        tell(self._db, self._now, workspace, told)

    def _message(self, workspace: WorkspaceId, message: MessageId) -> Message:
        where = {"workspace": workspace, "message": message}
        row = self._db.execute(sql("chat_find"), where).fetchone()
        if row is None:
            raise Refused(f"there is no message {message}", code="ERR_MESSAGE_UNKNOWN")
        return message_of(row)

    def _newest(self, question: MessageId) -> Message | None:
        row = self._db.execute(sql("chat_newest_reply"), {"question": question}).fetchone()
        return None if row is None else message_of(row)

    def _posted(self, workspace: WorkspaceId, conversation: ConversationId, key: str) -> Posted | None:
        """What was posted under a key, if anything was."""
        where = {"conversation": conversation, "key": key}
        row = self._db.execute(sql("chat_asked"), where).fetchone()
        answer = None if row is None else self._newest(row[0])
        if answer is None:
            return None
        return Posted(question=self._message(workspace, row[0]), answer=answer)

    def _refuse_beyond(self, there: Conversation, more: int) -> None:
        if there.messages + more > MESSAGES_MAX:
            raise Refused(
                f"the conversation has {there.messages:,} messages, the limit is {MESSAGES_MAX:,}",
                code="ERR_CONVERSATION_FULL",
            )
        (unfinished,) = self._db.execute(sql("chat_unfinished"), (there.id,)).fetchone()
        if unfinished >= UNFINISHED_MAX:
            raise Exhausted(
                f"{unfinished} answers of this conversation are still to come", code="ERR_ANSWER_UNFINISHED"
            )
        (owned,) = self._db.execute(sql("chat_unfinished_owned"), (there.workspace,)).fetchone()
        if owned >= UNFINISHED_OWNED_MAX:
            raise Exhausted(f"{owned} answers to you are still to come", code="ERR_ANSWERS_WAITING")

    def _add(
        self,
        there: Conversation,
        number: int,
        role: Role,
        *,
        content: str = "",
        key: str | None = None,
        reply_to: MessageId | None = None,
        owner: str | None = None,
    ) -> MessageId:
        added = MessageId(new_job_id(self._now))
        row = {
            "id": added,
            "conversation": there.id,
            "number": number,
            "key": key,
            "role": role,
            "status": MessageStatus.DONE if role is Role.USER else MessageStatus.PENDING,
            "content": content,
            "reply_to": reply_to,
            "owner": owner,
            "due": "" if role is Role.USER else self._due(),
            "now": iso(self._now),
        }
        self._db.execute(sql("chat_add"), row)
        return added

    def _due(self) -> str:
        return iso(self._now + HOLD_SECONDS)


def _row(written: Written | None) -> dict[str, object]:
    return {
        "content": None if written is None else written.content,
        "citations": None if written is None else written.citations_json,
        "usage": None if written is None else written.usage_json,
        "metadata": None if written is None else written.metadata_json,
    }


def _beginning(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= TITLE_MADE_CHARACTERS else f"{line[: TITLE_MADE_CHARACTERS - 1]}\u2026"
