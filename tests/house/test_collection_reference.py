"""The pages about collections and flaws say what the program does."""

import re
from typing import Any

from penstock.model.diagnosis import MEANINGS
from penstock.settings.collections import COLLECTION, LIMITS, RECIPE, SOURCE, USUAL
from penstock.settings.compound import Record
from tests.house.tree import TOP

COLLECTIONS = TOP / "docs" / "reference" / "collections.md"
HOW_TO = TOP / "docs" / "how-to" / "ingest-documents.md"


def rows(text: str) -> dict[str, list[str]]:
    """The rows of a page's tables whose first cell is code, by that code."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if name := re.fullmatch(r"`([^`]+)`", cells[0]):
            found[name[1]] = cells[1:]
    return found


def test_every_key_of_a_collection_is_on_its_page() -> None:
    """The page names exactly the keys there are, and the recipe's usual values."""
    page = rows(COLLECTIONS.read_text(encoding="utf-8"))
    nested: dict[str, Record[Any]] = {"recipe": RECIPE, "limits": LIMITS, "sources[]": SOURCE}
    keys = {name for name in COLLECTION.keys if name not in ("recipe", "limits", "sources")}
    keys |= {f"{name}.{key}" for name, record in nested.items() for key in record.keys}

    assert set(page) == keys
    assert {key: page[f"recipe.{key}"][1] for key in RECIPE.keys} == {
        key: f"`{getattr(USUAL, key)}`" for key in RECIPE.keys
    }


def test_every_flaw_is_explained() -> None:
    """The how-to tells each flaw in the words of the program."""
    page = rows(HOW_TO.read_text(encoding="utf-8"))

    assert {flaw: page[flaw] for flaw in map(str, MEANINGS)} == {
        flaw.value: [words] for flaw, words in MEANINGS.items()
    }
