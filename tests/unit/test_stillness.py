"""While nothing is written the background looks cost nothing; whatever is written, by anyone, is seen."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import pytest

from penstock.engines.sqlite import SqliteStore
from penstock.engines.sqlite.connection import connect
from penstock.engines.sqlite.times import iso
from tests.contract.steps import LEASE, claim_one, submit
from tests.support.clock import FakeClock
from tests.support.jobs import a_job

T = TypeVar("T")


@pytest.fixture
def looks(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each read of the table."""
    made: list[int] = []
    real = store.look

    async def counted(work: Callable[[sqlite3.Connection], T]) -> T:
        made.append(1)
        return await real(work)

    monkeypatch.setattr(store, "look", counted)
    return made


async def test_a_still_store_is_looked_at_once(store: SqliteStore, looks: list[int]) -> None:
    """Rounds over a store in which nothing happens do not read the table again."""
    for _ in range(5):
        assert await store.queue.rescue() == []
        assert await store.queue.promote() is None

    assert len(looks) == 2


async def test_what_runs_is_looked_at_every_time(store: SqliteStore, clock: FakeClock) -> None:
    """A lease runs out without anybody writing."""
    (job,) = await submit(store.queue, a_job())
    assert await store.queue.rescue() == []
    await claim_one(store.queue)
    assert await store.queue.rescue() == []

    clock.advance(LEASE + 1)

    assert await store.queue.rescue() == [job]


async def test_a_due_time_passes_without_a_write(store: SqliteStore, clock: FakeClock) -> None:
    """A job known to be due later is made ready then, though nobody has written meanwhile."""
    (job,) = await submit(store.queue, a_job(run_at=clock.now() + 5))
    assert await store.queue.promote() == clock.now() + 5
    assert await store.queue.promote() == clock.now() + 5

    clock.advance(6)
    await store.queue.promote()

    assert (await claim_one(store.queue)).job_id == job


async def test_what_another_program_writes_is_seen(
    store: SqliteStore, clock: FakeClock, tmp_path: Path
) -> None:
    """A row that somebody else's SQL puts in progress, or gives a due time, is found by the next round."""
    (job,) = await submit(store.queue, a_job())
    assert await store.queue.rescue() == []
    assert await store.queue.promote() is None

    with closing(connect(tmp_path / "penstock.db", synchronous="normal")) as other:
        other.execute("UPDATE unified_queue SET next_run_at = ?", (iso(clock.now() + 60),))
        assert await store.queue.promote() == clock.now() + 60
        other.execute("UPDATE unified_queue SET status = 'in_progress', lease_until = ?", (iso(1.0),))
        other.execute("UPDATE unified_queue SET worker_id = 'theirs'")

    assert await store.queue.rescue() == [job]
