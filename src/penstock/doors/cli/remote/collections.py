"""`penstock collection` by a server."""

from __future__ import annotations

from collections import Counter
from contextlib import aclosing

import click

from penstock.client import Penstock, PenstockError
from penstock.client.values import Collection
from penstock.doors.cli.collection import creating, deleting, listing, showing
from penstock.doors.cli.collection.gathering import FAILURES_MAX
from penstock.doors.cli.collection.shapes import (
    CollectionDetails,
    CollectionFacts,
    Deleted,
    FailureFacts,
    Made,
    StateCounts,
)
from penstock.doors.cli.given import Given
from penstock.doors.cli.remote.facts import error_facts
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
    """Have the server make one."""
    check_collection_name(name)
    recipe = {word: number for word, number in numbers.items() if number is not None}

    async def work(server: Penstock) -> Made:
        is_there = await _is_there(server, name)
        if dry_run:
            return Made(name=name, created=not is_there, dry_run=True)
        made = await server.create_collection(name, description=description, recipe=recipe)
        return Made(name=name, created=not is_there, recipe=made.recipe, dry_run=False)

    creating.show(given, with_server(given, work))


@click.pass_obj
def show_collection(given: Given, name: str) -> None:
    """Have the server tell of one, with its failures."""

    async def work(server: Penstock) -> CollectionDetails:
        collection = await server.collection(name)
        failures: list[FailureFacts] = []
        codes: Counter[str] = Counter()
        async with aclosing(server.documents(collection=name, status="error", sort="name")) as documents:
            async for each in documents:
                if each.error is None:
                    continue
                codes[each.error.code] += 1
                if len(failures) < FAILURES_MAX:
                    failures.append(
                        FailureFacts(document_id=each.id, name=each.name, error=error_facts(each.error))
                    )
        return CollectionDetails(
            **facts_of(collection),
            failures=failures,
            failures_by_code=dict(codes.most_common()),
            building_progress=None,
            sources=[],
        )

    showing.show_details(given, with_server(given, work))


@click.pass_obj
def delete(given: Given, name: str, yes: bool, dry_run: bool) -> None:
    """Have the server delete one with all its documents."""

    async def look(server: Penstock) -> Deleted:
        found = await server.collection(name)
        documents = sum(found.documents.values())
        return Deleted(name=name, documents=documents, chunks=found.chunks, dry_run=True)

    seen = with_server(given, look)
    if not dry_run:
        deleting.ask_unless(seen, yes=yes)
        with_server(given, lambda server: server.delete_collection(name))
    deleting.show(given, seen, dry_run=dry_run)


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
        recipe=collection.recipe,
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
