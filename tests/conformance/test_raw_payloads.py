"""Payloads in rows that other programs wrote."""

import contextlib
import sqlite3

import pytest

from penstock.engines.sqlite import SqliteStore
from penstock.model.payloads import ItemType
from penstock.ports.codec import decode_payload
from tests.conformance.foreign import (
    PAYLOADS,
    add,
    an_operation,
    stored,
)
from tests.conformance.steps import OURS, claimed, drained


@pytest.mark.parametrize("payload", ["{torn", "", "nonsense", '{"file_path": "/x"} {}'])
@pytest.mark.parametrize("kind", PAYLOADS)
async def test_a_payload_that_is_no_json_is_never_handed_out(
    store: SqliteStore, db: sqlite3.Connection, kind: str, payload: str
) -> None:
    """The table refuses it where it needs its fields; else the row fails with its code and others go on."""
    with contextlib.suppress(sqlite3.OperationalError):
        add(db, "bad", item_type=kind, op=an_operation(kind), tenant_id="bad", payload_json=payload)
    add(db, "good", tenant_id="good", priority=0)
    await store.queue.promote()

    assert await claimed(store.queue) == ["good"]
    ends = db.execute("SELECT status, error_code FROM unified_queue WHERE queue_id = 'bad'").fetchall()
    assert ends in ([], [("failed", "ERR_PAYLOAD_INVALID")])


@pytest.mark.parametrize(
    ("kind", "payload", "code"),
    [
        ("content", "[]", "ERR_PAYLOAD_INVALID"),
        ("content", "null", "ERR_PAYLOAD_INVALID"),
        ("content", '"text"', "ERR_PAYLOAD_INVALID"),
        ("content", "{}", "ERR_PAYLOAD_INVALID"),
        ("content", '{"content": 7}', "ERR_PAYLOAD_INVALID"),
        ("content", '{"content": "\\ud800"}', "ERR_PAYLOAD_INVALID"),
        ("file", "7", "ERR_PAYLOAD_INVALID"),
        ("file", '{"folder_path": "/x"}', "ERR_PAYLOAD_INVALID"),
        ("file", '{"file_path": null}', "ERR_PAYLOAD_INVALID"),
        ("file", '{"file_path": {"a": 1}}', "ERR_PAYLOAD_INVALID"),
        ("file", '{"file_path": "/x", "size_bytes": "many"}', "ERR_PAYLOAD_INVALID"),
        ("file", '{"file_path": "/x", "size_bytes": 1e999}', "ERR_PAYLOAD_INVALID"),
        ("file", '{"file_path": "relative/path"}', "ERR_PATH_INVALID"),
        ("file", '{"file_path": "/a/../b"}', "ERR_PATH_INVALID"),
        ("file", '{"file_path": "/nul\\u0000byte"}', "ERR_PATH_INVALID"),
        ("folder", '{"folder_path": "/x", "patterns": "*.py"}', "ERR_PAYLOAD_INVALID"),
        ("project", '{"project_root": ""}', "ERR_PATH_INVALID"),
        ("library", '{"library_version": "1"}', "ERR_PAYLOAD_INVALID"),
        ("delete_document", '{"point_ids": ["a"]}', "ERR_PAYLOAD_INVALID"),
        ("rename", '{"old_path": "/x"}', "ERR_PAYLOAD_INVALID"),
        ("rename", '{"old_path": "/x", "new_path": "/x"}', "ERR_PAYLOAD_INVALID"),
    ],
)
async def test_a_payload_of_another_shape_fails_with_its_code(
    store: SqliteStore, db: sqlite3.Connection, kind: str, payload: str, code: str
) -> None:
    """It ends at the claim that meets it, with words for people, and costs nobody else anything."""
    add(db, "bad", item_type=kind, op=an_operation(kind), payload_json=payload)
    add(db, "good")

    assert await claimed(store.queue) == ["good"]

    assert stored(db, "bad", "status", "error_code") == ("failed", code)
    (message,) = stored(db, "bad", "error_message")
    assert len(message) > 10


@pytest.mark.parametrize(
    ("kind", "payload", "plain"),
    [
        (
            "folder",
            '{"folder_path": "/x", "patterns": null, "ignore_patterns": null, "recursive": null}',
            '{"folder_path": "/x"}',
        ),
        ("folder", '{"folder_path": "/x", "patterns": ["*.py"], "ignore_patterns": null}', None),
        ("delete_document", '{"document_id": "d", "point_ids": null}', '{"document_id": "d"}'),
        ("library", '{"library_name": "l", "library_version": null}', '{"library_name": "l"}'),
    ],
)
async def test_null_for_what_may_be_left_out_is_as_if_it_were(
    store: SqliteStore, db: sqlite3.Connection, kind: str, payload: str, plain: str | None
) -> None:
    """Programs in languages without empty lists write it so; the row stays as it was."""
    plain = plain or '{"folder_path": "/x", "patterns": ["*.py"]}'
    add(db, "row", item_type=kind, op=an_operation(kind), payload_json=payload)
    await store.queue.promote()

    (lease,) = await store.queue.claim(OURS, 1)

    assert lease.payload == decode_payload(ItemType(kind), plain)
    assert stored(db, "row", "payload_json", "status") == (payload, "in_progress")


async def test_fields_nobody_knows_do_no_harm(store: SqliteStore, db: sqlite3.Connection) -> None:
    """A row with further fields runs, and they stay in the row as they were."""
    payload = '{"file_path": "/x", "colour": "red", "nested": {"deep": [1, 2, {"a": null}]}}'
    add(db, "row", payload_json=payload)

    assert await drained(store.queue) == ["row"]
    assert stored(db, "row", "payload_json", "status") == (payload, "done")


async def test_fields_left_out_of_a_payload_take_the_usual_values(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """The one field that says what it is about is enough."""
    short = {
        "content": '{"content": "text"}',
        "file": '{"file_path": "/f"}',
        "folder": '{"folder_path": "/d"}',
        "project": '{"project_root": "/p"}',
        "library": '{"library_name": "l"}',
        "delete_document": '{"document_id": "d"}',
        "rename": '{"old_path": "/r", "new_path": "/s"}',
    }
    for kind, payload in short.items():
        add(db, kind, item_type=kind, op=an_operation(kind), payload_json=payload)

    assert set(await drained(store.queue)) == set(short)
