"""Ingesting: a job about a file, a text or a library's document, from its bytes to the flip."""

from __future__ import annotations

from penstock.model.options import options_of
from penstock.pipeline.build import Builder
from penstock.pipeline.capture import Capturer
from penstock.pipeline.changes import hide
from penstock.pipeline.workshop import Workshop
from penstock.ports.attempt import Attempt


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
        captured = await self._capturer.capture(lease, options)
        if captured is None:
            await self._shop.write(lease, lambda tx: hide(tx, lease))
        else:
            await self._builder.build(attempt, captured, options)
