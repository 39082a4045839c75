"""A collection that is swapped while one of its documents is being built."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from penstock.engines.disk.blobs import DiskBlobs
from penstock.engines.system.clock import SystemClock
from penstock.intake.admission import Admission, Order
from penstock.model.catalogue import LOCAL_TENANT, LOCAL_WORKSPACE, DebtKind
from penstock.model.jobs import WorkerId
from penstock.model.parsed import Parsed
from penstock.pipeline.build import Builder
from penstock.pipeline.capture import Capturer
from penstock.pipeline.ingest import Ingest
from penstock.pipeline.payments import Payments
from penstock.pipeline.workshop import Workshop
from penstock.ports.parser import Parser
from penstock.settings import RecipeChoice, Settings, load
from penstock.wiring.collections import create, known_collection, reindex
from penstock.wiring.models import open_models
from penstock.wiring.parsers import open_parsers
from penstock.wiring.pipeline import fetcher_of
from penstock.wiring.store import Store, open_store
from penstock.work.breaker import BreakerRules, Breakers
from penstock.work.handlers import Run


class Meddling:
    """A parser beside which something happens, the first time."""

    def __init__(self, parser: Parser, happens: Callable[[], Awaitable[None]]) -> None:
        self._parser = parser
        self._happens: Callable[[], Awaitable[None]] | None = happens

    async def parse(self, source: Path, name: str, *, lenient: bool = False) -> Parsed:
        parsed = await self._parser.parse(source, name, lenient=lenient)
        happens, self._happens = self._happens, None
        if happens is not None:
            await happens()
        return parsed


async def swapped(store: Store, settings: Settings, payments: Payments) -> None:
    """Reindexed, swapped, and the old generation purged to its last row."""
    await reindex(store, settings, await known_collection(store, settings, "notes"))
    for kind, pay in ((DebtKind.REBUILD, payments.rebuild), (DebtKind.PURGE_GENERATION, payments.purge)):
        for debt in await store.catalogue.take_debts([kind], "by-hand"):
            while not await pay(debt):
                pass


async def test_a_document_outlives_the_swap_of_its_collection(tmp_path: Path) -> None:
    """K13: its version is begun again for the generation that answers now, and readers see it there."""
    paper = tmp_path / "paper.txt"
    paper.write_text("The notice period is thirty days.")
    settings = load(None, {}, {"data": str(tmp_path / "data")})
    async with (
        open_store(settings) as store,
        open_parsers(settings) as parser,
        open_models(settings, None) as models,
    ):
        await create(store, settings, "notes", description="", choice=RecipeChoice())
        shop = Workshop(
            database=store,
            catalogue=store.catalogue,
            blobs=DiskBlobs(settings.data / "blobs"),
            parser=Meddling(parser, lambda: swapped(store, settings, payments)),
            tokenizer=models.tokenizer,
            embedding=models.embedding,
            file_bytes_max=1 << 20,
        )
        payments = Payments(shop, store.clock)
        before = await known_collection(store, settings, "notes")
        order = Order(tenant=LOCAL_TENANT, collection="notes", priority=5)
        (admitted,) = await Admission(store).files(order, [str(paper)])
        assert admitted.document is not None
        (lease,) = await store.queue.claim(WorkerId("w"), 1)
        clock = SystemClock()
        run = Run(lease, store.queue, clock, Breakers(clock, BreakerRules()))
        ingest = Ingest(shop, Capturer(shop, fetcher_of(settings, shop)), Builder(shop))

        await ingest.run(run)

        after = await known_collection(store, settings, "notes")
        document = await store.catalogue.document(LOCAL_WORKSPACE, admitted.document)
    assert after.generation != before.generation
    assert after.building is None
    assert document is not None
    assert (document.state, document.chunks) == ("ingested", 1)
