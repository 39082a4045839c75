"""A first collection, so that someone who has just installed the program can ask it something."""

from __future__ import annotations

import asyncio
from pathlib import Path

from penstock.intake.admission import Admission, Order
from penstock.model.catalogue import LOCAL_TENANT, LOCAL_WORKSPACE
from penstock.model.collections import check_collection_name
from penstock.model.errors import Refused
from penstock.model.jobs import Operation
from penstock.model.payloads import Folder
from penstock.settings import RecipeChoice, Settings
from penstock.wiring.collections import create
from penstock.wiring.store import open_store

SAMPLE_PRIORITY = 9
"""Someone is about to ask."""


async def take_sample(settings: Settings, folder: Path) -> str | None:
    """Ingest a folder as the first collection, named after it; None if there is a collection already.

    The path is absolute.
    """
    if not await asyncio.to_thread(folder.is_dir):
        raise Refused(f"there is no folder {folder}", code="ERR_FOLDER_NOT_FOUND")
    check_collection_name(folder.name)
    async with open_store(settings) as store:
        if await store.catalogue.collections(LOCAL_WORKSPACE):
            return None
        made, _ = await create(
            store, settings, folder.name, description=f"The folder {folder.name}.", choice=RecipeChoice()
        )
        order = Order(tenant=LOCAL_TENANT, collection=made.name, priority=SAMPLE_PRIORITY)
        await Admission(store).job(order, Folder(folder_path=str(folder)), Operation.INGEST)
        return made.name
