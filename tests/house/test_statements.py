"""SQL lives in files: each says what it is, is used by its own engine, and migrations follow one another."""

import re
from collections import defaultdict
from pathlib import Path

from tests.house.tree import PACKAGE, modules, place

ENGINES = PACKAGE / "engines"
MIGRATIONS = "migrations"
MIGRATION_NAME = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")


def statements() -> list[Path]:
    return sorted(PACKAGE.rglob("*.sql"))


def is_migration(path: Path) -> bool:
    return path.parent.name == MIGRATIONS


def test_sql_lives_in_an_engine() -> None:
    """Only engines speak SQL, each in a folder of its own."""
    astray = [
        place(path)
        for path in statements()
        if ENGINES not in path.parents or len(path.relative_to(ENGINES).parts) < 2
    ]

    assert astray == []


def test_sql_opens_with_a_header() -> None:
    """The first line of every SQL file is a comment that says what the statement is for."""
    bare = [
        place(path)
        for path in statements()
        if not re.match(r"--\s*\w", path.read_text(encoding="utf-8").partition("\n")[0])
    ]

    assert bare == []


def test_every_statement_is_loaded_by_its_engine() -> None:
    """A statement's file stem stands as a string in the Python of its engine, so none is dead."""
    named: dict[str, set[str]] = defaultdict(set)
    for module in modules():
        if ENGINES in module.path.parents:
            named[module.path.relative_to(ENGINES).parts[0]] |= module.strings()

    dead = [
        place(path)
        for path in statements()
        if not is_migration(path) and not {path.stem, path.name} & named[path.relative_to(ENGINES).parts[0]]
    ]

    assert dead == []


def test_migrations_are_numbered_without_gaps() -> None:
    """Each migrations folder counts 0001, 0002, … and its files say in their name what they change."""
    folders: dict[Path, list[str]] = defaultdict(list)
    for path in statements():
        if is_migration(path):
            folders[path.parent].append(path.name)

    wrong = {place(folder): names for folder, names in folders.items() if not follows(sorted(names))}

    assert wrong == {}


def follows(names: list[str]) -> bool:
    numbers = [int(found[1]) for name in names if (found := MIGRATION_NAME.fullmatch(name))]
    return numbers == list(range(1, len(names) + 1))
