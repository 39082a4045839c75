"""Users and workspaces, on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from penstock.engines.sqlite.access import Access
from penstock.engines.sqlite.records import collection_of
from penstock.engines.sqlite.shelves import SqliteShelves
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.telling import tell
from penstock.engines.sqlite.times import iso, seconds
from penstock.model.accounts import FIRST_WORKSPACE, WORKSPACES_MAX, Workspace, tenant_of, workspace_name_of
from penstock.model.catalogue import LOCAL_WORKSPACE, WorkspaceId
from penstock.model.conversations import ConversationId
from penstock.model.errors import Exhausted, Refused
from penstock.model.events import WorkspaceCreated, WorkspaceRemoved, WorkspaceRenamed
from penstock.model.ids import new_job_id
from penstock.model.jobs import NewJob, Operation, TenantId
from penstock.model.payloads import DeleteTenant

ALL = "all"
"""The collection a tenant's deletion names; it concerns every one."""


class SqliteAccounts:
    """The verbs inside a transaction."""

    def __init__(
        self, db: sqlite3.Connection, now: float, submit: Callable[[Sequence[NewJob]], object]
    ) -> None:
        self._db = db
        self._now = now
        self._submit = submit

    def sign_in(self, user: str) -> None:
        """Know this user (A1)."""
        if self._db.execute(sql("user_add"), {"user": user, "now": iso(self._now)}).rowcount:
            self._add(user, FIRST_WORKSPACE)  # told to nobody: nobody has looked without it

    def open(self, user: str, name: str) -> Workspace:
        """A new workspace (A2, A4)."""
        kept = workspace_name_of(name)
        if self._db.execute(sql("workspace_count"), (user,)).fetchone()[0] >= WORKSPACES_MAX:
            raise Exhausted(
                f"there are {WORKSPACES_MAX} workspaces already, which is the limit",
                code="ERR_QUOTA_WORKSPACES",
            )
        made = self._known(user, self._add(user, kept))
        told = WorkspaceCreated(workspace_id=made.id, workspace=made.facts())
        tell(self._db, self._now, made.id, told)
        return made

    def find(self, user: str, workspace: WorkspaceId) -> Workspace | None:
        """One by id (A3)."""
        return _find(self._db, user, workspace)

    def rename(self, user: str, workspace: WorkspaceId, name: str) -> Workspace:
        """Another name (A3)."""
        before = self._known(user, workspace)
        where = {"workspace": workspace, "user": user, "name": workspace_name_of(name)}
        self._db.execute(sql("workspace_rename"), where)
        renamed = self._known(user, workspace)
        if renamed.name != before.name:
            tell(self._db, self._now, workspace, WorkspaceRenamed(workspace_id=workspace, name=renamed.name))
        return renamed

    def remove(self, user: str, workspace: WorkspaceId) -> bool:
        """Take it out of sight (A5); its tenant and what was said there are deleted by a job, in portions."""
        if workspace == LOCAL_WORKSPACE:
            raise Refused("the local workspace cannot be removed", code="ERR_WORKSPACE_LOCAL")
        if self.find(user, workspace) is None:
            return False
        tell(self._db, self._now, workspace, WorkspaceRemoved(workspace_id=workspace))
        where = {"workspace": workspace, "user": user, "now": iso(self._now)}
        self._db.execute(sql("workspace_remove"), where)  # first: of what is in it nothing is told any more
        shelves = SqliteShelves(self._db, self._now)
        for row in self._db.execute(sql("collection_list"), (workspace,)).fetchall():
            shelves.remove(collection_of(row).id)
        tenant = tenant_of(workspace)
        job = NewJob(
            tenant=tenant,
            collection=ALL,
            payload=DeleteTenant(tenant_id_to_delete=tenant),
            op=Operation.DELETE,
        )
        self._submit([job])
        return True

    def _add(self, user: str, name: str) -> WorkspaceId:
        workspace = WorkspaceId(new_job_id(self._now))
        where = {"workspace": workspace, "user": user, "name": name, "now": iso(self._now)}
        self._db.execute(sql("workspace_add"), where)
        self._db.execute(sql("tenant_join"), (tenant_of(workspace), workspace, iso(self._now)))
        return workspace

    def _known(self, user: str, workspace: WorkspaceId) -> Workspace:
        found = _find(self._db, user, workspace)
        if found is None:
            raise Refused("there is no such workspace", code="ERR_WORKSPACE_UNKNOWN")
        return found


class SqliteRegister:
    """Looks beside the writer."""

    def __init__(self, store: Access) -> None:
        self._store = store

    async def workspaces(self, user: str) -> list[Workspace]:
        """All of a user, oldest first."""
        rows = await self._store.look(lambda db: db.execute(sql("workspace_list"), (user,)).fetchall())
        return [_workspace_of(row) for row in rows]

    async def workspace(self, user: str, workspace: WorkspaceId) -> Workspace | None:
        """One by id (A3)."""
        return await self._store.look(lambda db: _find(db, user, workspace))

    async def talked_in(self, user: str, conversation: ConversationId) -> Workspace | None:
        """The user's workspace that holds a conversation (A3)."""
        where = {"conversation": conversation, "user": user}
        row = await self._store.look(lambda db: db.execute(sql("workspace_talked_in"), where).fetchone())
        return None if row is None else _workspace_of(row)

    async def tenants(self) -> dict[TenantId, WorkspaceId]:
        """Every tenant's workspace (A6)."""
        rows = await self._store.look(lambda db: db.execute(sql("tenant_all")).fetchall())
        return {TenantId(tenant): WorkspaceId(workspace) for tenant, workspace in rows}


def _find(db: sqlite3.Connection, user: str, workspace: WorkspaceId) -> Workspace | None:
    row = db.execute(sql("workspace_find"), {"workspace": workspace, "user": user}).fetchone()
    return None if row is None else _workspace_of(row)


def _workspace_of(row: Any) -> Workspace:
    return Workspace(id=WorkspaceId(row[0]), owner=row[1], name=row[2], created_at=seconds(row[3]))
