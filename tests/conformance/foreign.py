"""What a program does that knows only the documented page: SQL text over a plain connection."""

import sqlite3
from pathlib import Path
from typing import Any

MATRIX = """
item_type        | ingest | update | delete | scan
-----------------|--------|--------|--------|------
content          |   Y    |   Y    |   Y    |  N
file             |   Y    |   Y    |   Y    |  N
folder           |   Y    |   N    |   Y    |  Y
project          |   Y    |   N    |   Y    |  Y
library          |   Y    |   Y    |   Y    |  N
delete_tenant    |   N    |   N    |   Y    |  N
delete_document  |   N    |   N    |   Y    |  N
rename           |   N    |   Y    |   N    |  N
"""

PAYLOADS = {
    "content": """{
  "content": "The actual text content",
  "source_type": "scratchbook|mcp|clipboard",
  "main_tag": "optional-primary-tag",
  "full_tag": "optional/hierarchical/tag"
}""",
    "file": """{
  "file_path": "/absolute/path/to/file",
  "file_type": "code|document|config|...",
  "file_hash": "sha256:...",
  "size_bytes": 12345
}""",
    "folder": """{
  "folder_path": "/absolute/path/to/folder",
  "recursive": true,
  "recursive_depth": 10,
  "patterns": ["*.py", "*.rs"],
  "ignore_patterns": ["*.pyc", "__pycache__/*"]
}""",
    "project": """{
  "project_root": "/absolute/path",
  "git_remote": "https://github.com/...",
  "project_type": "rust|python|mixed"
}""",
    "library": """{
  "library_name": "qdrant-client",
  "library_version": "1.15.0",
  "source_url": "https://..."
}""",
    "delete_tenant": """{
  "tenant_id_to_delete": "...",
  "reason": "project_removed|user_request"
}""",
    "delete_document": """{
  "document_id": "uuid-or-path",
  "point_ids": ["uuid1", "uuid2"]
}""",
    "rename": """{
  "old_path": "/old/path",
  "new_path": "/new/path",
  "is_folder": false
}""",
}
"""The page's examples, letter by letter: bars separate the words to choose from, dots stand for a value."""

CHOICES = {
    "scratchbook|mcp|clipboard": "mcp",
    "code|document|config|...": "code",
    "sha256:...": "sha256:" + "0123456789abcdef" * 4,
    "rust|python|mixed": "rust",
    "project_removed|user_request": "project_removed",
    '"..."': '"acme"',
}
"""One legal choice for each place the examples leave open."""

NOON = "2025-06-15T12:00:00Z"

Row = dict[str, Any]


def connect(folder: Path) -> sqlite3.Connection:
    """A plain connection; every statement is its own transaction."""
    return sqlite3.connect(folder / "penstock.db", isolation_level=None, timeout=10.0)


def pairs() -> list[tuple[str, str, bool]]:
    """Item type, operation and whether the page's matrix says Y."""
    header, _, *lines = MATRIX.strip().splitlines()
    ops = [cell.strip() for cell in header.split("|")[1:]]
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    return [(kind, op, mark == "Y") for kind, *marks in cells for op, mark in zip(ops, marks, strict=True)]


def an_operation(item_type: str) -> str:
    """The first operation the matrix offers an item type."""
    return next(op for kind, op, legal in pairs() if kind == item_type and legal)


def chosen(item_type: str) -> str:
    """The page's example with every open place filled in."""
    text = PAYLOADS[item_type]
    for open_place, choice in CHOICES.items():
        text = text.replace(open_place, choice)
    return text


def a_row(queue_id: str, **given: Any) -> Row:
    """A file's ingest in the documented columns that have no default, with what the test chooses instead."""
    kind = given.get("item_type", "file")
    row: Row = {
        "queue_id": queue_id,
        "item_type": kind,
        "op": "ingest",
        "tenant_id": "acme",
        "collection": "notes",
        "priority": 5,
        "status": "pending",
        "created_at": NOON,
        "updated_at": NOON,
        "idempotency_key": f"{kind}:{given.get('collection', 'notes')}:{queue_id}",
        "payload_json": f'{{"file_path": "/documents/{queue_id}"}}',
    }
    return row | given


