"""`python -m tests.support.late_sender DATA TIMES`: a process that receives the same bytes so many times.

Once: it says "put" before it commits that they are held, and goes on when it is told to. More often: it goes
on by itself, looks each time whether the bytes are there once they are held, and lets go of them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TypeVar

from penstock.engines.disk import DiskBlobs
from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.intake.arrivals import Arrivals, Counting
from penstock.model.catalogue import LOCAL_WORKSPACE
from penstock.model.rules import Rules
from penstock.model.uploads import Uploaded
from penstock.ports.database import Transaction

T = TypeVar("T")
TEXT = b"water under the bridge"


class Late:
    """A database that holds what is sent only when it is told to."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._writes = 0

    async def write(self, work: Callable[[Transaction], T]) -> T:
        self._writes += 1
        if self._writes == 2:  # the first one tells that the upload begins
            print("put", flush=True)
            await asyncio.to_thread(sys.stdin.readline)
        return await self._store.write(work)


async def pieces() -> AsyncIterator[bytes]:
    yield TEXT


async def main(folder: Path, times: int) -> None:
    store = await open_sqlite(folder, rules=Rules(), clock=SystemClock(), synchronous="normal")
    database = Late(store) if times == 1 else store
    blobs = DiskBlobs(folder / "blobs")
    arrivals = Arrivals(database, blobs, LOCAL_WORKSPACE, Counting(store.reception))  # type: ignore[arg-type]
    for _ in range(times):
        sent = await arrivals.keep(pieces(), name="a.txt", limit=100)
        assert (folder / "blobs" / sent.blob[:2] / sent.blob[2:]).read_bytes() == TEXT
        if times > 1:
            await let_go(store, sent)
    print("held", flush=True)
    await store.close()


async def let_go(store: SqliteStore, sent: Uploaded) -> None:
    assert sent.hold is not None
    hold = sent.hold
    await store.write(lambda tx: tx.kept.let_go(hold))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
