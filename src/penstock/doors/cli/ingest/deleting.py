"""`penstock ingest delete`: documents, by path or id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import dry_run, verb
from penstock.doors.cli.ingest.paths import absolute
from penstock.doors.cli.ingest.shapes import RemovalFacts, RemovedDocuments
from penstock.doors.cli.session import with_store
from penstock.doors.cli.values import text
from penstock.doors.cli.words import plural
from penstock.model.catalogue import Collection, Document, DocumentId
from penstock.model.errors import Refused

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store

PAGE = 500
PRIORITY = 9


@verb(
    "delete",
    examples=(
        "penstock ingest delete --rag handbook --path old/policy.pdf",
        "penstock ingest delete --rag handbook --path /srv/handbook/drafts --dry-run",
        "penstock ingest delete --rag handbook --document ID",
    ),
    shape=RemovedDocuments,
    notes=(
        "Piped, a line is: job, path or id.",
        "A folder's path deletes every document below it; files on the disk are not touched.",
    ),
)
@click.option("--rag", "name", type=text, required=True, metavar="NAME", help="The collection.")
@click.option("--path", "paths", type=text, multiple=True, help="File that was ingested, or a folder.")
@click.option("--document", "ids", type=text, multiple=True, metavar="ID", help="Id of a document.")
@dry_run
@click.pass_obj
def delete(given: Given, name: str, paths: Sequence[str], ids: Sequence[str], dry_run: bool) -> None:
    """Delete documents: out of every answer at once, purged by the workers."""
    check(paths, ids)

    async def work(store: Store, settings: Settings) -> RemovedDocuments:
        from penstock.wiring.collections import known_collection
        from penstock.wiring.intake import delete_all

        collection = await known_collection(store, settings, name)
        found = {each.id: each for each in await _named(store, settings, collection, paths, ids)}
        done = RemovedDocuments(
            collection=name,
            documents=[RemovalFacts(name=each.identity, job_id=None) for each in found.values()],
            dry_run=dry_run,
        )
        if not dry_run:
            admitted = await delete_all(store, settings, list(found.values()), priority=PRIORITY)
            for facts, each in zip(done["documents"], admitted, strict=True):
                facts["job_id"] = each.job
        return done

    show(given, with_store(given, work))


def check(paths: Sequence[str], ids: Sequence[str]) -> None:
    """Nothing is deleted that nobody named."""
    if not paths and not ids:
        raise click.UsageError("say what to delete: --path or --document")


async def _named(
    store: Store, settings: Settings, collection: Collection, paths: Sequence[str], ids: Sequence[str]
) -> list[Document]:
    """Every document that is meant; Refused if one is not there, so that nothing is deleted by half."""
    from penstock.wiring.intake import moved_to

    found: list[Document] = []
    for document_id in ids:
        document = await store.catalogue.document(collection.workspace, DocumentId(document_id))
        if document is None or document.collection != collection.id:
            raise Refused(
                f"there is no document {document_id!r} in {collection.name}", code="ERR_DOCUMENT_UNKNOWN"
            )
        found.append(document)
    for typed in paths:
        path = absolute(typed)
        some = await _at(store, collection, path) or await moved_to(store, settings, collection, path)
        if not some:
            raise Refused(
                f"there is no document at or below {path} in {collection.name}", code="ERR_DOCUMENT_UNKNOWN"
            )
        found += some
    return found


async def _at(store: Store, collection: Collection, path: str) -> list[Document]:
    """The documents at the path, whichever tenant's, and all below it."""
    found: list[Document] = []
    after = path[:-1]  # the path itself is among the next ones
    while page := await store.catalogue.documents(
        collection.workspace, collection=collection.id, after=after, limit=PAGE
    ):
        found += [each for each in page if each.identity == path]
        after = page[-1].identity
        if after >= path:
            break
    after = path
    while page := await store.catalogue.documents(
        collection.workspace, collection=collection.id, under=path, after=after, limit=PAGE
    ):
        found += page
        after = page[-1].identity
    return found


def show(given: Given, done: RemovedDocuments) -> None:
    """Print what is deleted, or would be."""
    if given.as_json:
        output.document(done)
        return
    if done["dry_run"] and output.on_terminal():  # there are no jobs to stand before the names
        output.lines((each["name"],) for each in done["documents"])
    else:
        output.table((each["job_id"], each["name"]) for each in done["documents"])
    verb = "would be deleted" if done["dry_run"] else "deleted; workers purge the rest"
    output.talk(f"{plural(len(done['documents']), 'document')} {verb}")
