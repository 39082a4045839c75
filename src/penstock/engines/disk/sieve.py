"""Which names of a folder are wanted: one decision for walks, projects and watching."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from penstock.model.files import Selection
from penstock.model.ignoring import Rules, glob_rules, is_temporary, is_version_folder, wanted_rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Sieve:
    """A selection, ready to be asked."""

    selection: Selection
    wanted: Rules
    unwanted: Rules

    @classmethod
    def of(cls, selection: Selection) -> Self:
        """Read the globs once."""
        return cls(
            selection=selection,
            wanted=wanted_rules(selection.patterns),
            unwanted=glob_rules(selection.ignore_patterns),
        )

    def enters(self, name: str, path: bytes) -> bool:
        """Whether a folder is looked into; `path` is the one below the root."""
        return self._visible(name) and not self.unwanted.matches(path, is_folder=True)

    def takes(self, name: str, path: bytes) -> bool:
        """Whether a file is wanted."""
        if not self._visible(name) or is_temporary(name):
            return False
        if self.selection.patterns and not self.wanted.matches(path, is_folder=False):
            return False
        return not self.unwanted.matches(path, is_folder=False)

    def _visible(self, name: str) -> bool:
        if is_version_folder(name):
            return False
        return self.selection.hidden or not name.startswith(".")
