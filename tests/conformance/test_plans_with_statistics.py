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


def test_a_listing_by_state_reads_the_end_of_each_lane(analyzed: sqlite3.Connection) -> None:
    """A range of a documented index, in the order of the listing, so that nothing is sorted."""
    assert plan(analyzed, sql("job_list_lane")) == [
        "SEARCH unified_queue USING INDEX idx_unified_queue_item_type (item_type=? AND status=? AND rowid<?)"
    ]


def test_a_listing_of_delayed_jobs_reads_those_alone(analyzed: sqlite3.Connection) -> None:
    """The index of due times holds no others; their row numbers are sorted, not the rows."""
    first, *others = plan(analyzed, sql("job_list_due"))

    assert "unified_queue USING INDEX queue_due" in first
    assert others == ["USE TEMP B-TREE FOR ORDER BY"]


def test_a_listing_of_everything_walks_back_from_the_newest(analyzed: sqlite3.Connection) -> None:
    """By row number, and no further than the page."""
    assert plan(analyzed, sql("job_list")) == ["SEARCH unified_queue USING INTEGER PRIMARY KEY (rowid<?)"]


def test_a_page_is_read_by_row_numbers(analyzed: sqlite3.Connection) -> None:
    """Each job of it is one seek."""
    steps = plan(analyzed, sql("job_rows"))

    assert "SEARCH unified_queue USING INTEGER PRIMARY KEY (rowid=?)" in steps
    assert [step for step in steps if step.startswith("SCAN unified_queue")] == []


def test_the_oldest_ready_job_is_the_first_of_its_index(analyzed: sqlite3.Connection) -> None:
    """In the order of the index, so that the first that is not held back ends the search."""
    steps = plan(analyzed, sql("job_oldest"))

    assert steps[0] == "SCAN q USING INDEX queue_oldest"
    assert [step for step in steps if "TEMP B-TREE" in step] == []


def test_the_unfinished_are_found_without_the_finished(analyzed: sqlite3.Connection) -> None:
    """Row numbers of an index that holds no ended row; then each page is one seek a row."""
    first, *others = plan(analyzed, sql("ledger_unfinished"))

    assert first == "SCAN unified_queue USING INDEX queue_unfinished"
    assert others in ([], ["USE TEMP B-TREE FOR ORDER BY"])
    assert "SEARCH q USING INTEGER PRIMARY KEY (rowid=?)" in plan(analyzed, sql("ledger_ids"))
    for name in ("ledger_entered", "ledger_rows", "ledger_begun"):
        steps = plan(analyzed, sql(name))
        assert [step for step in steps if step.startswith("SCAN")] == ["SCAN wanted VIRTUAL TABLE INDEX 1:"]
        assert "SEARCH q USING INDEX sqlite_autoindex_unified_queue_1 (queue_id=?)" in steps


@pytest.mark.parametrize(
    "name", ["submit_waiting", "submit_let_go", "adopt_waiting", "ledger_heir", "settle_delete_first"]
)
def test_a_key_is_found_by_its_index(analyzed: sqlite3.Connection, name: str) -> None:
    """Whoever looks for a key seeks it among the keys that are held."""
    assert plan(analyzed, sql(name)) == [
        "SEARCH unified_queue USING INDEX idx_unified_queue_idempotency (idempotency_key=? AND tenant_id=?)"
    ]
