"""Uploads while they are sent: what their owner sees of them before there is a document.

U1  An upload is there, with an event, before its first byte is kept.
U2  It ends once, with an event: completed in the transaction that takes it in, or failed with a code. One
    that was given up because its receiver seemed gone may still be completed.
U3  How far it is can be said at any time and is no event.
U4  One whose receiver says nothing for HOLD_SECONDS can be ended by anybody.
U5  One that has ended is forgotten after KEPT_SECONDS.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from penstock.model.catalogue import DocumentId, WorkspaceId
from penstock.model.errors import ErrorReport
from penstock.model.uploads import UploadId


class Uploads(Protocol):
    """The verbs, inside a transaction."""

    def begin(self, workspace: WorkspaceId, *, name: str, total: int | None = None) -> UploadId:
        """A file begins to come (U1); `total` is what its request has still to send, where that is known."""
        ...

    def complete(self, upload: UploadId, *, done: int, document: DocumentId | None) -> None:
        """It is taken in, as this document, or as what an earlier request had brought (U2)."""
        ...

    def fail(self, upload: UploadId, error: ErrorReport) -> None:
        """It will not be taken in (U2)."""
        ...


class Reception(Protocol):
    """Whoever receives says how far he is; whoever is left is ended."""

    async def renew(self, arrived: Mapping[UploadId, int]) -> None:
        """So many bytes have come of each, and more are waited for (U3)."""
        ...

    async def arriving(self, workspace: WorkspaceId) -> Mapping[UploadId, int]:
        """How many bytes are said to have come of each that has not ended (U3)."""
        ...

    async def heal(self, *, limit: int = 100) -> list[UploadId]:
        """End what nobody receives any more (U4); which they were."""
        ...