def insert(db: sqlite3.Connection, row: Row) -> str:
    """INSERT naming the row's columns and no others; its id."""
    names, marks = ", ".join(row), ", ".join("?" for _ in row)
    db.execute(f"INSERT INTO unified_queue ({names}) VALUES ({marks})", list(row.values()))  # noqa: S608 -- names from the test itself
    return str(row["queue_id"])


def add(db: sqlite3.Connection, queue_id: str, **given: Any) -> str:
    """A row of its own path and key, unless the test says otherwise."""
    return insert(db, a_row(queue_id, **given))


def on_path(path: str) -> dict[str, Any]:
    """What makes a row about that path: the payload of a file."""
    return {"payload_json": f'{{"file_path": "{path}"}}'}


def a_rename(old: str) -> dict[str, Any]:
    """What makes a row the rename of that path, which has another key than the file itself."""
    payload = f'{{"old_path": "{old}", "new_path": "{old}.moved", "is_folder": false}}'
    return {"item_type": "rename", "op": "update", "payload_json": payload}


def a_removal(path: str) -> dict[str, Any]:
    """What makes a row the deletion of the document at that path."""
    payload = f'{{"document_id": "{path}", "point_ids": []}}'
    return {"item_type": "delete_document", "op": "delete", "payload_json": payload}


def a_farewell(tenant: str = "acme") -> dict[str, Any]:
    """What makes a row the deletion of its whole tenant."""
    payload = f'{{"tenant_id_to_delete": "{tenant}", "reason": "user_request"}}'
    return {"item_type": "delete_tenant", "op": "delete", "tenant_id": tenant, "payload_json": payload}


def dequeue(db: sqlite3.Connection, queue_id: str, *, lease_until: str, worker: str = "foreign-1") -> None:
    """The second half of the documented dequeue."""
    changed = db.execute(
        "UPDATE unified_queue SET status = 'in_progress', lease_until = ?, worker_id = ?, updated_at = ?"
        " WHERE queue_id = ? AND status = 'pending'",
        (lease_until, worker, NOON, queue_id),
    )
    assert changed.rowcount == 1


def succeed(db: sqlite3.Connection, queue_id: str) -> None:
    """The documented success."""
    db.execute("UPDATE unified_queue SET status = 'done' WHERE queue_id = ?", (queue_id,))


def retry(db: sqlite3.Connection, queue_id: str) -> None:
    """The documented retry."""
    db.execute(
        "UPDATE unified_queue SET retry_count = retry_count + 1, status = 'pending' WHERE queue_id = ?",
        (queue_id,),
    )


def fail(db: sqlite3.Connection, queue_id: str) -> None:
    """The documented failure."""
    db.execute(
        "UPDATE unified_queue SET status = 'failed', error_message = 'no', last_error_at = ?"
        " WHERE queue_id = ?",
        (NOON, queue_id),
    )


def stored(db: sqlite3.Connection, queue_id: str, *columns: str) -> tuple[Any, ...]:
    """Columns of one row that must exist."""
    row = db.execute(
        f"SELECT {', '.join(columns)} FROM unified_queue WHERE queue_id = ?",  # noqa: S608 -- names from the test itself
        (queue_id,),
    ).fetchone()
    assert row is not None
    return tuple(row)


def statuses(db: sqlite3.Connection) -> dict[str, str]:
    """The status of every row."""
    return dict(db.execute("SELECT queue_id, status FROM unified_queue").fetchall())


def dequeue_order(db: sqlite3.Connection, limit: int = 1000) -> list[str]:
    """The first half of the documented dequeue."""
    found = db.execute(
        "SELECT queue_id FROM unified_queue WHERE status='pending' ORDER BY priority DESC,"
        " created_at ASC LIMIT ?",
        (limit,),
    )
    return [queue_id for (queue_id,) in found]


def plan(db: sqlite3.Connection, statement: str) -> list[str]:
    """How SQLite would run a statement; its placeholders stay unbound, for nothing is run."""
    text = "\n".join(line for line in statement.splitlines() if not line.startswith("--"))
    marks = text.count("?")
    values: Any = [None] * marks if marks else Unbound()
    return [str(row[3]) for row in db.execute(f"EXPLAIN QUERY PLAN {text}", values)]


class Unbound(dict[str, None]):
    """Any name is NULL."""

    def __missing__(self, _: str) -> None:
        return None
