"""A server: who we are there, which workspaces we have, and the one we work in."""

from __future__ import annotations

from typing import Self

from penstock.client.credentials import Credentials, Refresh
from penstock.client.line import Line, look, once
from penstock.client.values import Me, Workspace, WorkspacePage
from penstock.client.workspace import InWorkspace


class Penstock(InWorkspace):
    """`async with Penstock(url, token=…) as p`: everything ends with the block.

    `refresh` is asked for another token when the server no longer takes the one there is. What is done
    without naming a workspace is done in `workspace`, or in the only one there is.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        refresh: Refresh | None = None,
        workspace: str | None = None,
    ) -> None:
        """ValueError where the address is none."""
        super().__init__(Line(url, Credentials(token, refresh)), workspace)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End every subscription and let the connections go."""
        await self._line.close()

    async def me(self) -> Me:
        """Who the server takes us for."""
        return await self._line.ask(look("/me"), Me)

    async def workspaces(self) -> list[Workspace]:
        """All we own, oldest first."""
        return list((await self._line.ask(look("/workspaces"), WorkspacePage)).items)

    async def create_workspace(self, name: str) -> Workspace:
        """Make one."""
        return await self._line.ask(once("/workspaces", {"name": name}), Workspace)

    def workspace(self, workspace_id: str) -> InWorkspace:
        """Another workspace, over the same connections."""
        return InWorkspace(self._line, workspace_id)
