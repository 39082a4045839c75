"""Ingesting: a job about a file, a text or a library's document, from its bytes to the flip."""

from __future__ import annotations

from penstock.model.catalogue import StageKind
from penstock.model.errors import Fault
from penstock.model.jobs import Lease
from penstock.model.options import options_of
from penstock.pipeline.build import Builder
from penstock.pipeline.capture import Capturer
from penstock.pipeline.changes import hide, named
from penstock.pipeline.workshop import Workshop
from penstock.ports.attempt import Attempt
from penstock.ports.database import Transaction


class Ingest:
    """Serves `ingest` and `update`, which are one thing: what is there now becomes what is searched."""

    def __init__(self, shop: Workshop, capturer: Capturer, builder: Builder) -> None:
        self._shop = shop
        self._capturer = capturer
        self._builder = builder

    async def run(self, attempt: Attempt) -> None:
        """Until readers see the document's bytes of now, or no longer see a document that is gone."""
        lease, options = attempt.lease, options_of(attempt.lease.metadata_json)
        if lease.delete_first:
            await self._shop.write(lease, lambda tx: hide(tx, lease))
        if lease.attempt > 1:
            await self._attach(lease)
        async with self._shop.blobs.claiming():  # until a version refers to them
            try:
                captured = await self._capturer.capture(lease, options)
            except Fault:
                await self._attach(lease)  # so late, for hardly any job needs it
                raise
            if captured is None:
                await self._shop.write(lease, lambda tx: hide(tx, lease))
            else:
                await self._builder.build(attempt, captured, options)

    async def _attach(self, lease: Lease) -> None:
        """A job that came by another way than ours, about a document we know, shows its fate there too."""
        if await self._shop.catalogue.stages_of_job(lease.job_id):
            return

        def attach(tx: Transaction) -> None:
            document = named(tx, lease)
            if document is not None and not document.hidden:
                tx.stages.begin(lease, document.id, StageKind.PARSE)

        await self._shop.write(lease, attach)
