"""`penstock ingest list` by a server."""

from __future__ import annotations

import click

from penstock.client import Penstock
from penstock.client.values import Document
from penstock.doors.cli.given import Given
from penstock.doors.cli.ingest import listing
from penstock.doors.cli.ingest.shapes import DocumentFacts, DocumentList
from penstock.doors.cli.remote import unable
from penstock.doors.cli.remote.facts import error_facts
from penstock.doors.cli.remote.session import with_server

PAGE_MAX = 200
"""Documents the server gives at once."""


@click.pass_obj
def list_documents(
    given: Given, collection: str | None, state: str | None, under: str | None, limit: int, after: str | None
) -> None:
    """Have the server list them, by name."""
    if under is not None:
        raise unable("--path is a folder of this machine: use --rag and --state; it narrows a list here")

    async def work(server: Penstock) -> DocumentList:
        found: list[DocumentFacts] = []
        behind = after
        while True:
            page = await server.documents_page(
                collection=collection,
                status=state,
                sort="name",
                descending=False,
                after=behind,
                limit=min(PAGE_MAX, limit - len(found)),
            )
            found += map(facts_of, page.items)
            behind = page.next
            if behind is None or len(found) >= limit:
                return DocumentList(documents=found, next_after=behind)

    listing.show(given, with_server(given, work), state)


def facts_of(document: Document) -> DocumentFacts:
    """A document as people and programs are shown it."""
    return DocumentFacts(
        id=document.id,
        collection=document.collection,
        state=document.status,
        name=document.name,
        source=document.source,
        title=document.title,
        media=document.media,
        size=document.size,
        pages=document.pages,
        chunks=document.chunks,
        metadata=document.metadata,
        created_at=document.created_at,
        updated_at=document.updated_at,
        error=None if document.error is None else error_facts(document.error),
    )
