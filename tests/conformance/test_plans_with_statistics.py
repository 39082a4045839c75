"""Statistics that somebody's ANALYZE leaves behind must not talk SQLite into reading the whole table."""

import sqlite3

import pytest

from penstock.engines.sqlite.statements import sql
from tests.conformance.foreign import add, plan

ROWS = 2_000
"""Enough that SQLite, left alone, would choose to scan."""


@pytest.fixture
def analyzed(table: sqlite3.Connection) -> sqlite3.Connection:
    """The table with rows that are all claimable, and statistics that say so."""
    table.execute("BEGIN")
    for number in range(ROWS):
        add(table, f"job-{number}", tenant_id=f"tenant-{number % 50}")
    table.execute("COMMIT")
    table.execute("ANALYZE")
    return table


def test_the_claim_of_tenant_deletions_seeks(analyzed: sqlite3.Connection) -> None:
    """The few deletions come first and each finds its row by its id."""
    steps = plan(analyzed, sql("claim_barriers"))

    assert [step for step in steps if step.startswith("SCAN")] == ["SCAN b"]
    assert "SEARCH q USING INDEX sqlite_autoindex_unified_queue_1 (queue_id=?)" in steps


def test_the_look_for_arrivals_stays_in_its_indexes(analyzed: sqlite3.Connection) -> None:
    """Each half of the question reads the first entry of a partial index."""
    steps = [step for step in plan(analyzed, sql("arrivals")) if "unified_queue" in step]

    assert steps == [
        "SCAN unified_queue USING INDEX queue_oldest",
        "SCAN unified_queue USING INDEX queue_suspects",
    ]
