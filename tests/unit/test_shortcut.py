"""Writing on the caller's own thread: done at once, or not at all."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from penstock.engines.sqlite.connection import connect
from penstock.engines.sqlite.shortcut import Shortcut
from penstock.engines.sqlite.turnstile import Turnstile


@contextmanager
def shortcut(folder: Path, turns: type[Turnstile] = Turnstile) -> Iterator[Shortcut]:
    """A shortcut to a small table."""
    path = folder / "desk.db"
    with closing(connect(path)) as db:
        db.execute("CREATE TABLE notes (note TEXT PRIMARY KEY)")
    with closing(Shortcut(connect(path), turns(folder))) as made:
        yield made


def note(db: sqlite3.Connection) -> str:
    db.execute("INSERT INTO notes VALUES ('kept')")
    return "written"


def notes(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / "desk.db")) as db:
        return [note for (note,) in db.execute("SELECT note FROM notes")]


def test_what_can_be_done_is_done_and_seen_by_all(tmp_path: Path) -> None:
    """The result comes back, and another connection sees the change."""
    with shortcut(tmp_path) as made:
        assert made.attempt(note) == ("written",)
        assert notes(tmp_path) == ["kept"]


def test_where_another_has_the_turn_nothing_is_done(tmp_path: Path) -> None:
    """The caller is told to go the usual way."""
    with shortcut(tmp_path) as made, closing(Turnstile(tmp_path)) as other:
        other.enter()

        assert made.attempt(note) is None
        assert notes(tmp_path) == []
        other.leave()
        assert made.attempt(note) == ("written",)


def test_where_an_outsider_has_the_lock_nothing_is_done(tmp_path: Path) -> None:
    """A program of somebody else takes no turn; its lock is not waited for, and the turn is given back."""
    with shortcut(tmp_path) as made, closing(connect(tmp_path / "desk.db")) as outsider:
        outsider.execute("BEGIN IMMEDIATE")

        assert made.attempt(note) is None
        outsider.execute("ROLLBACK")
        assert made.attempt(note) == ("written",)


def test_what_the_database_refuses_leaves_nothing(tmp_path: Path) -> None:
    """The writing thread will find the same trouble, and tell it."""
    with shortcut(tmp_path) as made:

        def twice(db: sqlite3.Connection) -> str:
            note(db)
            return note(db)

        assert made.attempt(twice) is None
        assert notes(tmp_path) == []


def test_a_mistake_of_the_work_itself_is_told(tmp_path: Path) -> None:
    """It leaves nothing either, and the next one is served."""
    with shortcut(tmp_path) as made:

        def wrong(db: sqlite3.Connection) -> str:
            note(db)
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            made.attempt(wrong)
        assert notes(tmp_path) == []
        assert made.attempt(note) == ("written",)


def test_where_locks_fail_nothing_is_done(tmp_path: Path) -> None:
    """The writing thread will meet the same failure, and tell it."""

    class Failing(Turnstile):
        def enter_soon(self) -> bool:
            raise OSError(errno.ENOLCK, "No locks available")

    with shortcut(tmp_path, Failing) as made:
        assert made.attempt(note) is None
        assert notes(tmp_path) == []


def test_in_use_it_is_not_waited_for(tmp_path: Path) -> None:
    """Work that asks for a shortcut of its own gets none."""
    with shortcut(tmp_path) as made:
        assert made.attempt(lambda _: made.attempt(note)) == (None,)
        assert notes(tmp_path) == []


def test_closed_it_does_nothing(tmp_path: Path) -> None:
    """Closing twice is closing once."""
    with shortcut(tmp_path) as made:
        made.close()

        assert made.attempt(note) is None
