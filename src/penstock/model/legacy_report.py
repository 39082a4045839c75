"""What a migration from legacy queues did, or would do, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.model.legacy import Adoption

EXAMPLES_MAX = 20
"""Rows named for each reason; all are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One row, and what was the matter with it."""

    row: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many rows share a reason, and the first of them."""

    reason: str
    rows: int
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """How the rows of one table compare with the queue."""

    compared: int = 0
    unchanged: int = 0
    moved_on: int = 0
    """Rows that waited and have been joined, claimed, replaced or ended since."""
    removed: int = 0
    """Ended jobs that retention has taken away since."""
    states: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """For each state in the source, how many jobs are in which state now."""
    differences: tuple[Tally, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether every mappable row is in the queue and says the same."""
        return not self.differences


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReport:
    """One legacy table."""

    table: str
    item_type: str | None = None
    """What its rows become; None for tables that are only reported."""
    rows: int = 0
    mapped: int = 0
    already_there: int = 0
    skipped: tuple[Tally, ...] = ()
    notes: tuple[Tally, ...] = ()
    """Rows that were mapped with a value put right."""
    states: Mapping[str, int] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    """Which column was read for what."""
    ignored_columns: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """What the table would need to be mapped; nothing of such a table is touched."""
    verification: Verification | None = None
    deprecated: bool = False
    dropped: bool = False

    @property
    def skipped_rows(self) -> int:
        """Rows that were not mapped, whatever the reason."""
        return sum(tally.rows for tally in self.skipped)

    @property
    def left_behind(self) -> int:
        """Rows of the table that no job stands for: they go if it is dropped."""
        return self.rows - self.mapped - self.already_there - _waiting(self.skipped)


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyReport:
    """One run."""

    source: str
    dry_run: bool
    verified: bool
    tables: tuple[TableReport, ...]

    @property
    def agrees(self) -> bool:
        """Whether verification found no difference in any table; False if nobody looked."""
        looked = [table.verification for table in self.tables if table.verification is not None]
        return self.verified and all(each.agrees for each in looked)

    @property
    def mapped(self) -> int:
        """Jobs made in this run."""
        return sum(table.mapped for table in self.tables)


def _waiting(skipped: tuple[Tally, ...]) -> int:
    return sum(tally.rows for tally in skipped if tally.reason == Adoption.WAITING)
