"""What there is to say about a collection, gathered once for every way of showing it."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from penstock.doors.cli.collection.shapes import (
    BuildingFacts,
    CollectionDetails,
    CollectionFacts,
    FailureFacts,
    SourceFacts,
    StateCounts,
)
from penstock.doors.cli.facts import error_facts
from penstock.doors.cli.words import iso
from penstock.model.catalogue import Collection, Document, DocumentState
from penstock.model.stored_json import stored_object

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store

PAGE = 500
FAILURES_MAX = 100
"""Failed documents that are named; more are only counted."""


async def facts_of(store: Store, settings: Settings, collection: Collection) -> CollectionFacts:
    """A collection in numbers."""
    from penstock.wiring.collections import differences

    counts = await store.catalogue.counts(collection.id)
    return CollectionFacts(
        name=collection.name,
        description=collection.description,
        declared=collection.name in settings.collections,
        documents=StateCounts(
            pending=counts["pending"],
            parsed=counts["parsed"],
            ingested=counts["ingested"],
            error=counts["error"],
        ),
        chunks=counts["chunks"],
        bytes=counts["bytes"],
        created_at=iso(collection.created_at),
        recipe=recipe_facts(collection.recipe_json),
        recipe_differences=differences(settings, collection),
        building=collection.building is not None,
    )


async def details_of(store: Store, settings: Settings, collection: Collection) -> CollectionDetails:
    """The same with failures, sources and the index being built."""
    failures: list[FailureFacts] = []
    codes: Counter[str] = Counter()
    async for document in documents(store, collection, DocumentState.ERROR):
        if document.error is None:
            continue
        codes[document.error.code] += 1
        if len(failures) < FAILURES_MAX:
            failures.append(failure_facts(document))
    return CollectionDetails(
        **await facts_of(store, settings, collection),
        failures=failures,
        failures_by_code=dict(codes.most_common()),
        building_progress=await _building(store, collection),
        sources=await sources_of(settings, collection),
    )


async def documents(
    store: Store, collection: Collection, state: DocumentState | None = None
) -> AsyncIterator[Document]:
    """All documents of a collection, page by page."""
    after = None
    while page := await store.catalogue.documents(
        collection.workspace, collection=collection.id, state=state, after=after, limit=PAGE
    ):
        for document in page:
            yield document
        after = page[-1].identity


def recipe_facts(recipe_json: str) -> dict[str, object]:
    """A recipe as a document."""
    return stored_object(recipe_json)


def failure_facts(document: Document) -> FailureFacts:
    """A document in error."""
    if document.error is None:
        raise ValueError(f"document {document.id} is not in error")
    return FailureFacts(
        document_id=document.id,
        name=document.name,
        identity=document.identity,
        error=error_facts(document.error),
    )


async def _building(store: Store, collection: Collection) -> BuildingFacts | None:
    if collection.building is None:
        return None
    building = collection.building
    generation = await store.write(lambda tx: tx.shelves.generation(building))
    if generation is None:
        return None
    counts = await store.catalogue.counts(collection.id)
    done, total = counts["built"], max(counts["built"], counts["visible"])
    return BuildingFacts(recipe=recipe_facts(generation.recipe_json), done=done, total=total)


async def sources_of(settings: Settings, collection: Collection) -> list[SourceFacts]:
    """Its own incoming folder, and the folders the configuration names."""
    from penstock.wiring.collections import declared
    from penstock.wiring.dropped import lying_in

    own = settings.data / "sources" / collection.name / "incoming"
    return [
        SourceFacts(
            path=str(own.absolute()),
            own=True,
            watch=True,
            patterns=[],
            ignore_patterns=[],
            depth=0,
            untaken=(await lying_in(settings, collection.name)).untaken,
        ),
        *(
            SourceFacts(
                path=str(source.path),
                own=False,
                watch=source.watch,
                patterns=list(source.patterns),
                ignore_patterns=list(source.ignore_patterns),
                depth=source.depth,
            )
            for source in declared(settings, collection).sources
        ),
    ]
