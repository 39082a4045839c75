"""Bytes of uploads as they arrive.

A request may bring many files and take hours. The first one's bytes must be there when the last one's are,
and until then no document needs them: so they are held. A request that breaks off lets go of what it held;
of one that dies, the sweeper does, a day later.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from types import TracebackType

from penstock.model.catalogue import BlobId, HoldId
from penstock.model.errors import Fault, Refused
from penstock.model.uploads import Uploaded, upload_name
from penstock.ports.blobs import Blobs
from penstock.ports.database import Database, Transaction

HOLD_SECONDS = 24 * 3600.0


class Arrivals:
    """Keeps what one request sends; what it does not come to take in, it lets go."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._database = database
        self._blobs = blobs
        self._holds: list[HoldId] = []

    async def __aenter__(self) -> Arrivals:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and self._holds:
            with suppress(Fault):  # the sweeper does it later
                await self._database.write(self._let_go)

    async def keep(self, pieces: AsyncIterator[bytes], *, name: str, limit: int) -> Uploaded:
        """Keep a file of at most so many bytes until it is taken in."""
        shown = upload_name(name)
        blob = await self._blobs.put_stream(pieces, limit=limit)
        if not blob.size:
            raise Refused(f"{shown} is empty", code="ERR_FILE_EMPTY")
        digest = BlobId(blob.hash)
        hold = await self._database.write(lambda tx: tx.kept.hold_meanwhile(digest, seconds=HOLD_SECONDS))
        self._holds.append(hold)
        return Uploaded(blob=digest, size=blob.size, name=shown, hold=hold)

    def _let_go(self, tx: Transaction) -> None:
        for hold in self._holds:
            tx.kept.let_go(hold)
