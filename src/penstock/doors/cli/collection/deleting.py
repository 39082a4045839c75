"""`penstock collection delete`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.collection.shapes import Deleted
from penstock.doors.cli.exits import Exit
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import dry_run, verb
from penstock.doors.cli.session import with_store
from penstock.doors.cli.values import text
from penstock.doors.cli.words import plural
from penstock.model.catalogue import DocumentState
from penstock.model.errors import Refused

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store


@verb(
    "delete",
    examples=("penstock collection delete drafts --dry-run", "penstock collection delete drafts --yes"),
    shape=Deleted,
    notes=(
        "Its documents are out of every answer at once; chunks, vectors and bytes are purged by the workers.",
        "A collection the configuration declares is made again, empty, by the next command that needs it.",
    ),
)
@click.argument("name", type=text)
@click.option("--yes", is_flag=True, help="Do not ask.")
@dry_run
@click.pass_obj
def delete(given: Given, name: str, yes: bool, dry_run: bool) -> None:
    """Delete a collection with all its documents."""
    seen = with_store(given, lambda store, settings: _look(store, settings, name))
    if not dry_run:
        ask_unless(seen, yes=yes)
        seen = with_store(given, lambda store, settings: _delete(store, settings, name))
    show(given, seen, dry_run=dry_run)


def show(given: Given, done: Deleted, *, dry_run: bool) -> None:
    """Print what was deleted, or would be."""
    if given.as_json:
        output.document(Deleted(**{**done, "dry_run": dry_run}))
        return
    output.line(done["name"])
    counts = f"{plural(done['documents'], 'document')} and {plural(done['chunks'], 'chunk')}"
    if dry_run:
        output.talk(f"{counts} would be deleted; nothing was changed")
    else:
        output.talk(f"{counts} are out of every answer now; workers purge them in the background")


async def _look(store: Store, settings: Settings, name: str) -> Deleted:
    from penstock.wiring.collections import known_collection

    collection = await known_collection(store, settings, name)
    counts = await store.catalogue.counts(collection.id)
    documents = sum(counts[state] for state in DocumentState)
    return Deleted(name=name, documents=documents, chunks=counts["chunks"], dry_run=True)


async def _delete(store: Store, settings: Settings, name: str) -> Deleted:
    from penstock.wiring.collections import known_collection

    seen = await _look(store, settings, name)
    collection = await known_collection(store, settings, name)
    await store.write(lambda tx: tx.shelves.remove(collection.id))
    return seen


def ask_unless(seen: Deleted, *, yes: bool) -> None:
    """A person is asked; a script must say --yes."""
    if yes:
        return
    what = f"{plural(seen['documents'], 'document')} and {plural(seen['chunks'], 'chunk')}"
    if sys.stdin is None or not sys.stdin.isatty():
        raise Refused(f"{seen['name']} with {what} would be deleted; say --yes to do it")
    try:
        if click.confirm(f"Delete {seen['name']} with {what}?", err=True):
            return
    except click.Abort:
        click.echo(err=True)  # the question's line has no end yet
    output.talk(f"nothing was deleted; {seen['name']} is as it was")
    raise click.exceptions.Exit(Exit.INTERRUPTED)
