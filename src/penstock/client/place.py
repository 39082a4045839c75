"""One workspace of a server, and the paths below it."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from penstock.client.errors import PenstockError
from penstock.client.line import Line, look
from penstock.client.values import Workspace, WorkspacePage

SHOWN_MAX = 10
"""Workspaces that are named to choose from."""


class Place:
    """Where requests go; where no workspace is named, to the only one there is."""

    def __init__(self, line: Line, workspace: str | None) -> None:
        self._line = line
        self._workspace = workspace

    async def _id(self) -> str:
        if self._workspace is None:
            there = (await self._line.ask(look("/workspaces"), WorkspacePage)).items
            if len(there) != 1:
                raise PenstockError(_several(there), code="ERR_WORKSPACE_UNNAMED")
            self._workspace = there[0].id
        return self._workspace

    async def _at(self, *words: str) -> str:
        """A path below the workspace."""
        return "/".join(
            ["/workspaces", quote(await self._id(), safe=""), *(quote(word, safe="") for word in words)]
        )


def _several(there: Sequence[Workspace]) -> str:
    """That one is to be named, and which there are."""
    if not there:
        return "there is no workspace; make one"
    shown = [f"{each.id} ({each.name})" for each in there[:SHOWN_MAX]]
    left = len(there) - len(shown)
    rest = f", and {left} more" if left else ""
    return f"there are {len(there)} workspaces; name one: {', '.join(shown)}{rest}"
