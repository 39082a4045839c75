"""What goes with a tenant: its documents, and with a workspace's own tenant what was said there."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.model.catalogue import LOCAL_TENANT, LOCAL_WORKSPACE, DocumentState
from penstock.model.jobs import NewJob, Operation, TenantId, WorkerId
from penstock.model.payloads import DeleteTenant
from penstock.pipeline import changes
from penstock.pipeline.changes import Changes
from penstock.settings import load
from penstock.wiring.store import open_store
from tests.support.cataloguing import ingested
from tests.support.workshops import a_workshop

PROJECT = TenantId("project")


@pytest.mark.parametrize(("tenant", "left"), [(LOCAL_TENANT, 0), (PROJECT, 3)], ids=["own", "project"])
async def test_conversations_go_with_the_workspaces_own_tenant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tenant: TenantId, left: int
) -> None:
    """A project of the workspace takes its documents with it, and nothing else."""
    monkeypatch.setattr(changes, "TALKS", 1)
    async with open_store(load(None, {"PENSTOCK_DATA": str(tmp_path)}, {})) as store:
        await ingested(store, tenant=tenant)
        for _ in range(3):
            await store.write(lambda tx: tx.conversations.open(LOCAL_WORKSPACE))
        job = NewJob(
            tenant=tenant,
            collection="all",
            payload=DeleteTenant(tenant_id_to_delete=tenant),
            op=Operation.DELETE,
        )
        await store.write(lambda tx: tx.submit([job]))
        (lease,) = await store.queue.claim(WorkerId("w"), 1)
        shop = a_workshop(store)
        told: list[int] = []

        async def progress(done: int, total: int | None = None) -> None:
            told.append(done)

        attempt: Any = SimpleNamespace(lease=lease, progress=progress)
        await Changes(shop).delete_tenant(attempt)

        documents = await store.catalogue.documents(LOCAL_WORKSPACE, state=DocumentState.INGESTED)
        talks = await store.transcript.conversations(LOCAL_WORKSPACE)

    assert documents == []
    assert len(talks) == left
