"""`penstock ingest reindex`: build a collection anew beside the one that answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.collection.gathering import recipe_facts
from penstock.doors.cli.exits import Exit
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import dry_run, verb
from penstock.doors.cli.ingest.shapes import Reindexed, WaitFacts
from penstock.doors.cli.ingest.submitting import FOLDER_PRIORITY
from penstock.doors.cli.ingest.waiting import tell_end, wait
from penstock.doors.cli.overview import NO_WORKER
from penstock.doors.cli.session import with_store
from penstock.doors.cli.values import duration, text
from penstock.doors.cli.words import plural
from penstock.model.collections import RecreationPolicy
from penstock.model.errors import Refused
from penstock.model.jobs import JobId
from penstock.model.options import Options

if TYPE_CHECKING:
    from penstock.model.catalogue import Collection
    from penstock.settings import Settings
    from penstock.wiring.store import Store

LOOK_SECONDS = 0.5


@verb(
    "reindex",
    examples=(
        "penstock ingest reindex --rag handbook --wait",
        "penstock ingest reindex --rag handbook --policy append",
    ),
    shape=Reindexed,
    notes=(
        "`recreate` builds every document anew by the recipe in force, from the bytes that are kept; the old "
        "index answers until the new one is complete.",
        "`skip` does so only if no document of the collection can be found yet.",
        "`append` submits the folders the configuration names; only new and changed files are taken.",
    ),
)
@click.option("--rag", "name", type=text, required=True, metavar="NAME", help="The collection.")
@click.option(
    "--policy",
    type=click.Choice(tuple(map(str, RecreationPolicy))),
    help="What becomes of documents that are there, instead of the collection's recreation_policy.",
)
@click.option("--wait", "waits", is_flag=True, help="Stay until it is done.")
@click.option("--timeout", type=duration, metavar="DURATION", help="Wait no longer than this.")
@click.option("--quiet", is_flag=True, help="Say nothing but failures.")
@dry_run
@click.pass_obj
def reindex(
    given: Given,
    name: str,
    policy: str | None,
    waits: bool,
    timeout: float | None,
    quiet: bool,
    dry_run: bool,
) -> int:
    """Build a collection anew beside the one that answers, then swap them."""

    async def work(store: Store, settings: Settings) -> tuple[Reindexed, Exit]:
        done = await _begin(store, settings, name, policy, rehearse=dry_run)
        if not waits or dry_run or done["action"] == "nothing":
            return done, Exit.OK
        if done["action"] == "submit":
            done["wait"], code = await wait(
                store, [JobId(job) for job in done["jobs"]], timeout=timeout, quiet=quiet
            )
            return done, code
        done["wait"], code = await _wait_for_swap(store, name, timeout=timeout, quiet=quiet)
        return done, code

    try:
        done, code = with_store(given, work)
    except KeyboardInterrupt:
        output.talk(f"it goes on without you; to look again: penstock collection show {name}")
        return Exit.INTERRUPTED
    _print(given, done, quiet=quiet)
    return code


async def _begin(
    store: Store, settings: Settings, name: str, chosen: str | None, *, rehearse: bool
) -> Reindexed:
    from penstock.wiring import collections

    collection = await collections.sound_collection(store, settings, name)
    policy = RecreationPolicy(chosen) if chosen else collections.policy_of(settings, collection)
    counts = await store.catalogue.counts(collection.id)
    documents = sum(counts[state] for state in ("pending", "parsed", "ingested", "error"))
    recipe = collections.recipe_for(settings, collections.wanted_recipe(settings, collection)).to_json()
    done = Reindexed(
        collection=name,
        policy=policy.value,
        action="rebuild" if policy.rebuilds(counts["visible"]) else "nothing",
        documents=documents,
        recipe=recipe_facts(recipe),
        jobs=[],
        wait=None,
        dry_run=rehearse,
    )
    if policy is RecreationPolicy.APPEND:
        done["action"] = "submit"
        done["jobs"] = await _append(store, settings, collection, rehearse=rehearse)
    elif not rehearse and await collections.reindex(store, settings, collection, policy) is None:
        done["action"] = "nothing"
    return done


async def _append(store: Store, settings: Settings, collection: Collection, *, rehearse: bool) -> list[str]:
    from penstock.wiring.intake import Request, source_folders, submit_all

    folders = source_folders(settings, collection)
    if not folders:
        raise Refused(
            f"the configuration names no sources for {collection.name}; "
            "hand folders in with: penstock ingest submit --rag NAME --path FOLDER",
            code="ERR_CONFIGURATION",
        )
    if rehearse:
        return []
    requests = [
        Request(payload=folder, name=folder.folder_path, priority=FOLDER_PRIORITY) for folder in folders
    ]
    admitted = await submit_all(store, settings, collection.name, requests, Options())
    return [each.job for each in admitted]


async def _wait_for_swap(
    store: Store, name: str, *, timeout: float | None, quiet: bool
) -> tuple[WaitFacts, Exit]:
    """Until the generation being built answers."""
    from penstock.wiring.collections import find

    told, end, generation = WaitFacts(end="ended", total=0, done=0, failed=0, failures=[]), "ended", None
    if not quiet and not any(worker.alive for worker in await store.desk.workers()):
        output.talk(NO_WORKER)
    try:
        async with asyncio.timeout(timeout):
            while (found := await find(store, name)) is not None and found.building is not None:
                generation = found.building
                counts = await store.catalogue.counts(found.id)
                line = f"{counts['built']:,} of {max(counts['visible'], counts['built']):,} documents rebuilt"
                if (told["done"], told["total"]) != (counts["built"], counts["visible"]) and not quiet:
                    output.talk(line)
                told["done"], told["total"] = counts["built"], counts["visible"]
                await asyncio.sleep(LOOK_SECONDS)
    except TimeoutError:
        end = "timeout"
    told["end"] = end
    if end == "timeout":
        return told, Exit.TIMEOUT
    if found is not None and generation not in (None, found.generation):
        told["end"] = "given up"
    else:
        told["done"] = told["total"]
    if found is not None:
        told["failed"] = (await store.catalogue.counts(found.id))["error"]
    return told, Exit.EXECUTION if told["end"] == "given up" else Exit.OK


def _print(given: Given, done: Reindexed, *, quiet: bool) -> None:
    if given.as_json:
        output.document(done)
        return
    output.lines((job,) for job in done["jobs"])
    found = done["wait"]
    if found is not None and done["action"] == "submit":
        tell_end(found, quiet=quiet)
    elif not quiet or (found is not None and found["end"] != "ended"):
        output.talk(_sentence(done))


def _sentence(done: Reindexed) -> str:
    name, documents = done["collection"], plural(done["documents"], "document")
    would = "would be " if done["dry_run"] else ""
    match done["action"]:
        case "nothing":
            return f"{name} has {documents} already; nothing was changed"
        case "submit":
            return (
                f"the sources of {name} {'would be' if done['dry_run'] else 'are'} looked through for changes"
            )
        case _ if done["wait"] is None:
            tail = "" if done["dry_run"] else f"; to follow: penstock collection show {name}"
            return f"{documents} of {name} {would or 'are '}built anew beside the index that answers{tail}"
        case _ if done["wait"]["end"] == "timeout":
            return f"the time is over; the rebuild of {name} goes on, see: penstock collection show {name}"
        case _ if done["wait"]["end"] == "given up":
            return f"too much failed: {name} goes on answering from its old index{_failed(done)}"
        case _:
            return f"{name} answers from its new index{_failed(done)}"


def _failed(done: Reindexed) -> str:
    count = done["wait"]["failed"] if done["wait"] else 0
    return f"; {plural(count, 'document')} in error, see: penstock ingest list --state error" if count else ""
