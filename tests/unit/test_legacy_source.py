"""Reading legacy files: every row once, in order, whatever the table is made of."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from penstock.engines.legacy.mapping import LegacyRow, Skip, job_of
from penstock.engines.legacy.roles import Role
from penstock.engines.legacy.source import open_source
from penstock.model.rules import Rules
from tests.support.legacy_files import BY_NUMBER, change, legacy_file

TABLE = "ingestion_queue"


def portions(file: Path, table: str = TABLE) -> list[list[LegacyRow]]:
    """All portions of a table."""
    found: list[list[LegacyRow]] = []
    with open_source(file, busy_seconds=1) as source:
        layout = source.layout(table, table)
        rows, cursor = source.portion(layout, None)
        while rows:
            found.append(rows)
            rows, cursor = source.portion(layout, cursor)
    return found


def rows(file: Path) -> list[LegacyRow]:
    return [row for portion in portions(file) for row in portion]


def paths(file: Path) -> list[object]:
    return [row.values[Role.PATH] for row in rows(file)]


def a_file(tmp_path: Path, *statements: str) -> Path:
    return legacy_file(tmp_path / "old.db", ";".join(statements))


SHAPES = {
    "numbered": "id INTEGER PRIMARY KEY, path TEXT",
    "without a key": "path TEXT, id",
    "with a column called rowid": "rowid TEXT, path TEXT, id INTEGER PRIMARY KEY",
    "with no name left for row numbers": "rowid TEXT, oid TEXT, _rowid_ TEXT, path TEXT PRIMARY KEY, id",
    "without row numbers": "id INTEGER PRIMARY KEY, path TEXT) WITHOUT ROWID --",
    "with two keys": "path TEXT, id INTEGER, PRIMARY KEY (path, id)) WITHOUT ROWID --",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_row_is_read_once_in_portions(tmp_path: Path, shape: str) -> None:
    """Whatever rows are walked through by."""
    file = a_file(tmp_path, f"CREATE TABLE {TABLE} ({SHAPES[shape]}\n)".replace("--\n)", ""))
    with closing(sqlite3.connect(file)) as db, db:
        db.executemany(
            "INSERT INTO ingestion_queue (path, id) VALUES (?, ?)",
            ((f"/{number:04}", number) for number in range(2500)),
        )

    found = portions(file)

    assert [len(portion) for portion in found] == [1000, 1000, 500]
    assert [row.values[Role.PATH] for portion in found for row in portion] == [
        f"/{n:04}" for n in range(2500)
    ]
    assert len({row.identity for portion in found for row in portion}) == 2500


def test_rows_with_negative_numbers_are_read(tmp_path: Path) -> None:
    """The walk begins at the first row, not at zero."""
    file = a_file(
        tmp_path,
        f"CREATE TABLE {TABLE} (id INTEGER PRIMARY KEY, path TEXT)",
        "INSERT INTO ingestion_queue VALUES (-9223372036854775808, '/a'), (-1, '/b')",
        "INSERT INTO ingestion_queue VALUES (9223372036854775807, '/c')",
    )

    assert paths(file) == ["/a", "/b", "/c"]


def test_a_row_without_its_id_is_known_by_its_number(tmp_path: Path) -> None:
    """SQLite lets a text primary key be NULL, more than once."""
    file = a_file(
        tmp_path,
        f"CREATE TABLE {TABLE} (queue_id TEXT PRIMARY KEY, path TEXT)",
        "INSERT INTO ingestion_queue VALUES (NULL, '/a'), (NULL, '/b'), ('q', '/c')",
    )

    assert [row.identity for row in rows(file)] == [("row", 1), ("row", 2), ("q",)]


@pytest.mark.parametrize(("second", "known_by"), [(2, [(1,), (2,)]), (1, [("row", 1), ("row", 2)])])
def test_an_undeclared_id_is_trusted_only_without_doubles(
    tmp_path: Path, second: int, known_by: list[tuple[object, ...]]
) -> None:
    """A copy of a table has lost its keys; its ids are still good if none comes twice."""
    file = a_file(tmp_path, f"CREATE TABLE {TABLE} (id, path)")
    change(file, "INSERT INTO ingestion_queue VALUES (1, '/a'), (?, '/b')", second)

    assert [row.identity for row in rows(file)] == known_by


def test_bytes_are_read_where_text_was_meant(tmp_path: Path) -> None:
    """A path stored as bytes is a path; one in another encoding skips its row, not the table."""
    file = a_file(
        tmp_path,
        f"CREATE TABLE {TABLE} (id BLOB PRIMARY KEY, path)",
        "INSERT INTO ingestion_queue VALUES (x'01', x'2f61'), (x'02', CAST(x'2fff' AS TEXT))",
    )

    good, bad = (job_of(row, source="", now=1.7e9, rules=Rules()) for row in rows(file))

    assert not isinstance(good, Skip)
    assert good.job.row == "01"
    assert isinstance(bad, Skip)
    assert bad.reason == "ERR_PATH_INVALID"


def test_a_key_in_another_encoding_leads_on(tmp_path: Path) -> None:
    """A table walked through by a text that is none to us is read to its end."""
    file = a_file(
        tmp_path,
        "CREATE TABLE ingestion_queue (queue_id TEXT PRIMARY KEY, path TEXT) WITHOUT ROWID",
        "INSERT INTO ingestion_queue VALUES ('a', '/one'), (CAST(x'e9' AS TEXT), '/two')",
        "INSERT INTO ingestion_queue VALUES (CAST(x'ff' AS TEXT), '/three')",
    )

    assert paths(file) == ["/one", "/two", "/three"]


def test_a_portion_ends_before_long_texts_fill_the_memory(tmp_path: Path) -> None:
    """Rows are counted and weighed; what does not fit comes with the next portion."""
    file = legacy_file(tmp_path / "long.db", BY_NUMBER)
    with closing(sqlite3.connect(file)) as db, db:
        db.executemany(
            "INSERT INTO content_ingestion_queue (text) VALUES (?)", (("x" * 1_000_000,) for _ in range(20))
        )

    assert [len(portion) for portion in portions(file, "content_ingestion_queue")] == [9, 9, 2]
