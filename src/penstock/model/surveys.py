"""A survey: what a look at a folder found, against what the catalogue knows of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

EXAMPLES_MAX = 100
"""Paths named of each kind; beyond that only the count tells."""


@dataclass(slots=True, kw_only=True)
class Survey:
    """Counts, and the first few paths, of what is new, changed, unchanged, gone and overlooked."""

    root: str
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    gone: int = 0
    overlooked: int = 0
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, kind: str, paths: Sequence[str]) -> None:
        """So many more of a kind: new, changed, unchanged, gone or overlooked."""
        setattr(self, kind, getattr(self, kind) + len(paths))
        if kind != "unchanged":
            named = self.examples.setdefault(kind, [])
            named.extend(paths[: EXAMPLES_MAX - len(named)])

    @property
    def found(self) -> int:
        """Files that are there."""
        return self.new + self.changed + self.unchanged

    def as_report(self) -> dict[str, object]:
        """As it is kept with the job."""
        return {
            "root": self.root,
            "found": self.found,
            "new": self.new,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "gone": self.gone,
            "overlooked": self.overlooked,
            "examples": {kind: paths for kind, paths in self.examples.items() if paths},
        }
