"""A document while it is being built: its collection is swapped, and its progress is told."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from penstock.engines.disk.blobs import DiskBlobs
from penstock.engines.minilm.embedder import BATCH
from penstock.engines.system.clock import SystemClock
from penstock.intake.admission import Admission, Order
from penstock.model.catalogue import LOCAL_TENANT, LOCAL_WORKSPACE, DebtKind, Document
from penstock.model.jobs import WorkerId
from penstock.model.parsed import Parsed
from penstock.pipeline.build import Builder
from penstock.pipeline.capture import Capturer
from penstock.pipeline.embed import EmbeddingDesk
from penstock.pipeline.ingest import Ingest
from penstock.pipeline.payments import Payments
from penstock.pipeline.workshop import Workshop
from penstock.ports.parser import Parser
from penstock.settings import RecipeChoice, Settings, load
from penstock.wiring.collections import create, known_collection, reindex
from penstock.wiring.models import Models, open_models
from penstock.wiring.parsers import open_parsers
from penstock.wiring.pipeline import fetcher_of
from penstock.wiring.store import Store, open_store
from penstock.work.breaker import BreakerRules, Breakers
from penstock.work.handlers import Run
from tests.support.ingested import by_hand


class Meddling:
    """A parser beside which something happens, the first time."""

    def __init__(self, parser: Parser, happens: Callable[[], Awaitable[None]]) -> None:
        self._parser = parser
        self._happens: Callable[[], Awaitable[None]] | None = happens

    async def parse(self, source: Path, name: str, **how: Any) -> Parsed:
        parsed = await self._parser.parse(source, name, **how)
        happens, self._happens = self._happens, None
        if happens is not None:
            await happens()
        return parsed


class Purged:
    """A catalogue of which a purge takes vectors right after they were found to be there, the first times."""

    def __init__(self, store: Store, data: Path, *, times: int) -> None:
        self._store = store
        self._data = data
        self._times = times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store.catalogue, name)

    async def known_vectors(self, model: str, keys: Sequence[bytes]) -> set[bytes]:
        known = await self._store.catalogue.known_vectors(model, keys)
        if known and self._times:
            self._times -= 1
            by_hand(self._data, "DELETE FROM embeddings WHERE embedding_id % 2")
        return known


async def swapped(store: Store, settings: Settings, payments: Payments) -> None:
    """Reindexed, swapped, and the old generation purged to its last row."""
    await reindex(store, settings, await known_collection(store, settings, "notes"))
    for kind, pay in ((DebtKind.REBUILD, payments.rebuild), (DebtKind.PURGE_GENERATION, payments.purge)):
        for debt in await store.catalogue.take_debts([kind], "by-hand"):
            while not await pay(debt):
                pass


class Watched(Run):
    """An attempt that remembers how far it was told to be."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.told: list[tuple[int, int | None]] = []

    async def progress(self, done: int, total: int | None = None, *, chunks: int = 0) -> None:
        self.told.append((done, total))
        await super().progress(done, total, chunks=chunks)


@dataclass(kw_only=True)
class Site:
    """A store with a collection of notes, and a document of it to be built."""

    store: Store
    settings: Settings
    parser: Parser
    models: Models
    paper: Path

    def shop(self, parser: Parser) -> Workshop:
        return Workshop(
            database=self.store,
            catalogue=self.store.catalogue,
            blobs=DiskBlobs(self.settings.data / "blobs"),
            parser=parser,
            tokenizer=self.models.tokenizer,
            embedding=self.models.embedding,
            file_bytes_max=1 << 20,
        )

    async def build(self, shop: Workshop) -> tuple[Document, Watched]:
        """Submit the paper, claim its job and run it."""
        order = Order(tenant=LOCAL_TENANT, collection="notes", priority=5)
        (admitted,) = await Admission(self.store).files(order, [str(self.paper)])
        assert admitted.document is not None
        (lease,) = await self.store.queue.claim(WorkerId("w"), 1)
        clock = SystemClock()
        run = Watched(lease, self.store.queue, clock, Breakers(clock, BreakerRules()))
        await Ingest(shop, Capturer(shop, fetcher_of(self.settings, shop)), Builder(shop)).run(run)
        document = await self.store.catalogue.document(LOCAL_WORKSPACE, admitted.document)
        assert document is not None
        return document, run


