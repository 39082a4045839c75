"""The document of `penstock migrate legacy --json`; its names are promises too."""

from __future__ import annotations

from typing import TypedDict


class LegacyExample(TypedDict):
    """One row, and what was the matter with it."""

    row: str
    detail: str


class LegacyTally(TypedDict):
    """How many rows share a reason, and the first twenty of them."""

    reason: str
    rows: int
    examples: list[LegacyExample]


class LegacyColumn(TypedDict):
    """Which column was read for what."""

    role: str
    column: str


class LegacyState(TypedDict):
    """How many rows are in a state, in the words of `unified_queue`."""

    state: str
    rows: int


class LegacyMove(TypedDict):
    """How many rows of a state have a job in which state now; `removed` by retention, or `absent`."""

    was: str
    now: str
    rows: int


class LegacyVerification(TypedDict):
    """How the rows of a table compare with the queue."""

    agrees: bool
    compared: int
    unchanged: int
    moved_on: int
    removed: int
    states: list[LegacyMove]
    differences: list[LegacyTally]


class LegacyTable(TypedDict):
    """One legacy table; `item_type` is null if it is only reported, `missing` is why it cannot be mapped."""

    table: str
    item_type: str | None
    rows: int
    mapped: int
    already_there: int
    skipped_rows: int
    skipped: list[LegacyTally]
    notes: list[LegacyTally]
    states: list[LegacyState]
    columns: list[LegacyColumn]
    ignored_columns: list[str]
    missing: list[str]
    verification: LegacyVerification | None
    deprecated: bool
    dropped: bool


class LegacyMigrated(TypedDict):
    """What a migration did, or would do; `agrees` is null if nobody asked for verification."""

    source: str
    dry_run: bool
    agrees: bool | None
    tables: list[LegacyTable]
