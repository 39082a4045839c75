"""What nobody owes and nobody needs goes, once it is old enough to be nobody's work."""

import os
import time
from pathlib import Path

from penstock.engines.disk import DiskBlobs
from penstock.engines.sqlite import open_sqlite
from penstock.model.catalogue import LOCAL_TENANT, LOCAL_WORKSPACE, BlobId, NewDocument, Source
from penstock.model.rules import Rules
from penstock.pipeline.sweeper import SPARE_SECONDS, Sweeper
from penstock.ports.database import Transaction
from tests.support.clock import FakeClock


async def test_only_old_bytes_nobody_needs_are_swept(tmp_path: Path) -> None:
    """A blob of a version stays, a young one stays, an old one without a version goes."""
    clock = FakeClock(time.time())
    blobs = DiskBlobs(tmp_path / "blobs")
    used, young, old = [await blobs.put_bytes(name) for name in (b"used", b"young", b"old")]
    long_ago = clock.now() - 2 * SPARE_SECONDS
    for blob in (used, old):
        async with blobs.path_of(blob.hash) as path:
            os.utime(path, (long_ago, long_ago))
    store = await open_sqlite(tmp_path, rules=Rules(), clock=clock)

    def begin(tx: Transaction) -> None:
        shelf = tx.shelves.declare(LOCAL_WORKSPACE, "c", recipe_json="{}")
        new = NewDocument(
            tenant=LOCAL_TENANT, collection=shelf.id, source=Source.FILE, identity="/used", name="used"
        )
        tx.documents.begin(tx.documents.admit(new).id, shelf.generation, BlobId(used.hash), used.size)

    try:
        await store.write(begin)
        gone = await Sweeper(store.catalogue, blobs, clock).look()
    finally:
        await store.close()

    assert gone == 1
    assert [blob.hash async for blob in blobs.all()] == sorted([used.hash, young.hash])
