"""`penstock ingest list`: documents with their states."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.facts import error_facts
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import page_limit, verb
from penstock.doors.cli.ingest.paths import absolute
from penstock.doors.cli.ingest.shapes import DocumentFacts, DocumentList
from penstock.doors.cli.session import with_store
from penstock.doors.cli.values import text
from penstock.doors.cli.words import iso, parsed
from penstock.model.catalogue import LOCAL_WORKSPACE, Document, DocumentState

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store


@verb(
    "list",
    examples=(
        "penstock ingest list --rag handbook",
        "penstock ingest list --state error",
        "penstock ingest list --rag handbook --path /srv/handbook --json",
    ),
    shape=DocumentList,
    notes=("Piped, a line is: id, collection, state, chunks, size, updated, error code, identity.",),
)
@click.option("--rag", "collection", type=text, metavar="NAME", help="Only documents of this collection.")
@click.option(
    "--state",
    type=click.Choice([state.value for state in DocumentState]),
    help="Only documents in this state.",
)
@click.option("--path", "under", type=text, metavar="FOLDER", help="Only documents below this folder.")
@page_limit("Documents")
@click.option("--after", type=text, metavar="IDENTITY", help="Only documents after this one: the next page.")
@click.pass_obj
def list_documents(
    given: Given, collection: str | None, state: str | None, under: str | None, limit: int, after: str | None
) -> None:
    """Show documents with their states, by path."""

    async def work(store: Store, settings: Settings) -> DocumentList:
        from penstock.wiring.collections import declare_all, known_collection

        chosen = None if collection is None else await known_collection(store, settings, collection)
        names = {each.id: each.name for each in await declare_all(store, settings)}
        page = partial(
            store.catalogue.documents,
            LOCAL_WORKSPACE,
            collection=None if chosen is None else chosen.id,
            state=None if state is None else DocumentState(state),
            under=None if under is None else absolute(under),
        )
        found = await page(after=after, limit=limit)
        last = found[-1].identity if len(found) >= limit else None
        more = last is not None and await page(after=last, limit=1)
        return DocumentList(
            documents=[document_facts(each, names.get(each.collection, "")) for each in found],
            next_after=last if more else None,
        )

    show(given, with_store(given, work), state)


def document_facts(document: Document, collection: str) -> DocumentFacts:
    """A document as people and programs are shown it."""
    return DocumentFacts(
        id=document.id,
        collection=collection,
        state=document.state.value,
        name=document.name,
        source=document.source.value,
        identity=document.identity,
        title=document.title,
        media=document.media,
        size=document.size,
        pages=document.pages,
        chunks=document.chunks,
        metadata=parsed(document.metadata_json),
        created_at=iso(document.created_at),
        updated_at=iso(document.updated_at),
        error=None if document.error is None else error_facts(document.error),
    )


def show(given: Given, page: DocumentList, state: str | None) -> None:
    """Print a page of documents in this state, or in any."""
    documents = page["documents"]
    if given.as_json:
        output.document(page)
        return
    if not documents:
        output.talk("no documents" if state is None else f"no document in state {state}")
    elif output.on_terminal():
        from penstock.doors.cli.ingest import pictures

        output.draw(pictures.documents(documents, time.time()))
    else:
        output.lines(_line(each) for each in documents)
    if page["next_after"] is not None:
        output.talk(f"there are more; the next page: --after {output.clean(page['next_after'])}")


def _line(each: DocumentFacts) -> tuple[object, ...]:
    return (
        each["id"],
        each["collection"],
        each["state"],
        each["chunks"],
        each["size"],
        each["updated_at"],
        None if each["error"] is None else each["error"]["code"],
        each.get("identity", each["name"]),
    )
