"""`penstock collection show`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.collection.gathering import details_of
from penstock.doors.cli.collection.shapes import CollectionDetails
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import verb
from penstock.doors.cli.session import Begins, with_store
from penstock.doors.cli.values import text

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store


@verb(
    "show",
    examples=("penstock collection show handbook", "penstock collection show handbook --json"),
    shape=CollectionDetails,
    notes=(
        "Piped, a line is a name and a value; what stands inside another is named after it: "
        "`documents.ingested`, `sources.1.path`.",
    ),
)
@click.argument("name", type=text)
@click.pass_obj
def show(given: Given, name: str) -> None:
    """Show a collection: states, failures, sources, recipe, and the index being built."""

    async def work(store: Store, settings: Settings) -> CollectionDetails:
        from penstock.wiring.collections import known_collection

        return await details_of(store, settings, await known_collection(store, settings, name))

    show_details(given, with_store(given, work, begins=Begins.IF_DECLARED, rehearses=True))


def show_details(given: Given, found: CollectionDetails) -> None:
    """Print everything about a collection."""
    if given.as_json:
        output.document(found)
    elif output.on_terminal():
        from penstock.doors.cli.collection import pictures

        output.draw(pictures.collection(found, time.time()))
    else:
        output.facts(output.leaves(found))
