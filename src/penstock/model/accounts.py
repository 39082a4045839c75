"""Users and their workspaces: who owns what, and where privacy ends.

A user is whoever a token names. Each owns workspaces; whatever is put in belongs to one of them, and nobody
else ever learns that it is there. Jobs and vectors know a workspace by its tenant.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model.catalogue import LOCAL_TENANT, LOCAL_WORKSPACE, WorkspaceId
from penstock.model.conversations import one_line
from penstock.model.errors import Refused
from penstock.model.instants import instant
from penstock.model.jobs import TenantId

FIRST_WORKSPACE = "Personal"
"""What a user finds on first coming in."""
NAME_CHARACTERS_MAX = 100
WORKSPACES_MAX = 100
"""Of one user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A border of privacy, owned by one user."""

    id: WorkspaceId
    owner: str
    name: str
    created_at: float

    @property
    def tenant(self) -> TenantId:
        """How jobs and vectors name it."""
        return tenant_of(self.id)

    def facts(self) -> dict[str, object]:
        """The workspace as its owner is shown it, in `workspace.created` and in every listing."""
        return {"id": self.id, "name": self.name, "created_at": instant(self.created_at)}


def tenant_of(workspace: WorkspaceId) -> TenantId:
    """The tenant a workspace's own work runs under; projects have further ones."""
    return LOCAL_TENANT if workspace == LOCAL_WORKSPACE else TenantId(workspace)


def workspace_name_of(text: str) -> str:
    """A name as it is kept: one line that says something."""
    kept = one_line(text)
    if not kept or len(kept) > NAME_CHARACTERS_MAX:
        raise Refused(
            f"a workspace's name has 1 to {NAME_CHARACTERS_MAX} characters", code="ERR_WORKSPACE_NAME_INVALID"
        )
    return kept
