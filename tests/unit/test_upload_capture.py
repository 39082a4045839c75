"""Which bytes a job about an upload may read: its own tenant's, or those it brought itself."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.engines.disk import DiskBlobs
from penstock.intake.admission import Admission, Admitted, Order, admit_deletion
from penstock.model.catalogue import LOCAL_TENANT, LOCAL_WORKSPACE, BlobId, DebtKind, Source
from penstock.model.collections import CollectionLimits
from penstock.model.errors import Broken, Refused
from penstock.model.jobs import NewJob, Operation, TenantId, WorkerId
from penstock.model.options import Options, options_of
from penstock.model.payloads import File, Payload, Rename
from penstock.model.uploads import Uploaded, upload_path
from penstock.pipeline.build import Builder
from penstock.pipeline.capture import Captured, Capturer
from penstock.pipeline.changes import Changes
from penstock.settings import load
from penstock.wiring.store import Store, open_store
from tests.support.cataloguing import declared, pay_purges
from tests.support.workshops import UNUSED, a_workshop

TEXT = b"the canary sings at four"
STRANGER = TenantId("stranger")


class Yard:
    """A store, bytes, and a worker that only takes."""

    def __init__(self, store: Store, blobs: DiskBlobs) -> None:
        self.store = store
        self.blobs = blobs
        self.shop = a_workshop(store, blobs, limits={"small": CollectionLimits(file_bytes=10)})

    async def upload(self, collection: str = "notes", name: str = "canary.txt") -> tuple[BlobId, Admitted]:
        await self.store.write(lambda tx: declared(tx, collection, LOCAL_TENANT))
        blob = await self.blobs.put_bytes(TEXT)
        order = Order(tenant=LOCAL_TENANT, collection=collection, priority=5)
        sent = Uploaded(blob=BlobId(blob.hash), size=blob.size, name=name)
        (admitted,) = await Admission(self.store).uploads(order, [sent])
        return sent.blob, admitted

    async def submit(self, payload: Payload, tenant: TenantId = LOCAL_TENANT, **chosen: Any) -> None:
        """A job as a foreign program writes it."""
        await self.store.write(lambda tx: declared(tx, "notes", tenant))
        job = NewJob(tenant=tenant, collection="notes", payload=payload, **chosen)
        await self.store.write(lambda tx: tx.submit([job]))

    async def capture(self, options: Options | None = None) -> Captured | None:
        (lease,) = await self.store.queue.claim(WorkerId("w"), 1)
        capturer = Capturer(self.shop, UNUSED)
        return await capturer.capture(lease, options or options_of(lease.metadata_json))


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    async with _opened(tmp_path) as yard:
        yield yard


@asynccontextmanager
async def _opened(top: Path) -> AsyncIterator[Yard]:
    async with open_store(load(None, {"PENSTOCK_DATA": str(top)}, {})) as store:
        yield Yard(store, DiskBlobs(top / "blobs"))


async def test_an_uploads_bytes_are_read_by_its_own_job(yard: Yard) -> None:
    """They are known by their hash and called what they were sent as."""
    blob, _ = await yard.upload()

    captured = await yard.capture()

    assert captured == Captured(
        blob=blob, size=len(TEXT), source=Source.UPLOAD, identity=upload_path(blob), name="canary.txt"
    )


@pytest.mark.parametrize("with_document", [False, True], ids=["by path", "by path and foreign id"])
async def test_a_row_that_names_another_tenants_bytes_gets_nothing(yard: Yard, with_document: bool) -> None:
    """The hash of somebody's bytes, or the id of his document, is no right to read them."""
    blob, admitted = await yard.upload()
    await yard.capture()
    named = {"document_id": admitted.document} if with_document else {}
    await yard.submit(File(file_path=upload_path(blob)), STRANGER, **named)

    with pytest.raises(Refused) as caught:
        await yard.capture()

    assert caught.value.code == "ERR_BLOB_MISSING"
    assert blob not in caught.value.message


async def test_a_document_cannot_be_renamed_to_somebodys_bytes(yard: Yard) -> None:
    """Else the next rebuild would read them."""
    blob, _ = await yard.upload()
    await yard.capture()
    await yard.submit(Rename(old_path="/a.txt", new_path=upload_path(blob)), STRANGER, op=Operation.UPDATE)
    (lease,) = await yard.store.queue.claim(WorkerId("w"), 1)
    attempt: Any = SimpleNamespace(lease=lease)

    with pytest.raises(Refused) as caught:
        await Changes(yard.shop).rename(attempt)

    assert caught.value.code == "ERR_PATH_INVALID"


async def test_an_upload_after_a_delete_is_read_though_its_document_is_gone(yard: Yard) -> None:
    """The delete was accepted before; the bytes that came after it are the job's own."""
    blob, admitted = await yard.upload()
    document = admitted.document
    assert document is not None
    await yard.store.write(lambda tx: tx.documents.hide(document))
    await pay_purges(yard.store.catalogue)

    captured = await yard.capture()

    assert captured is not None
    assert (captured.blob, captured.name) == (blob, "canary.txt")
    assert not await yard.store.catalogue.take_debts([DebtKind.FREE_BLOB], "payer") or (
        await yard.store.catalogue.blob_in_use(blob)
    )


async def test_a_rebuild_reads_an_upload_that_never_got_a_version(yard: Yard) -> None:
    """Its identity names the bytes, so they are found whatever became of its versions."""
    blob, _ = await yard.upload()

    captured = await yard.capture(Options(reindex=True))

    assert captured is not None
    assert captured.blob == blob


async def test_a_collections_limit_holds_for_uploads(yard: Yard) -> None:
    """Also where a door forgot to ask."""
    await yard.upload("small")

    with pytest.raises(Refused) as caught:
        await yard.capture()

    assert caught.value.code == "ERR_FILE_TOO_LARGE"


async def test_bytes_that_are_gone_are_told(yard: Yard) -> None:
    """B7: a document is not quietly deleted because its bytes are."""
    blob, _ = await yard.upload()
    await yard.blobs.remove((await yard.blobs.put_bytes(TEXT)).hash)

    with pytest.raises(Broken) as caught:
        await yard.capture()

    assert caught.value.code == "ERR_BLOB_MISSING"
    assert await yard.store.catalogue.blob_in_use(blob)


async def test_an_upload_deleted_while_it_is_read_does_not_come_back(yard: Yard) -> None:
    """Its job was told to end: it admits no other document in place of the one that is gone."""
    _, admitted = await yard.upload()
    (lease,) = await yard.store.queue.claim(WorkerId("w"), 1)
    captured = await Capturer(yard.shop, UNUSED).capture(lease, Options())
    assert captured is not None
    (document,) = await yard.store.catalogue.documents(LOCAL_WORKSPACE)
    order = Order(tenant=LOCAL_TENANT, collection="notes", priority=5)
    await yard.store.write(lambda tx: admit_deletion(tx, order, document))
    attempt: Any = SimpleNamespace(lease=lease)

    with pytest.raises(Refused) as caught:
        await Builder(yard.shop).build(attempt, captured, Options())

    assert caught.value.code == "ERR_SUPERSEDED"
    assert await yard.store.catalogue.documents(LOCAL_WORKSPACE) == []
    assert admitted.document == document.id
