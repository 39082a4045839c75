"""What goes with a tenant: its documents, and with a workspace's own tenant what was said there."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.model.catalogue import LOCAL_TENANT, LOCAL_WORKSPACE, DocumentState, WorkspaceId
from penstock.model.conversations import ConversationId
from penstock.model.jobs import NewJob, Operation, TenantId, WorkerId
from penstock.model.payloads import DeleteTenant
from penstock.pipeline import changes
from penstock.pipeline.changes import Changes
from penstock.ports.database import Transaction
from penstock.settings import load
from penstock.wiring.store import Store, open_store
from tests.support.cataloguing import ingested
from tests.support.live import a_user
from tests.support.workshops import a_workshop

PROJECT = TenantId("project")


async def run(store: Store) -> None:
    """Do what the queue holds, which is the deletion of a tenant."""
    (lease,) = await store.queue.claim(WorkerId("w"), 1)

    async def progress(done: int, total: int | None = None) -> None:
        """Nobody looks."""

    attempt: Any = SimpleNamespace(lease=lease, progress=progress)
    await Changes(a_workshop(store)).delete_tenant(attempt)


def spoken(top: Path) -> int:
    """How many conversations and messages are kept, seen or not."""
    with closing(sqlite3.connect(top / "penstock.db")) as db:
        count = "SELECT (SELECT count(*) FROM conversations) + (SELECT count(*) FROM messages)"
        return int(db.execute(count).fetchone()[0])


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
        await run(store)

        documents = await store.catalogue.documents(LOCAL_WORKSPACE, state=DocumentState.INGESTED)
        talks = await store.transcript.conversations(LOCAL_WORKSPACE)

    assert documents == []
    assert len(talks) == left


async def test_what_was_said_in_a_removed_workspace_goes_in_portions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Removing it is one short write, however much was said: nobody else waits; the job takes it all away."""
    monkeypatch.setattr(changes, "TALKS", 2)
    async with open_store(load(None, {"PENSTOCK_DATA": str(tmp_path)}, {})) as store:
        user = a_user()
        await store.write(lambda tx: tx.accounts.sign_in(user))
        (workspace,) = await store.register.workspaces(user)
        for _ in range(3):
            talk = await store.write(lambda tx: tx.conversations.open(workspace.id))
            await store.write(partial(asked, workspace=workspace.id, talk=talk.id))

        await store.write(lambda tx: tx.accounts.remove(user, workspace.id))
        left, seen = spoken(tmp_path), await store.transcript.messages(workspace.id, talk.id)
        await run(store)

    assert (left, seen) == (9, [])
    assert spoken(tmp_path) == 0


def asked(tx: Transaction, workspace: WorkspaceId, talk: ConversationId) -> None:
    tx.conversations.post(workspace, talk, "What does a lost key cost?", owner="w")
