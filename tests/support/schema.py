"""The schema as the migrations make it: made once a process, and copied for every database after the first.

They take a tenth of a second, which thousands of tests would pay. Whatever a test starts as a process of its
own goes through all of them, and so does a database that has any of them already.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import cache

Migrate = Callable[[sqlite3.Connection], None]


def copying(migrate: Migrate) -> Migrate:
    """The same for whoever calls it, with the same schema in the end and a name of its own."""

    @cache
    def made() -> sqlite3.Connection:
        db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        migrate(db)
        return db

    def copied(db: sqlite3.Connection) -> None:
        if db.execute("SELECT count(*) FROM sqlite_schema").fetchone() != (0,):
            return migrate(db)
        made().backup(db)
        db.execute("UPDATE home SET home_id = lower(hex(randomblob(8)))")

    return copied
