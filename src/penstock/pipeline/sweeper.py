"""The sweeper: now and then, what nobody owes and nobody needs goes.

Debts remove what a change leaves behind. What is left by a crash between two writes has no debt: bytes that
were captured for a document never begun, vectors and parses nothing ever used. They are looked for seldom,
and spared while they are young enough to be somebody's work under way.
"""

from __future__ import annotations

import asyncio
import logging
import random
from functools import partial

from penstock.model.catalogue import BlobId
from penstock.model.errors import Fault
from penstock.model.files import BlobHash
from penstock.pipeline.projection import Projection
from penstock.ports.blobs import Blobs
from penstock.ports.catalogue import Catalogue
from penstock.ports.clock import Clock

log = logging.getLogger("penstock.sweeper")
ROUND_SECONDS = 3600.0
SPARE_SECONDS = 3600.0
PORTION = 500


class Sweeper:
    """One round an hour, in every process at another time."""

    def __init__(
        self, catalogue: Catalogue, blobs: Blobs, clock: Clock, projection: Projection | None = None
    ) -> None:
        self._projection = projection
        self._catalogue = catalogue
        self._blobs = blobs
        self._clock = clock

    async def run(self) -> None:
        """Rest first: a fleet that starts together must not sweep together."""
        while True:
            await asyncio.sleep(ROUND_SECONDS * random.uniform(0.5, 1.5))  # noqa: S311  # spread, not secret
            try:
                await self.look()
            except Fault as fault:
                log.warning("cannot sweep: %s", fault.message)

    async def look(self) -> int:
        """One round; how many things went."""
        gone = await self._blobs.sweep()
        while some := await self._catalogue.sweep(limit=PORTION):
            gone += some
        portion: list[BlobId] = []
        async for blob in self._blobs.all():
            portion.append(BlobId(blob.hash))
            if len(portion) == PORTION:
                gone += await self._free(portion)
                portion = []
        gone += await self._free(portion)
        if self._projection is not None:  # last: it may be out of reach, and the rest is not
            gone += await self._projection.clear()
        if gone:
            log.info("swept %d things nobody needs", gone)
        return gone

    async def _free(self, blobs: list[BlobId]) -> int:
        before = self._clock.now() - SPARE_SECONDS
        unused = await self._catalogue.unused_blobs(blobs)
        return sum(
            [
                await self._blobs.remove(
                    BlobHash(blob), before=before, unless=partial(self._catalogue.blob_in_use, blob)
                )
                for blob in sorted(unused)
            ]
        )
