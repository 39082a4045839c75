"""From settings to the handlers this version brings, and the trades that go with them."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from penstock.engines.disk.blobs import DiskBlobs
from penstock.engines.disk.missing import missing
from penstock.engines.disk.moving import DiskMover
from penstock.engines.disk.ours import is_kept
from penstock.engines.disk.walking import DiskFinder
from penstock.engines.git.projects import GitProjects
from penstock.intake.admission import Admission
from penstock.intake.folders import Folders, Grounds
from penstock.intake.moves import Moves
from penstock.model.catalogue import DebtKind
from penstock.model.jobs import Operation
from penstock.model.payloads import ItemType, Library, Rename
from penstock.model.provenance import provenance_of
from penstock.pipeline.build import Builder
from penstock.pipeline.capture import Capturer
from penstock.pipeline.changes import Changes
from penstock.pipeline.ingest import Ingest
from penstock.pipeline.payer import Payer
from penstock.pipeline.payments import Payments
from penstock.pipeline.sweeper import Sweeper
from penstock.pipeline.workshop import Workshop
from penstock.ports.web import Fetcher
from penstock.settings import Settings
from penstock.wiring.collections import reindex_for
from penstock.wiring.models import open_models
from penstock.wiring.parsers import open_parsers
from penstock.wiring.store import Store
from penstock.wiring.vectors import QDRANT, open_projection
from penstock.wiring.watching import folders_of
from penstock.work.breaker import Breakers
from penstock.work.crew import Trade
from penstock.work.handlers import Handlers, Run

EMBEDDER = "the embedding endpoint"
"""The dependency, as its breaker names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """What one worker process runs: handlers for jobs, and the trades that go with them."""

    handlers: Handlers
    trades: tuple[Trade, ...]


@asynccontextmanager
async def open_plant(
    settings: Settings, store: Store, owner: str, breakers: Breakers
) -> AsyncIterator[Plant]:
    """Everything between a job and a searchable document; children and models are gone at the end."""
    async with AsyncExitStack() as stack:
        parser = await stack.enter_async_context(open_parsers(settings))
        guard = breakers.of(EMBEDDER) if settings.embedder.is_url else None
        models = await stack.enter_async_context(open_models(settings, guard))
        keeper = breakers.of(QDRANT) if settings.vectors.is_url else None
        projection = await stack.enter_async_context(open_projection(settings, store.manifest, keeper))
        blobs = DiskBlobs(settings.data / "blobs", is_ours=partial(is_kept, settings.data))
        await blobs.sweep()
        shop = Workshop(
            database=store,
            catalogue=store.catalogue,
            blobs=blobs,
            parser=parser,
            tokenizer=models.tokenizer,
            embedding=models.embedding,
            projection=projection,
            file_bytes_max=settings.limits.file_bytes,
            limits={name: each.limits for name, each in settings.collections.items()},
        )
        yield Plant(
            handlers=handlers_of(settings, store, shop),
            trades=(
                payer_of(settings, store, shop, owner),
                Sweeper(store.catalogue, blobs, store.clock, projection),
            ),
        )


def fetcher_of(settings: Settings, shop: Workshop) -> Fetcher:
    """What fetches by URL, within the limits of the settings."""
    from penstock.engines.web.fetch import FetchLimits, WebFetcher

    given = settings.fetching
    size = min(given.size, settings.limits.file_bytes)
    return WebFetcher(shop.blobs, FetchLimits(size=size, deadline=given.deadline), allowed=given.allowed)


def payer_of(settings: Settings, store: Store, shop: Workshop, owner: str) -> Payer:
    """One who pays every kind of debt."""
    payments = Payments(shop, store.clock)
    moves = Moves(store, store.desk, store.catalogue, DiskMover(), folders_of(settings))
    return Payer(
        store.catalogue,
        owner,
        {
            DebtKind.PURGE_VERSION: payments.purge,
            DebtKind.PURGE_DOCUMENT: payments.purge,
            DebtKind.PURGE_GENERATION: payments.purge,
            DebtKind.PURGE_POINTS: payments.purge_points,
            DebtKind.FREE_BLOB: payments.free_blob,
            DebtKind.REBUILD: payments.rebuild,
            DebtKind.MOVE: moves.pay,
        },
    )


def handlers_of(settings: Settings, store: Store, shop: Workshop) -> Handlers:
    """A handler for every item type and operation of the matrix."""
    changes = Changes(shop)
    ingest = Ingest(shop, Capturer(shop, fetcher_of(settings, shop)), Builder(shop))
    folders = Folders(
        Grounds(
            database=store,
            catalogue=store.catalogue,
            batches=store.batches,
            admission=Admission(store),
            finder=DiskFinder(),
            projects=GitProjects(shutil.which("git")),
            missing=missing,
            ours=folders_of(settings),
            files_max=settings.limits.folder_files,
        )
    )

    async def file(run: Run) -> None:
        """A document by its path; its message may ask to have the whole collection built anew beside."""
        if provenance_of(run.lease.metadata_json).reindex:
            await reindex_for(store, settings, run.lease)
        await ingest.run(run)

    async def library(run: Run) -> None:
        """A folder of documents, or one document by path or URL."""
        source = run.payload.source_path if isinstance(run.payload, Library) else None
        if source is not None and await asyncio.to_thread(Path(source).is_dir):
            await folders.ingest(run)
        else:
            await ingest.run(run)

    async def delete_library(run: Run) -> None:
        """The one document a library is, and all that were taken in with it: it may have been either."""
        await changes.delete(run)
        await folders.delete(run)

    async def rename(run: Run) -> None:
        """A folder's documents one by one, or one document."""
        is_folder = isinstance(run.payload, Rename) and run.payload.is_folder
        await (folders.rename(run) if is_folder else changes.rename(run))

    handlers = Handlers()
    ingests = (Operation.INGEST, Operation.UPDATE)
    handlers.on(ItemType.FILE, *ingests)(file)
    handlers.on(ItemType.CONTENT, *ingests)(ingest.run)
    for item_type in (ItemType.FILE, ItemType.CONTENT):
        handlers.on(item_type, Operation.DELETE)(changes.delete)
    for item_type in (ItemType.FOLDER, ItemType.PROJECT):
        handlers.on(item_type, Operation.INGEST)(folders.ingest)
        handlers.on(item_type, Operation.SCAN)(folders.scan)
        handlers.on(item_type, Operation.DELETE)(folders.delete)
    handlers.on(ItemType.LIBRARY, *ingests)(library)
    handlers.on(ItemType.LIBRARY, Operation.DELETE)(delete_library)
    handlers.on(ItemType.DELETE_DOCUMENT)(changes.delete)
    handlers.on(ItemType.DELETE_TENANT)(changes.delete_tenant)
    handlers.on(ItemType.RENAME)(rename)
    return handlers
