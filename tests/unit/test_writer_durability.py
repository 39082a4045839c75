"""Which commits wait for the disk: all but those a power cut may take without harm."""

import sqlite3
from pathlib import Path

import pytest

from penstock.engines.sqlite import open_sqlite
from penstock.engines.sqlite.store import SqliteStore
from penstock.model.jobs import WorkerId
from penstock.model.outcomes import DONE
from penstock.model.rules import Rules
from tests.support.clock import FakeClock
from tests.support.jobs import a_job

FULL, NORMAL = 2, 1


async def synced(store: SqliteStore, *, durable: bool) -> int:
    """How a commit of this kind is synced, as SQLite itself says."""

    def ask(db: sqlite3.Connection) -> int:
        return int(db.execute("PRAGMA synchronous").fetchone()[0])

    return await store.change(ask, durable=durable)


async def test_only_what_may_be_lost_does_not_wait_for_the_disk(tmp_path: Path) -> None:
    """A commit that counts is synced, also right after one that does not count."""
    store = await open_sqlite(tmp_path, rules=Rules(), clock=FakeClock())
    try:
        assert [await synced(store, durable=each) for each in (True, False, True, False)] == [
            FULL, NORMAL, FULL, NORMAL,
        ]  # fmt: skip
    finally:
        await store.close()


@pytest.mark.parametrize(("idle", "expected"), [(True, NORMAL), (False, FULL)])
async def test_an_idle_workers_claim_does_not_wait_and_the_settle_does(
    tmp_path: Path, idle: bool, expected: int
) -> None:
    """The claim someone waits for is seen at once; its outcome is on disk before it is answered."""
    store = await open_sqlite(tmp_path, rules=Rules(), clock=FakeClock())
    told: list[int] = []

    async def change(work, **how):  # type: ignore[no-untyped-def]  # the store's own, watched
        def watched(db: sqlite3.Connection) -> object:
            told.append(int(db.execute("PRAGMA synchronous").fetchone()[0]))
            return work(db)

        return await original(watched, **how)

    try:
        await store.queue.submit([a_job()])
        original, store.change = store.change, change  # type: ignore[method-assign]
        (lease,) = await store.queue.claim(WorkerId("w"), 1, idle=idle)
        await store.queue.settle([(lease, DONE)])
    finally:
        await store.close()

    assert told == [expected, FULL]


async def test_a_store_set_to_normal_stays_so(tmp_path: Path) -> None:
    """The named choice is never made stricter or laxer."""
    store = await open_sqlite(tmp_path, rules=Rules(), clock=FakeClock(), synchronous="normal")
    try:
        assert [await synced(store, durable=each) for each in (True, False, True)] == [NORMAL] * 3
    finally:
        await store.close()
