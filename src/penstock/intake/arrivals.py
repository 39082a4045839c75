"""Bytes of uploads as they arrive.

A request may bring many files and take hours. The first one's bytes must be there when the last one's are,
and until then no document needs them: so they are held. A request that breaks off lets go of what it held;
of one that dies, the sweeper does, a day later.

Each file is an upload its owner can watch: begun before its first byte, ended in the transaction that takes
it in. How far it is, is said twice a second by one task for all requests of a process.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from types import TracebackType

from penstock.model.catalogue import BlobId, HoldId, WorkspaceId
from penstock.model.errors import ErrorReport, Fault, Refused, report_of
from penstock.model.uploads import Uploaded, UploadId, upload_name
from penstock.ports.blobs import Blobs
from penstock.ports.database import Database, Transaction
from penstock.ports.uploads import Reception

log = logging.getLogger("penstock.uploads")
HOLD_SECONDS = 24 * 3600.0
RENEW_SECONDS = 0.5


class Counting:
    """How much of each upload of this process has come."""

    def __init__(self, reception: Reception) -> None:
        self._reception = reception
        self._arrived: dict[UploadId, int] = {}

    async def counted(self, upload: UploadId, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The pieces, counted."""
        self._arrived[upload] = 0
        async for piece in pieces:
            self._arrived[upload] += len(piece)
            yield piece

    async def arriving(self, workspace: WorkspaceId) -> int:
        """How many bytes of a workspace are on their way, by whatever process they come.

        Those of this one are counted to the byte, those of others as they last said.
        """
        said = await self._reception.arriving(workspace)
        return sum(max(done, self._arrived.get(upload, 0)) for upload, done in said.items())

    def forget(self, upload: UploadId) -> None:
        """It has ended."""
        self._arrived.pop(upload, None)

    async def run(self) -> None:
        """Say it, as long as there is something to say."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            await self.look()

    async def look(self) -> None:
        """One round."""
        if self._arrived:
            try:
                await self._reception.renew(self._arrived.copy())
            except Fault as fault:
                log.warning("cannot say how far uploads are: %s", fault.message)


class Arrivals:
    """Keeps what one request sends; what it does not come to take in, it lets go."""

    def __init__(
        self,
        database: Database,
        blobs: Blobs,
        workspace: WorkspaceId,
        counting: Counting,
        report: Callable[[BaseException], ErrorReport] = report_of,
    ) -> None:
        """`report` says why a request broke off, in words for whoever watches."""
        self._database = database
        self._blobs = blobs
        self._workspace = workspace
        self._counting = counting
        self._report = report
        self._holds: list[HoldId] = []
        self._uploads: dict[UploadId, int] = {}

    async def __aenter__(self) -> Arrivals:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and self._uploads:
            told = self._report(error)
            with suppress(Fault):  # the sweeper and the healer do it later
                await self._database.write(lambda tx: self._give_up(tx, told))
        for upload in self._uploads:
            self._counting.forget(upload)

    async def keep(
        self, pieces: AsyncIterator[bytes], *, name: str, limit: int, total: int | None = None
    ) -> Uploaded:
        """Keep a file of at most so many bytes until it is taken in."""
        shown = upload_name(name)
        upload = await self._database.write(
            lambda tx: tx.uploads.begin(self._workspace, name=shown, total=total)
        )
        self._uploads[upload] = 0
        async with self._blobs.claiming():  # until they are held
            blob = await self._blobs.put_stream(self._counting.counted(upload, pieces), limit=limit)
            if not blob.size:
                raise Refused(f"{shown} is empty", code="ERR_FILE_EMPTY")
            digest = BlobId(blob.hash)
            hold = await self._database.write(lambda tx: tx.kept.hold_meanwhile(digest, seconds=HOLD_SECONDS))
        self._holds.append(hold)
        self._uploads[upload] = blob.size
        return Uploaded(blob=digest, size=blob.size, name=shown, hold=hold, upload=upload)

    def let_go(self, tx: Transaction) -> None:
        """An earlier request has brought all of it already."""
        self._free(tx)
        for upload, size in self._uploads.items():
            tx.uploads.complete(upload, done=size, document=None)

    def _give_up(self, tx: Transaction, error: ErrorReport) -> None:
        self._free(tx)
        for upload in self._uploads:
            tx.uploads.fail(upload, error)

    def _free(self, tx: Transaction) -> None:
        for hold in self._holds:
            tx.kept.let_go(hold)
