"""`penstock ingest retry`: documents in error are tried again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.codes import refuse_unknown
from penstock.doors.cli.collection.gathering import documents
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import dry_run, verb
from penstock.doors.cli.ingest.shapes import AgainFacts, RetriedDocuments
from penstock.doors.cli.session import with_store
from penstock.doors.cli.values import text
from penstock.doors.cli.words import plural
from penstock.model.catalogue import Document, DocumentState
from penstock.model.codes import MEANT
from penstock.model.errors import Refused
from penstock.model.states import ENDED

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store


@verb(
    "retry",
    examples=(
        "penstock ingest retry --failed",
        "penstock ingest retry --failed --rag handbook --code ERR_EMBEDDER_DOWN",
    ),
    shape=RetriedDocuments,
    notes=(
        "Piped, a line is: document id, new job.",
        "A document that is being tried again already is left alone, so saying it twice does it once.",
        "What was called off (`ERR_CANCELLED`, `ERR_SUPERSEDED`) is left alone unless `--code` names it.",
        "A code that does not exist, and that no document has, ends with 1.",
    ),
)
@click.option("--failed", is_flag=True, help="Every document in error.")
@click.option("--rag", "name", type=text, metavar="NAME", help="Only documents of this collection.")
@click.option("--code", type=text, metavar="CODE", help="Only documents with this error code.")
@dry_run
@click.pass_obj
def retry(given: Given, failed: bool, name: str | None, code: str | None, dry_run: bool) -> None:
    """Try documents in error again."""
    check(failed=failed)

    async def work(store: Store, settings: Settings) -> RetriedDocuments:
        from penstock.wiring.collections import declare_all, known_collection

        chosen = (
            await declare_all(store, settings)
            if name is None
            else [await known_collection(store, settings, name)]
        )
        done = RetriedDocuments(documents=[], skipped=[], dry_run=dry_run)
        is_known = False
        for collection in chosen:
            wanted = [
                each
                async for each in documents(store, collection, DocumentState.ERROR)
                if each.error is not None and is_chosen(each.error.code, code)
            ]
            is_known = is_known or bool(wanted)
            for document in wanted:
                await _again(store, document, done)
        if not is_known:
            refuse_unknown(code)
        return done

    show(given, with_store(given, work))


def is_chosen(error: str, code: str | None) -> bool:
    """Whether what ended so is tried again; what was called off only where its code is named."""
    return error not in MEANT if code is None else error == code


def check(*, failed: bool) -> None:
    """Nothing is tried again that nobody named."""
    if not failed:
        raise click.UsageError("say --failed: every document in error, or those --rag and --code choose")


async def _again(store: Store, document: Document, done: RetriedDocuments) -> None:
    facts = AgainFacts(
        document_id=document.id,
        name=document.name,
        code="" if document.error is None else document.error.code,
        job_id=None,
    )
    from penstock.wiring.intake import last_job, try_again

    job = await last_job(store, document)
    if job is None:
        done["skipped"].append(facts)
        return
    if job.state not in ENDED:
        return
    if not done["dry_run"]:
        try:
            facts["job_id"] = await try_again(store, document, job)
        except Refused:
            done["skipped"].append(facts)
            return
    done["documents"].append(facts)


def show(given: Given, done: RetriedDocuments) -> None:
    """Print what is tried again, or would be."""
    if given.as_json:
        output.document(done)
        return
    if done["documents"] and output.on_terminal():
        from penstock.doors.cli.ingest import pictures

        output.draw(pictures.again(done["documents"]))
    else:
        output.lines((each["document_id"], each["job_id"]) for each in done["documents"])
    for each in done["skipped"]:
        output.talk(output.clean(f"skipped {each['name']}: its job is no longer kept; submit it again"))
    verb = "would be tried again" if done["dry_run"] else "submitted again"
    output.talk(f"{plural(len(done['documents']), 'document')} {verb}")
