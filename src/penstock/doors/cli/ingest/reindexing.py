"""`penstock ingest reindex`: build a collection anew beside the one that answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.collection.gathering import recipe_facts
from penstock.doors.cli.exits import Exit
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import dry_run, verb
from penstock.doors.cli.ingest.shapes import Reindexed
from penstock.doors.cli.ingest.submitting import FOLDER_PRIORITY
from penstock.doors.cli.ingest.swapping import documents_in, swap_sentence, wait_for_swap, would_be_built
from penstock.doors.cli.ingest.waiting import tell_end, tell_if_alone, wait
from penstock.doors.cli.session import with_store
from penstock.doors.cli.values import duration, text
from penstock.doors.cli.words import plural
from penstock.model.collections import RecreationPolicy
from penstock.model.errors import Refused
from penstock.model.jobs import JobId
from penstock.model.options import Options

if TYPE_CHECKING:
    from penstock.model.catalogue import Collection, GenerationId
    from penstock.settings import Settings
    from penstock.wiring.store import Store


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
        done, generation = await _begin(store, settings, name, policy, rehearse=dry_run)
        if not waits or dry_run or done["action"] == "nothing":
            return done, Exit.OK
        if generation is None:
            done["wait"], code = await wait(
                store, [JobId(job) for job in done["jobs"]], timeout=timeout, quiet=quiet
            )
            return done, code
        await tell_if_alone(store, quiet=quiet)
        done["wait"], code = await wait_for_swap(store, name, generation, timeout=timeout, quiet=quiet)
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
) -> tuple[Reindexed, GenerationId | None]:
    """What is done, and the generation being built where one is."""
    from penstock.wiring import collections

    collection = await collections.sound_collection(store, settings, name)
    policy = RecreationPolicy(chosen) if chosen else collections.policy_of(settings, collection)
    counts = await store.catalogue.counts(collection.id)
    recipe = collections.recipe_for(settings, collections.wanted_recipe(settings, collection)).to_json()
    done = Reindexed(
        collection=name,
        policy=policy.value,
        action="rebuild" if policy.rebuilds(counts["visible"]) else "nothing",
        documents=documents_in(counts),
        recipe=recipe_facts(recipe),
        jobs=[],
        wait=None,
        dry_run=rehearse,
    )
    if policy is RecreationPolicy.APPEND:
        done["action"] = "submit"
        done["jobs"] = await _append(store, settings, collection, rehearse=rehearse)
    elif not rehearse:
        generation = await collections.reindex(store, settings, collection, policy)
        if generation is not None:
            return done, generation.id
        done["action"] = "nothing"
    return done, None


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
    name = done["collection"]
    match done["action"]:
        case "nothing":
            return f"{name} has {plural(done['documents'], 'document')} already; nothing was changed"
        case "submit":
            return (
                f"the sources of {name} {'would be' if done['dry_run'] else 'are'} looked through for changes"
            )
        case _ if done["wait"] is not None:
            return swap_sentence(name, done["wait"])
        case _ if done["dry_run"]:
            return would_be_built(name, done["documents"])
        case _:
            built = f"{plural(done['documents'], 'document')} of {name} are built anew"
            return f"{built} beside the index that answers; to follow: penstock collection show {name}"
