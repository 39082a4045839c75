"""An index whose row is gone or cannot be read gets one again, so that what lies in it answers on.

Its chunks, their vectors and their words are still there and say nothing of the recipe but its model. So the
row is made with a recipe that may not be the one it had: whoever restores an index has it rebuilt.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from penstock.engines.sqlite import words
from penstock.engines.sqlite.debts import SqliteDebts
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso
from penstock.engines.sqlite.words import words_sql
from penstock.model.catalogue import CollectionId, DebtKind, GenerationId, NewDebt
from penstock.model.diagnosis import Disagreement, Flaw
from penstock.model.errors import Refused
from penstock.model.recipes import Recipe


def index_flaws(db: sqlite3.Connection, limit: int) -> list[Disagreement]:
    """Collections of which an index, or its recipe, is not there or cannot be read."""
    found: list[Disagreement] = []
    for collection, name, *index in db.execute(sql("audit_collection_index")):
        told = _index_fault(name, *index)
        if told is not None and len(found) < limit:
            found.append(Disagreement(flaw=Flaw.COLLECTION_INDEX, about=str(collection), sentence=told))
    return found


def _index_fault(
    name: str,
    answering: int | None,
    recipe_json: str | None,
    should_build: int | None,
    building: int | None,
    building_json: str | None,
) -> str | None:
    if answering is None or recipe_json is None:
        return f"the index of {name} is not there"
    if (why := recipe_fault(recipe_json)) is not None:
        return f"the recipe of {name} cannot be read: {why}"
    if should_build is None:
        return None
    if building is None or building_json is None:
        return f"the index being built for {name} is not there"
    if (why := recipe_fault(building_json)) is not None:
        return f"the recipe of the index being built for {name} cannot be read: {why}"
    return None


def recipe_fault(recipe_json: str) -> str | None:
    """What is wrong with a recipe; None if it can be read."""
    try:
        Recipe.from_json(recipe_json)
    except Refused as wrong:
        return wrong.message
    return None


def restore(db: sqlite3.Connection, collection: CollectionId, recipe: Recipe, now: float) -> bool:
    """Give a collection an index that answers, and none that is half there; False where nothing is wrong."""
    row = db.execute(sql("restore_find"), (collection,)).fetchone()
    if row is None:
        return False
    answering, recipe_json, building, building_json = row
    answers, builds = _reads(recipe_json), building is None or _reads(building_json)
    if answers and builds:
        return False
    if not answers:
        answering = _answering(db, collection, answering, recipe, is_there=recipe_json is not None, now=now)
    if not builds:
        SqliteDebts(db, now).owe(NewDebt(kind=DebtKind.PURGE_GENERATION, about=str(building)))
        building = None
    db.execute(
        sql("collection_point"), {"collection": collection, "generation": answering, "building": building}
    )
    return True


def _reads(recipe_json: bytes | None) -> bool:
    return recipe_json is not None and recipe_fault(recipe_json.decode(errors="replace")) is None


def _answering(
    db: sqlite3.Connection,
    collection: CollectionId,
    generation: int | None,
    recipe: Recipe,
    *,
    is_there: bool,
    now: float,
) -> GenerationId:
    """The generation with a recipe that fits its vectors; under its old number unless another has that."""
    model, name = db.execute(sql("restore_model"), (generation,)).fetchone() or (None, recipe.model)
    row = {
        "generation": generation,
        "collection": collection,
        "recipe": replace(recipe, model=name).to_json(),
        "model": model,
        "now": iso(now),
    }
    if is_there:
        db.execute(sql("restore_recipe"), row)
        return GenerationId(int(generation or 0))
    made = db.execute(sql("restore_generation"), row).fetchone()
    if made is None:
        made = db.execute(sql("restore_generation"), {**row, "generation": None, "model": None}).fetchone()
    found = GenerationId(made[0])
    words.drop(db, found)
    words.make(db, found)
    db.execute(words_sql("audit_words_again", found))
    return found
