"""Looking at conversations beside the writer, and keeping answers alive or ending them, on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping

from penstock.engines.sqlite.access import FRESH_SECONDS, Access
from penstock.engines.sqlite.conversation_records import conversation_of, message_of
from penstock.engines.sqlite.conversations import INTERRUPTED, STOPPED
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso
from penstock.model.catalogue import WorkspaceId
from penstock.model.codes import CODES
from penstock.model.conversations import (
    HOLD_SECONDS,
    PAGE_MAX,
    Bookmark,
    Conversation,
    ConversationId,
    Message,
    MessageId,
    Standing,
)

_LAST = "\U0010ffff"
_NO_NUMBER = (1 << 63) - 1


class SqliteTranscript:
    """Looks beside the writer, renews and heals through it."""

    def __init__(self, store: Access) -> None:
        self._store = store

    async def conversations(
        self, workspace: WorkspaceId, *, before: Bookmark | None = None, limit: int = 50
    ) -> list[Conversation]:
        """A workspace's, those with the latest news first."""
        where = {
            "workspace": workspace,
            "updated": _LAST if before is None else iso(before.updated_at),
            "id": _LAST if before is None else before.id,
            "limit": _page(limit),
        }
        rows = await self._store.look(lambda db: db.execute(sql("conversation_list"), where).fetchall())
        return [conversation_of(row) for row in rows]

    async def conversation(self, workspace: WorkspaceId, conversation: ConversationId) -> Conversation | None:
        """One by id."""
        where = {"workspace": workspace, "conversation": conversation}
        row = await self._store.look(lambda db: db.execute(sql("conversation_find"), where).fetchone())
        return None if row is None else conversation_of(row)

    async def messages(
        self,
        workspace: WorkspaceId,
        conversation: ConversationId,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int = 50,
    ) -> list[Message]:
        """A page in order of number."""
        where = {
            "workspace": workspace,
            "conversation": conversation,
            "before": _NO_NUMBER if before is None else before,
            "limit": _page(limit),
        }
        if after is not None:
            where |= {"after": after}
            rows = await self._store.look(lambda db: db.execute(sql("chat_after"), where).fetchall())
            return [message_of(row) for row in rows]
        rows = await self._store.look(lambda db: db.execute(sql("chat_before"), where).fetchall())
        return [message_of(row) for row in reversed(rows)]

    async def message(self, workspace: WorkspaceId, message: MessageId) -> Message | None:
        """One by id."""
        where = {"workspace": workspace, "message": message}
        row = await self._store.look(lambda db: db.execute(sql("chat_find"), where).fetchone())
        return None if row is None else message_of(row)

    async def renew(self, owner: str, answers: Mapping[MessageId, str]) -> Mapping[MessageId, Standing]:
        """Say that these are still being written; a power cut ends them all, so no disk is waited for."""

        def work(db: sqlite3.Connection) -> dict[MessageId, Standing]:
            due = iso(self._store.clock.now() + HOLD_SECONDS)  # it may have waited for its turn
            return {
                message: _standing(
                    db.execute(
                        sql("chat_renew"),
                        {"message": message, "owner": owner, "due": due, "content": content},
                    ).fetchone()
                )
                for message, content in answers.items()
            }

        return await self._store.change(work, punctual=True)

    async def heal(self, kept: Callable[[str], str] = str, *, limit: int = 100) -> list[MessageId]:
        """End what nobody writes any more; a look that finds nothing writes nothing."""
        now, asked = iso(self._store.clock.now()), self._store.clock.steady()
        left = await self._store.look(lambda db: db.execute(sql("chat_due"), (now, limit)).fetchall())
        if not left:
            return []
        contents = {MessageId(message): kept(content) for message, content in left}
        facts = {
            "now": now,
            "code": INTERRUPTED,
            "error": CODES[INTERRUPTED],
            "stopped_code": STOPPED,
            "stopped": CODES[STOPPED],
        }

        def work(db: sqlite3.Connection) -> list[MessageId]:
            if self._store.clock.steady() - asked >= FRESH_SECONDS:
                return []
            return [
                message
                for message, content in contents.items()
                if db.execute(sql("chat_heal"), {**facts, "message": message, "content": content}).fetchone()
            ]

        return await self._store.change(work)


def _standing(row: tuple[int] | None) -> Standing:
    if row is None:
        return Standing.LOST
    return Standing.STOPPING if row[0] else Standing.HELD


def _page(limit: int) -> int:
    return max(1, min(limit, PAGE_MAX))