@asynccontextmanager
async def a_site(folder: Path, text: str) -> AsyncIterator[Site]:
    paper = folder / "paper.txt"
    paper.write_text(text)
    settings = load(None, {}, {"data": str(folder / "data")})
    async with (
        open_store(settings) as store,
        open_parsers(settings) as parser,
        open_models(settings, None) as models,
    ):
        await create(store, settings, "notes", description="", choice=RecipeChoice())
        yield Site(store=store, settings=settings, parser=parser, models=models, paper=paper)


async def test_a_document_outlives_the_swap_of_its_collection(tmp_path: Path) -> None:
    """K13: its version is begun again for the generation that answers now, and readers see it there."""
    async with a_site(tmp_path, "The notice period is thirty days.") as site:
        store, settings = site.store, site.settings
        shop = site.shop(Meddling(site.parser, lambda: swapped(store, settings, payments)))
        payments = Payments(shop, store.clock)
        before = await known_collection(store, settings, "notes")

        document, _ = await site.build(shop)

        after = await known_collection(store, settings, "notes")
    assert after.generation != before.generation
    assert after.building is None
    assert (document.state, document.chunks) == ("ingested", 1)


async def test_vectors_purged_meanwhile_are_embedded_again(tmp_path: Path) -> None:
    """Equal bytes handed in while the purge of a deleted document takes their vectors cost no attempt."""
    text = "\n\n".join(f"Paragraph {number} tells of a key. {'It hangs. ' * 60}" for number in range(6))
    async with a_site(tmp_path, text) as site:
        first, _ = await site.build(site.shop(site.parser))
        await site.store.write(lambda tx: tx.documents.hide(first.id))
        site.paper = site.paper.rename(tmp_path / "again.txt")
        shop = replace(site.shop(site.parser), catalogue=Purged(site.store, site.settings.data, times=1))

        again, _ = await site.build(shop)

    assert first.chunks > 1
    assert (again.state, again.chunks) == ("ingested", first.chunks)


class Noting:
    """A database that notes which of its callers are patient."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.patient: list[bool] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def write(self, work: Any, *, timeout: float | None = None, patient: bool = False) -> Any:
        self.patient.append(patient)
        return await self._store.write(work, timeout=timeout, patient=patient)


class Crowd(EmbeddingDesk):
    """Of whose model more is asked than it works on, always."""

    is_crowded = True


@pytest.mark.parametrize("is_crowded", [False, True])
async def test_writes_wait_for_company_in_a_crowd_alone(tmp_path: Path, is_crowded: bool) -> None:
    """Whoever is alone would wait for nobody."""
    async with a_site(tmp_path, "The notice period is thirty days.") as site:
        database = Noting(site.store)
        desk = Crowd(site.models.embedding._embedder) if is_crowded else site.models.embedding
        document, _ = await site.build(replace(site.shop(site.parser), database=database, embedding=desk))

    assert document.state == "ingested"
    assert set(database.patient) == {is_crowded}


async def test_progress_is_told_while_chunks_are_embedded(tmp_path: Path) -> None:
    """After each batch, not only after hundreds of chunks; it goes forward, and never beyond the end."""
    text = "\n\n".join(
        f"Paragraph {number} is about a key. {'It hangs there. ' * 30}" for number in range(40)
    )
    async with a_site(tmp_path, text) as site:
        document, run = await site.build(site.shop(site.parser))

    assert document.chunks > BATCH
    places = [done for done, _ in run.told]
    assert len(places) >= (document.chunks - 1) // BATCH
    assert places == sorted(places)
    assert 0 < places[0] <= places[-1] < len(text)
    assert len({total for _, total in run.told}) == 1
