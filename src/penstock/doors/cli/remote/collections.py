"""`penstock collection list` and `create` by a server."""

from __future__ import annotations

import click

from penstock.client import Penstock, PenstockError
from penstock.client.values import Collection
from penstock.doors.cli.collection import creating, listing
from penstock.doors.cli.collection.shapes import CollectionFacts, Made, StateCounts
from penstock.doors.cli.given import Given
from penstock.doors.cli.remote import unable
from penstock.doors.cli.remote.session import with_server
from penstock.model.collections import check_collection_name


@click.pass_obj
def list_collections(given: Given) -> None:
    """Have the server list them."""

    async def work(server: Penstock) -> list[CollectionFacts]:
        return [facts_of(each) for each in await server.collections()]

    listing.show(given, with_server(given, work))


@click.pass_obj
def create(given: Given, /, name: str, description: str, dry_run: bool, **numbers: int | None) -> None:
    """Have the server make one by its own recipe."""
    if any(number is not None for number in numbers.values()):
        raise unable("a recipe is chosen on the server's own machine")
    check_collection_name(name)

    async def work(server: Penstock) -> Made:
        is_there = await _is_there(server, name)
        if not dry_run:
            await server.create_collection(name, description=description)
        return Made(name=name, created=not is_there, dry_run=dry_run)

    creating.show(given, with_server(given, work))


def facts_of(collection: Collection) -> CollectionFacts:
    """A collection in numbers."""
    counts = collection.documents
    return CollectionFacts(
        name=collection.name,
        description=collection.description,
        documents=StateCounts(
            pending=counts["pending"],
            parsed=counts["parsed"],
            ingested=counts["ingested"],
            error=counts["error"],
        ),
        chunks=collection.chunks,
        bytes=collection.bytes,
        created_at=collection.created_at,
        building=collection.rebuilding,
    )


async def _is_there(server: Penstock, name: str) -> bool:
    try:
        await server.collection(name)
    except PenstockError as error:
        if error.code != "ERR_COLLECTION_UNKNOWN":
            raise
        return False
    return True
