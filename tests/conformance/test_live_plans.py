"""What the feed asks for many times a second reads what is new, and nothing else."""

import sqlite3

import pytest

from penstock.engines.sqlite.statements import sql
from tests.conformance.foreign import plan

SCANNED = {
    "feed_pages": (),
    "feed_removers": (),
    "feed_gone": (),
    "feed_bounds": (),
    "feed_documents": (),
    "feed_answers": ("messages_due",),
    "feed_uploads": ("uploads_due",),
    "feed_progress": ("idx_unified_queue_worker",),
    "events_forget": ("(subquery-1)", "old"),
}
"""What is read from end to end: indexes where all they hold is unfinished, and portions that are bounded."""


@pytest.mark.parametrize("analyzed", [False, True], ids=["fresh", "analyzed"])
@pytest.mark.parametrize("name", sorted(SCANNED))
def test_the_feed_scans_nothing_that_grows(table: sqlite3.Connection, name: str, analyzed: bool) -> None:
    """Users are looked up one by one, with or without somebody's statistics."""
    if analyzed:
        table.execute("ANALYZE")

    scans = [step for step in plan(table, sql(name)) if step.startswith("SCAN")]

    assert all("VIRTUAL TABLE" in step or step.endswith(SCANNED[name]) for step in scans), scans
