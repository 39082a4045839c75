"""Looking through documents, as people do.

L1  A page holds the workspace's documents that are not hidden, in the order asked for, each once.
L2  What comes behind a place is what is sorted behind it, whatever was added or deleted meanwhile.
L3  A page, and what it costs, does not grow with what there is; one asked too large is given as large as it
    may be. One narrowed by a name or metadata costs what is looked at until it is full.
L4  Documents are counted exactly up to COUNT_MAX; where there are more, that is said.
L5  Chunks are those of a version readers see, by ordinal.
L6  What belongs to another workspace is not there.
L7  Documents in error are taken by their code where they lie: nobody is given the others, and those that are
    not in error are not looked at.
"""

from __future__ import annotations

from typing import Protocol

from penstock.model.browsing import Page, ShownChunk, Total, Wish
from penstock.model.catalogue import CollectionId, Document, DocumentId, Version, VersionId, WorkspaceId


class Browser(Protocol):
    """Looks alone."""

    async def page(self, workspace: WorkspaceId, wish: Wish) -> Page:
        """Some documents (L1 to L3)."""
        ...

    async def total(self, workspace: WorkspaceId, wish: Wish) -> Total:
        """How many a wish is met by, on all its pages (L4)."""
        ...

    async def failed(
        self,
        workspace: WorkspaceId,
        *,
        collection: CollectionId | None = None,
        code: str | None = None,
        after: Document | None = None,
        limit: int = 1_000,
    ) -> list[Document]:
        """Documents in error, by collection and identity, behind one of them (L6, L7)."""
        ...

    async def versions(self, workspace: WorkspaceId, document: DocumentId) -> list[Version]:
        """A document's versions that are seen or being built, newest first (L6)."""
        ...

    async def chunks(
        self, workspace: WorkspaceId, version: VersionId, *, after: int = -1, limit: int = 50
    ) -> list[ShownChunk]:
        """Chunks of a version behind an ordinal (L3, L5, L6)."""
        ...
