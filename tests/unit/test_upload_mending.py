"""`fsck` mends uploads of any workspace: from their kept bytes, for the tenant they belong to."""

import sqlite3
from pathlib import Path

from penstock.engines.disk import DiskBlobs
from penstock.intake.admission import Admission, Order
from penstock.model.accounts import Workspace
from penstock.model.catalogue import BlobId
from penstock.model.diagnosis import Flaw
from penstock.model.uploads import Uploaded
from penstock.ports.database import Transaction
from penstock.ports.desk import Wanted
from penstock.settings import load
from penstock.wiring.fsck import Audit
from penstock.wiring.store import open_store
from tests.support.cataloguing import RECIPE

USER = "00000000-0000-4000-8000-00000000000a"


def _workspace(tx: Transaction) -> Workspace:
    tx.accounts.sign_in(USER)
    workspace = tx.accounts.open(USER, "Research")
    tx.shelves.declare(workspace.id, "notes", recipe_json=RECIPE)
    return workspace


async def test_an_upload_without_a_job_gets_one(tmp_path: Path) -> None:
    """Its bytes are needed, and it is built anew from them."""
    settings = load(None, {"PENSTOCK_DATA": str(tmp_path)}, {})
    blobs = DiskBlobs(tmp_path / "blobs")
    async with open_store(settings) as store:
        workspace = await store.write(_workspace)
        blob = await blobs.put_bytes(b"some text")
        sent = Uploaded(blob=BlobId(blob.hash), size=blob.size, name="a.txt")
        order = Order(tenant=workspace.tenant, collection="notes", priority=5)
        (admitted,) = await Admission(store).uploads(order, [sent])
        await store.desk.cancel([admitted.job])
        with sqlite3.connect(tmp_path / "penstock.db") as db:
            db.execute("UPDATE documents SET state = 'pending'")
        db.close()

        audit = Audit(store, settings)
        found = await audit.flaws()
        mended = await audit.mend(found)
        (job, _) = await store.desk.jobs(Wanted(tenants=[workspace.tenant]))
        await blobs.remove(blob.hash)
        missing = await audit.flaws()

    assert ([each.flaw for each in found], mended) == ([Flaw.DOCUMENT_WAITING], [True])
    assert job.document_id == admitted.document
    assert [(each.flaw, each.document) for each in missing] == [(Flaw.BLOB_MISSING, admitted.document)]
