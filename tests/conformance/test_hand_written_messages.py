"""Messages changed by raw SQL: the workspace's owner is told as of any other, and none waits for ever."""

import json
import sqlite3
from typing import Any

import pytest

from penstock.engines.sqlite import SqliteStore
from penstock.engines.sqlite.statements import sql
from penstock.model.catalogue import LOCAL_USER, LOCAL_WORKSPACE
from penstock.model.conversations import MessageId
from tests.conformance.foreign import plan

NAMES = {
    "conversation_list": "conversations_latest",
    "chat_after": "messages_number",
    "chat_before": "messages_number",
    "chat_newest_reply": "messages_reply",
    "chat_unfinished": "messages_due",
    "chat_due": "messages_due",
    "chat_heal": "sqlite_autoindex_messages_1",
}


def by_hand(db: sqlite3.Connection) -> None:
    """A conversation with one answer nobody writes."""
    db.execute(
        "INSERT INTO conversations (conversation_id, workspace_id, created_at, updated_at)"
        " VALUES ('c', ?, 'now', 'now')",
        (LOCAL_WORKSPACE,),
    )
    db.execute(
        "INSERT INTO messages (message_id, conversation_id, number, role, created_at, updated_at)"
        " VALUES ('m', 'c', 1, 'ai', 'now', 'now')"
    )


async def told(store: SqliteStore) -> list[tuple[str, Any, Any]]:
    logged = [(each.type, json.loads(each.payload_json)) for each in await store.events_after(LOCAL_USER, 0)]
    return [
        (kind, (payload.get("message") or payload).get("status"), payload.get("error_code"))
        for kind, payload in logged
    ]


async def test_rows_written_by_hand_are_told(store: SqliteStore, db: sqlite3.Connection) -> None:
    """Each new row and each new status is an event; other changes are none."""
    by_hand(db)
    db.execute("UPDATE messages SET status = 'running', updated_at = 'later'")
    db.execute("UPDATE messages SET content = 'Forty'")
    db.execute("UPDATE messages SET status = 'done'")

    assert await told(store) == [
        ("message.created", "pending", None),
        ("message.status_updated", "running", None),
        ("message.status_updated", "done", None),
    ]


async def test_an_answer_written_by_hand_is_not_pending_for_ever(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """Without an owner and a due time it is due at once."""
    by_hand(db)

    assert await store.transcript.heal() == [MessageId("m")]
    assert (await told(store))[-1] == ("message.status_updated", "error", "ERR_INTERRUPTED")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE messages SET status = 'ready'",
        "UPDATE messages SET citations_json = 'none'",
        "UPDATE messages SET content = printf('%.*c', 200001, 'x')",
        "UPDATE messages SET role = 'system'",
    ],
)
async def test_what_no_message_can_be_is_refused(
    store: SqliteStore, db: sqlite3.Connection, change: str
) -> None:
    """The table itself keeps states, roles, sizes and JSON."""
    by_hand(db)

    with pytest.raises(sqlite3.IntegrityError):
        db.execute(change)


@pytest.mark.parametrize("name", NAMES)
def test_pages_and_healing_use_an_index(table: sqlite3.Connection, name: str) -> None:
    """A long history makes no page and no look for the dead slower."""
    assert NAMES[name] in " ".join(plan(table, sql(name)))
