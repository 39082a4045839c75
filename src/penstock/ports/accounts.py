"""Users and workspaces.

A1  `sign_in` knows a user from then on and gives a new one a first workspace; again it changes nothing.
A2  A workspace belongs to the user who opened it, has a tenant of its own, and is there at once.
A3  What belongs to another user, what is removed and what never was look the same: not there.
A4  Workspaces of one user are bounded; beyond is Exhausted ERR_QUOTA_WORKSPACES.
A5  Removing a workspace takes it, its collections, documents and conversations out of sight in one short
    step, however many they are; what is left of them is purged by a job of its tenant. Nothing is made in it
    any more: Refused ERR_WORKSPACE_UNKNOWN. The local workspace stays.
A6  `tenants` tells of every tenant whose it is, so that who names one from outside can be judged.
"""

from __future__ import annotations

from typing import Protocol

from penstock.model.accounts import Workspace
from penstock.model.catalogue import WorkspaceId
from penstock.model.conversations import ConversationId
from penstock.model.jobs import TenantId


class Accounts(Protocol):
    """The verbs, inside a transaction."""

    def sign_in(self, user: str) -> None:
        """Know this user (A1)."""
        ...

    def open(self, user: str, name: str) -> Workspace:
        """A new workspace (A2, A4)."""
        ...

    def find(self, user: str, workspace: WorkspaceId) -> Workspace | None:
        """One by id (A3)."""
        ...

    def rename(self, user: str, workspace: WorkspaceId, name: str) -> Workspace:
        """Another name (A3)."""
        ...

    def remove(self, user: str, workspace: WorkspaceId) -> bool:
        """Take it out of sight (A5); False if it is not there."""
        ...


class Register(Protocol):
    """Looking."""

    async def workspaces(self, user: str) -> list[Workspace]:
        """All of a user, oldest first."""
        ...

    async def workspace(self, user: str, workspace: WorkspaceId) -> Workspace | None:
        """One by id (A3)."""
        ...

    async def talked_in(self, user: str, conversation: ConversationId) -> Workspace | None:
        """The user's workspace that holds a conversation (A3)."""
        ...

    async def tenants(self) -> dict[TenantId, WorkspaceId]:
        """Every tenant's workspace (A6)."""
        ...
