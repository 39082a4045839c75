"""A table of words that is taken apart in portions can be dropped by whoever comes next."""

from contextlib import closing
from pathlib import Path

from penstock.engines.sqlite import words
from penstock.engines.sqlite.connection import connect, migrate
from penstock.model.catalogue import GenerationId

GENERATION = GenerationId(7)


def test_a_crumbled_table_is_dropped_by_another_connection(tmp_path: Path) -> None:
    """A process that dies between the last portion and the drop leaves nothing that cannot be removed."""
    path = tmp_path / "words.db"
    with closing(connect(path)) as db:
        migrate(db)
        words.make(db, GENERATION)
        db.executemany(
            "INSERT INTO words_7 (rowid, lead, text, grams) VALUES (?, '', ?, '')",
            [(number, f"word{number} and others") for number in range(1, 500)],
        )
        while not words.crumble(db, GENERATION, 50):
            pass

    with closing(connect(path)) as db:
        words.drop(db, GENERATION)
        words.drop(db, GENERATION)
        left = db.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'words_7%'").fetchall()

    assert left == []
