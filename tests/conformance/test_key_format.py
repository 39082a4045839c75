"""Idempotency keys as the page documents them, computed here by hand."""

import sqlite3
from hashlib import sha256

import pytest

from penstock.engines.sqlite import SqliteStore
from penstock.model.jobs import NewJob, Operation, TenantId
from penstock.model.payloads import (
    Content,
    DeleteDocument,
    DeleteTenant,
    File,
    Folder,
    Library,
    Payload,
    Project,
    Rename,
)

# What is submitted, and the item type and the text whose hash the page names for it.
DOCUMENTED: list[tuple[Payload, Operation, str, str]] = [
    (Content(content="The actual text content"), Operation.INGEST, "content", "The actual text content"),
    (
        Content(content="Grüße, 世界 🌍\nline two\t"),
        Operation.UPDATE,
        "content",
        "Grüße, 世界 🌍\nline two\t",
    ),
    (Content(content="same text", source_type="mcp"), Operation.DELETE, "content", "same text"),
    (File(file_path="/absolute/path/to/file"), Operation.INGEST, "file", "/absolute/path/to/file"),
    (File(file_path="/absolute/path/to/file"), Operation.DELETE, "file", "/absolute/path/to/file"),
    (File(file_path="/a:b/ü.txt", size_bytes=7), Operation.UPDATE, "file", "/a:b/ü.txt"),
    (Folder(folder_path="/absolute/folder"), Operation.SCAN, "folder", "/absolute/folder"),
    (Project(project_root="/absolute/path"), Operation.INGEST, "project", "/absolute/path"),
    (
        Library(library_name="qdrant-client", library_version="1.15.0"),
        Operation.INGEST,
        "library",
        "qdrant-client:1.15.0",
    ),
    (DeleteTenant(tenant_id_to_delete="acme"), Operation.DELETE, "delete_tenant", "acme"),
    (DeleteDocument(document_id="/a/b.md"), Operation.DELETE, "delete_document", "/a/b.md"),
    (
        DeleteDocument(document_id="6f1c1c9e-0000-4000-8000-000000000000", point_ids=("p1", "p2")),
        Operation.DELETE,
        "delete_document",
        "6f1c1c9e-0000-4000-8000-000000000000",
    ),
    (Rename(old_path="/old/path", new_path="/new/path"), Operation.UPDATE, "rename", "/old/path:/new/path"),
]


def key(item_type: str, collection: str, identifier: str) -> str:
    """The documented form: `{item_type}:{collection}:{identifier_hash}`."""
    digest = sha256(identifier.encode("utf-8")).hexdigest()
    return item_type + ":" + collection + ":" + digest[:16]


async def written(store: SqliteStore, db: sqlite3.Connection, payload: Payload, op: Operation) -> str:
    """The key in the row that a submit wrote."""
    job = NewJob(tenant=TenantId("acme"), collection="my:notes", payload=payload, op=op)
    await store.queue.submit([job])
    (found,) = db.execute(
        "SELECT idempotency_key FROM unified_queue WHERE queue_id = ?", (job.id,)
    ).fetchone()
    return str(found)


@pytest.mark.parametrize(
    ("payload", "op", "item_type", "identifier"),
    DOCUMENTED,
    ids=[f"{kind}-{op}-{number}" for number, (_, op, kind, _) in enumerate(DOCUMENTED)],
)
async def test_a_submit_writes_the_documented_key(
    store: SqliteStore,
    db: sqlite3.Connection,
    payload: Payload,
    op: Operation,
    item_type: str,
    identifier: str,
) -> None:
    """The key is the item type, the collection and sixteen hex digits of the documented identifier."""
    assert await written(store, db, payload, op) == key(item_type, "my:notes", identifier)


async def test_every_item_type_is_asked_for() -> None:
    """All eight are among the examples above."""
    assert len({kind for _, _, kind, _ in DOCUMENTED}) == 8


async def test_the_key_of_a_known_path(store: SqliteStore, db: sqlite3.Connection) -> None:
    """One key written out in full, so that a mistake shared by both sides would show."""
    payload = File(file_path="/absolute/path/to/file")

    assert await written(store, db, payload, Operation.INGEST) == "file:my:notes:d7d2cea9060abfcc"


async def test_a_foreign_row_and_a_submit_of_the_same_file_meet(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """A program that computes the documented key itself and our submit make one waiting job, not two."""
    job = NewJob(tenant=TenantId("acme"), collection="notes", payload=File(file_path="/a/b.md"), priority=3)
    db.execute(
        "INSERT INTO unified_queue (queue_id, item_type, op, tenant_id, collection, priority, status,"
        " created_at, updated_at, idempotency_key, payload_json) VALUES ('theirs', 'file', 'ingest', 'acme',"
        " 'notes', 7, 'pending', '2025-06-15T12:00:00Z', '2025-06-15T12:00:00Z', ?, ?)",
        (key("file", "notes", "/a/b.md"), '{"file_path": "/a/b.md"}'),
    )

    (receipt,) = await store.queue.submit([job])

    assert receipt.job_id == "theirs"
    assert db.execute("SELECT queue_id, priority FROM unified_queue").fetchall() == [("theirs", 7)]


async def test_what_else_a_payload_says_does_not_change_the_key(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """Two versions of a file, and its delete, have one key."""
    first = await written(store, db, File(file_path="/a", size_bytes=1), Operation.INGEST)
    db.execute("UPDATE unified_queue SET status = 'done'")
    second = await written(store, db, File(file_path="/a", size_bytes=2, file_type="code"), Operation.UPDATE)
    db.execute("UPDATE unified_queue SET status = 'done'")
    third = await written(store, db, File(file_path="/a"), Operation.DELETE)

    assert first == second == third
