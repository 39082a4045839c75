"""Where a collection's own folders are: incoming is watched, processed and failed are where files end up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from penstock.model.catalogue import Document

INCOMING = "incoming"
PROCESSED = "processed"
FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFolders:
    """`<data>/sources/<collection>/{incoming,processed,failed}`."""

    root: Path

    def incoming(self, collection: str) -> Path:
        """Where files are dropped."""
        return self.root / collection / INCOMING

    def outcome(self, collection: str, *, done: bool) -> Path:
        """Where a file goes when its job has ended."""
        return self.root / collection / (PROCESSED if done else FAILED)

    def finished_in(self, path: Path) -> str | None:
        """The collection among whose processed files this one lies."""
        collection = path.parent.parent.name
        return collection if collection and path.parent == self.outcome(collection, done=True) else None

    def finishing_in(self, folder: Path) -> str | None:
        """The collection whose processed files lie in this folder."""
        collection = folder.parent.name
        return collection if collection and folder == self.outcome(collection, done=True) else None

    def holds(self, collection: str, path: Path) -> bool:
        """Whether a file lies in the collection's incoming folder; only such a file is ever moved."""
        return path.is_relative_to(self.incoming(collection)) and ".." not in path.parts

    def took(self, document: Document) -> bool:
        """Whether its file was dropped for it, and so moved away: it is not missed where it lay.

        The data folder may have had another name then: a path that is as ours are counts as well, as long as
        no such folder is there, for else it is somebody's own.
        """
        path, inside = Path(document.identity), (self.root.name, document.collection_name, INCOMING)
        if self.holds(document.collection_name, path):
            return True
        return ".." not in path.parts and any(
            (folder.parent.parent.name, folder.parent.name, folder.name) == inside and not folder.exists()
            for folder in path.parents
        )

    def all(self, collection: str) -> tuple[Path, Path, Path]:
        """The three folders."""
        return (
            self.incoming(collection),
            self.outcome(collection, done=True),
            self.outcome(collection, done=False),
        )
