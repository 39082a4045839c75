"""`penstock collection list`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.collection.gathering import facts_of
from penstock.doors.cli.collection.shapes import CollectionFacts, CollectionList
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import verb
from penstock.doors.cli.session import Begins, with_store

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store

NONE_YET = "There is no collection yet; make one with: penstock collection create NAME"


@verb(
    "list",
    examples=("penstock collection list", "penstock collection list --json"),
    shape=CollectionList,
    notes=("Piped, a line is: name, ingested, pending, parsed, error, chunks, bytes, description.",),
)
@click.pass_obj
def list_collections(given: Given) -> None:
    """Show collections with their documents by state, chunks and size."""

    async def work(store: Store, settings: Settings) -> list[CollectionFacts]:
        from penstock.wiring.collections import declare_all

        return [await facts_of(store, settings, each) for each in await declare_all(store, settings)]

    show(given, with_store(given, work, begins=Begins.IF_DECLARED, rehearses=True))


def show(given: Given, found: Sequence[CollectionFacts]) -> None:
    """Print collections."""
    if given.as_json:
        output.document(CollectionList(collections=list(found)))
    elif not found:
        output.talk(NONE_YET)
    elif output.on_terminal():
        from penstock.doors.cli.collection import pictures

        output.draw(pictures.collections(found))
    else:
        output.lines(_line(each) for each in found)


def _line(each: CollectionFacts) -> tuple[object, ...]:
    states = each["documents"]
    return (
        each["name"],
        states["ingested"],
        states["pending"],
        states["parsed"],
        states["error"],
        each["chunks"],
        each["bytes"],
        each["description"],
    )
