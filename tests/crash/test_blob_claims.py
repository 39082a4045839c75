"""Bytes whose reference is committed late, while another process frees the same bytes."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from penstock.engines.disk import DiskBlobs
from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.catalogue import BlobId, DebtKind, NewDebt
from penstock.model.files import BlobHash
from penstock.model.rules import Rules
from penstock.pipeline.payer import Later
from penstock.pipeline.payments import Payments
from penstock.pipeline.sweeper import Sweeper
from tests.support.clock import FakeClock
from tests.support.late_sender import TEXT

TOP = Path(__file__).resolve().parents[2]
LATE_SECONDS = 7200.0
"""Later than anybody spares bytes for being young."""


class Bench:
    """A payer and a sweeper to whom everything is old."""

    def __init__(self, store: SqliteStore, blobs: DiskBlobs) -> None:
        self.store, self.blobs = store, blobs
        clock = FakeClock(time.time() + LATE_SECONDS)
        self._payments = Payments(_Shop(store, blobs), clock)  # type: ignore[arg-type]  # what it needs here
        self._sweeper = Sweeper(store.catalogue, blobs, clock)

    async def free(self, blob: BlobHash) -> bool:
        """Pay the debt of bytes that nobody may need; False if it is put off."""
        await self.store.write(lambda tx: tx.debts.owe(NewDebt(kind=DebtKind.FREE_BLOB, about=blob)))
        (debt,) = await self.store.catalogue.take_debts([DebtKind.FREE_BLOB], "payer")
        try:
            return await self._payments.free_blob(debt)
        except Later:
            await self.store.write(lambda tx: tx.debts.paid(debt))
            return False
        finally:
            await self._sweeper.look()


class _Shop:
    def __init__(self, store: SqliteStore, blobs: DiskBlobs) -> None:
        self.database, self.catalogue, self.blobs = store, store.catalogue, blobs


@contextmanager
def sender(folder: Path, times: int = 1) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.late_sender", str(folder), str(times)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=TOP,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("there_before", [False, True], ids=["new", "known"])
@pytest.mark.parametrize("killed", [False, True], ids=["held", "killed"])
async def test_bytes_held_late_are_not_freed_before(tmp_path: Path, there_before: bool, killed: bool) -> None:
    """However long the commit takes; a sender that dies before it lets go of them."""
    store = await open_sqlite(tmp_path, rules=Rules(), clock=SystemClock(), synchronous="normal")
    bench = Bench(store, DiskBlobs(tmp_path / "blobs"))
    if there_before:
        await bench.blobs.put_bytes(TEXT)
    with sender(tmp_path) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert await asyncio.to_thread(process.stdout.readline) == "put\n"
        (blob,) = [each async for each in bench.blobs.all()]

        assert not await bench.free(blob.hash)
        assert await bench.blobs.verify(blob.hash) == blob

        if killed:
            process.kill()
            process.wait()
        else:
            process.stdin.write("\n")
            process.stdin.flush()
            assert await asyncio.to_thread(process.stdout.readline) == "held\n"
        assert await bench.free(blob.hash)
    left = [each async for each in bench.blobs.all()]
    assert left == ([] if killed else [blob])
    assert await store.catalogue.blob_in_use(BlobId(blob.hash)) is not killed
    await store.close()


async def test_holding_and_freeing_the_same_bytes_at_once_loses_nothing(tmp_path: Path) -> None:
    """Two senders hold, find and let go of the same bytes again and again while others free them."""
    store = await open_sqlite(tmp_path, rules=Rules(), clock=SystemClock(), synchronous="normal")
    bench = Bench(store, DiskBlobs(tmp_path / "blobs"))
    blob = await bench.blobs.put_bytes(TEXT)
    with sender(tmp_path, 60) as one, sender(tmp_path, 60) as other:
        freed = 0
        while one.poll() is None or other.poll() is None:
            freed += await bench.free(blob.hash)
        assert [each.stdout.read() for each in (one, other) if each.stdout] == ["held\n"] * 2
    assert freed
    await store.close()
