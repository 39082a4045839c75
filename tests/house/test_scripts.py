"""Lua lives in files: each says what it is and is used by its own engine; every part is taken in."""

import re
from functools import cache
from pathlib import Path

from tests.house.tree import PACKAGE, modules, place

ENGINES = PACKAGE / "engines"
PARTS = "parts"


def scripts() -> list[Path]:
    return sorted(PACKAGE.rglob("*.lua"))


def test_lua_lives_in_an_engines_scripts() -> None:
    """Only engines speak Lua, each in its folder `scripts`."""
    astray = [
        place(path)
        for path in scripts()
        if ENGINES not in path.parents or path.relative_to(ENGINES).parts[1:2] != ("scripts",)
    ]

    assert astray == []


def test_lua_opens_with_a_header() -> None:
    """The first line of every script is a comment that begins with its name."""
    bare = [
        place(path)
        for path in scripts()
        if not re.match(rf"-- {path.stem}(\.lua)?\b", path.read_text(encoding="utf-8"))
    ]

    assert bare == []


def test_every_script_is_run_by_its_engine() -> None:
    """A script's file stem stands as a string in the Python of its engine, so none is dead."""
    dead = [
        place(path)
        for path in scripts()
        if path.parent.name != PARTS and path.stem not in named_in(path.relative_to(ENGINES).parts[0])
    ]

    assert dead == []


def test_every_part_is_taken_in() -> None:
    """A part that no script includes is dead."""
    texts = [path.read_text(encoding="utf-8") for path in scripts()]
    taken = {name for text in texts for name in re.findall(r"^-- include: (\w+)$", text, re.MULTILINE)}

    assert [place(path) for path in scripts() if path.parent.name == PARTS and path.stem not in taken] == []


@cache
def named_in(engine: str) -> set[str]:
    """Every string in the Python of an engine."""
    folder = ENGINES / engine
    return {text for module in modules() if folder in module.path.parents for text in module.strings()}
