"""A claim's short way over a queue of one lane chooses, counts and remembers what the whole rule would."""

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engines.sqlite import claiming, settling, submitting
from penstock.engines.sqlite.connection import connect, prepare
from penstock.engines.system.rolls import Rolls
from penstock.model.rules import Rules
from tests.support.jobs import a_job

WORKER = "worker"
NO_ROLLS = Rolls(Path("/nowhere"))


@dataclass(frozen=True)
class Submit:
    """New jobs: tenant and priority of each; mostly one lane, at times two or three."""

    lanes: list[tuple[str, int]]


@dataclass(frozen=True)
class Turn:
    """A claim, and what becomes of all that runs then."""

    limit: int
    idle: bool
    fate: str


lanes = st.lists(st.sampled_from([("a", 5)] * 6 + [("a", 9), ("b", 5)]), min_size=1, max_size=12)
claims = st.builds(
    Turn,
    limit=st.sampled_from([1, 1, 2, 3, 9, 40]),
    idle=st.booleans(),
    fate=st.sampled_from(["stays", "released", "died"]),
)
steps = st.lists(st.one_of(st.builds(Submit, lanes), claims), min_size=2, max_size=12)


@contextmanager
def a_table() -> Iterator[sqlite3.Connection]:
    with tempfile.TemporaryDirectory(prefix="penstock-lane-") as folder:
        path = prepare(Path(folder), synchronous="normal", busy_seconds=1.0)
        with closing(connect(path, synchronous="normal", busy_seconds=1.0)) as db:
            yield db


def remembered(db: sqlite3.Connection) -> list[tuple[object, ...]]:
    turns = db.execute("SELECT rank, tenant_id FROM queue_turns ORDER BY rank").fetchall()
    return [*turns, db.execute("SELECT claims FROM queue_claims").fetchone()]


@pytest.mark.timeout(0)  # a sweep takes as long as its examples do
@given(steps=steps, every=st.sampled_from([0, 1, 2, 3, 10]))
def test_the_short_way_is_the_long_way(steps: list[Submit | Turn], every: int) -> None:
    """C6: both ways hand out the same jobs in the same order, and leave the same turns and counts behind."""
    rules = Rules(longest_waiting_every=every)
    with a_table() as short, a_table() as long:
        for now, step in enumerate(steps, start=1):
            if isinstance(step, Submit):
                jobs = [a_job(tenant=tenant, priority=priority) for tenant, priority in step.lanes]
                for db in (short, long):
                    submitting.submit(db, submitting.entries_of(jobs, rules), now)
                continue
            made = remembered(long)[-1][0]
            assert isinstance(made, int)
            asked = claiming.Claim(worker=WORKER, limit=step.limit, idle=step.idle, now=now, rules=rules)
            ours = claiming.claim(short, asked)
            theirs = claiming.claim_by_rule(long, asked, claims=made)
            assert [row.queue_id for row in ours.rows] == [row.queue_id for row in theirs.rows]
            assert (ours.until, ours.alone) == (theirs.until, theirs.alone)
            assert remembered(short) == remembered(long)
            if step.fate != "stays":
                for db in (short, long):
                    settling.leave(db, WORKER, now, rules, NO_ROLLS, died=step.fate == "died")
