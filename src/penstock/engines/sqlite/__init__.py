"""The database and the queue on SQLite: one file, many processes, durable by default."""

from penstock.engines.sqlite.store import SqliteStore, open_sqlite

__all__ = ["SqliteStore", "open_sqlite"]
