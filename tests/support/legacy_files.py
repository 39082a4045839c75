"""SQLite files as other programs have left them: three layouts of the legacy queues, and rows to put in."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

# The path is the key, presence means pending, the error's text stands in another table.
BY_PATH = """
CREATE TABLE messages (id INTEGER PRIMARY KEY, error_type TEXT, error_message TEXT);
CREATE TABLE ingestion_queue (
  file_absolute_path TEXT PRIMARY KEY NOT NULL,
  collection_name TEXT NOT NULL,
  tenant_id TEXT DEFAULT 'default',
  branch TEXT DEFAULT 'main',
  operation TEXT NOT NULL DEFAULT 'ingest',
  priority INTEGER NOT NULL DEFAULT 5,
  queued_timestamp TIMESTAMP NOT NULL DEFAULT '2024-03-01 10:00:00',
  retry_count INTEGER NOT NULL DEFAULT 0,
  retry_from TEXT,
  error_message_id INTEGER,
  collection_type VARCHAR
);
CREATE TABLE content_ingestion_queue (
  queue_id TEXT PRIMARY KEY,
  idempotency_key TEXT UNIQUE,
  content TEXT NOT NULL,
  collection TEXT NOT NULL,
  source_type TEXT NOT NULL DEFAULT 'scratchbook',
  priority INTEGER NOT NULL DEFAULT 8,
  status TEXT NOT NULL DEFAULT 'pending',
  main_tag TEXT,
  full_tag TEXT,
  metadata TEXT,
  created_at TIMESTAMP NOT NULL DEFAULT '2024-03-01 11:00:00',
  updated_at TIMESTAMP NOT NULL DEFAULT '2024-03-01 11:00:00',
  completed_at TIMESTAMP,
  retry_count INTEGER NOT NULL DEFAULT 0,
  max_retries INTEGER NOT NULL DEFAULT 3,
  error_message TEXT
);
CREATE TABLE missing_metadata_queue (queue_id TEXT PRIMARY KEY, file_absolute_path TEXT);
"""

# A numbered row, words for everything, times as seconds.
BY_NUMBER = """
CREATE TABLE ingestion_queue (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  file_path TEXT,
  collection TEXT,
  project_id TEXT,
  op TEXT,
  priority TEXT,
  status TEXT,
  attempts INTEGER,
  last_error TEXT,
  created_at INTEGER,
  updated_at INTEGER
);
CREATE TABLE content_ingestion_queue (
  id INTEGER PRIMARY KEY, text TEXT, collection_name TEXT, tenant TEXT, state TEXT, retries INTEGER,
  error TEXT, queued_at REAL
);
CREATE TABLE processing_queue (id INTEGER PRIMARY KEY, file_path TEXT);
CREATE TABLE cumulative_deletions_queue (id INTEGER PRIMARY KEY, file_absolute_path TEXT);
"""

# No row numbers, other spellings, names to be quoted, times in milliseconds; and a table without any key.
BY_TWO_COLUMNS = """
CREATE TABLE Ingestion_Queue (
  "filePath" TEXT, "tenantId" TEXT, "collectionName" TEXT, "opType" TEXT, "Priority" INTEGER, "Status" TEXT,
  "retryCount" INTEGER, "errorMessage" TEXT, "createdAt" INTEGER, "odd ""name"", isn't it" TEXT,
  PRIMARY KEY ("tenantId", "filePath")
) WITHOUT ROWID;
CREATE TABLE content_ingestion_queue (
  "contentText" TEXT, "collection" TEXT, "Status" TEXT, "createdAt" INTEGER
);
"""


def legacy_file(path: Path, layout: str, **rows: list[dict[str, Any]]) -> Path:
    """A file with that layout and those rows, by table."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(layout)
        for table, given in rows.items():
            for row in given:
                insert(db, table, row)
        db.commit()
    return path


def insert(db: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    """One row; columns left out take the table's defaults."""
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in row)
    marks = ", ".join("?" for _ in row)
    db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values()))  # noqa: S608 -- test data


def rows_of(path: Path, query: str, *values: object) -> list[dict[str, Any]]:
    """What a plain sqlite3 sees."""
    with closing(sqlite3.connect(path)) as db:
        db.row_factory = sqlite3.Row
        return [dict(row) for row in db.execute(query, values)]


def change(path: Path, statement: str, *values: object) -> None:
    """A change made by hand."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement, values)
