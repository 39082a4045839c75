"""A first collection, so that someone who has just installed the program can ask it something."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from penstock.intake.admission import Admission, Order
from penstock.model.catalogue import LOCAL_TENANT, LOCAL_WORKSPACE, Collection, DocumentState
from penstock.model.collections import check_collection_name
from penstock.model.errors import Refused
from penstock.model.jobs import Operation
from penstock.model.payloads import Folder
from penstock.ports.desk import Wanted
from penstock.settings import RecipeChoice, Settings
from penstock.wiring.collections import create
from penstock.wiring.store import Store, open_store

SAMPLE_PRIORITY = 9
"""Someone is about to ask."""


async def take_sample(settings: Settings, folder: Path) -> str | None:
    """Ingest a folder as the first collection, named after it; None if there is a collection already.

    The path is absolute; a link to a folder means what it leads to. A start that died on the way is taken up
    again.
    """
    if not await asyncio.to_thread(folder.is_dir):
        raise Refused(f"there is no folder {folder}", code="ERR_FOLDER_NOT_FOUND")
    check_collection_name(folder.name)
    async with open_store(settings) as store:
        there = await store.catalogue.collections(LOCAL_WORKSPACE)
        if there and not await _was_left_bare(store, there, folder):
            return None
        made, _ = await create(
            store, settings, folder.name, description=_about(folder), choice=RecipeChoice()
        )
        order = Order(tenant=LOCAL_TENANT, collection=made.name, priority=SAMPLE_PRIORITY)
        lies = await asyncio.to_thread(folder.resolve)
        await Admission(store).job(order, Folder(folder_path=str(lies)), Operation.INGEST)
        return made.name


async def _was_left_bare(store: Store, there: Sequence[Collection], folder: Path) -> bool:
    """Whether an earlier start died between the collection and its job: nothing was ever put into it."""
    if [(each.name, each.description) for each in there] != [(folder.name, _about(folder))]:
        return False
    counts = await store.catalogue.counts(there[0].id)
    if any(counts[state] for state in DocumentState):
        return False
    return not await store.desk.jobs(Wanted(collection=folder.name, limit=1))


def _about(folder: Path) -> str:
    return f"The folder {folder.name}."
