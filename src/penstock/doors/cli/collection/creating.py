"""`penstock collection create`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.collection.gathering import recipe_facts
from penstock.doors.cli.collection.shapes import Made
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import dry_run, verb
from penstock.doors.cli.session import Begins, with_store
from penstock.doors.cli.values import text
from penstock.model.collections import check_collection_name

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store


@verb(
    "create",
    examples=(
        "penstock collection create handbook --description 'What everyone should know'",
        "penstock collection create code --chunk-tokens 128 --overlap-tokens 16",
    ),
    shape=Made,
    notes=(
        "Making one that is there already, with the same words, changes nothing.",
        "A name is made of letters, digits and `_`; `high`, `normal` and `low` are taken.",
    ),
)
@click.argument("name", type=text)
@click.option("--description", default="", help="What it holds, for people.")
@click.option("--chunk-tokens", type=int, metavar="N", help="No chunk has more tokens.")
@click.option("--chunk-tokens-min", type=int, metavar="N", help="A chunk with fewer joins its neighbour.")
@click.option("--overlap-tokens", type=int, metavar="N", help="Tokens repeated where a passage is cut.")
@dry_run
@click.pass_obj
def create(given: Given, /, name: str, description: str, dry_run: bool, **numbers: int | None) -> None:
    """Make a collection, unless it is there."""
    check_collection_name(name)

    async def work(store: Store, settings: Settings) -> Made:
        from penstock.settings import RecipeChoice
        from penstock.wiring import collections

        choice = RecipeChoice(**numbers)
        if dry_run:
            recipe = collections.recipe_for(settings, choice).to_json()
            found = await collections.find(store, name)
            if found is not None:
                collections.check_alike(found, description, choice)
            return Made(name=name, created=found is None, recipe=recipe_facts(recipe), dry_run=True)
        made, is_new = await collections.create(store, settings, name, description=description, choice=choice)
        return Made(name=name, created=is_new, recipe=recipe_facts(made.recipe_json), dry_run=False)

    show(given, with_store(given, work, begins=Begins.ALWAYS, rehearses=dry_run))


def show(given: Given, made: Made) -> None:
    """Print what was made, or would be."""
    if given.as_json:
        output.document(made)
        return
    output.line(made["name"])
    if not made["created"]:
        output.talk("it was there before; nothing was changed")
    elif made["dry_run"]:
        output.talk("it would be made; nothing was changed")
    else:
        output.talk(f"next: penstock ingest submit --rag {made['name']} --path FILE")
