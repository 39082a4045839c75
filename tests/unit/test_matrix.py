"""The vectors in memory agree with those in the database, however they came to be there."""

import random
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from penstock.engines.sqlite import SqliteStore, index, matrix, open_sqlite
from penstock.engines.sqlite.index import SqliteIndex, grounds
from penstock.model.catalogue import LOCAL_WORKSPACE
from penstock.model.passages import Candidates
from penstock.model.rules import Rules
from penstock.ports.database import Transaction
from penstock.ports.index import Index
from tests.support.cataloguing import ingest, ingested, question, scope_of, vector_of
from tests.support.clock import FakeClock


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = await open_sqlite(tmp_path, rules=Rules(), clock=FakeClock(), synchronous="normal")
    yield opened
    await opened.close()


async def found(store: SqliteStore, index: Index, **filters: Any) -> Candidates:
    (collection,) = await store.catalogue.collections(LOCAL_WORKSPACE)
    scope = scope_of(collection.id, **filters)
    (each,) = await index.candidates(scope, question("", vector_of("near")), limit=20)
    return each


def some(tx: Transaction, *, seed: int, count: int = 40) -> None:
    """Documents of a few chunks, some replaced and some deleted."""
    chance = random.Random(seed)
    for _ in range(count):
        path = f"/{chance.choice('ab')}/{chance.randrange(30)}.txt"
        texts = [f"text {chance.randrange(1000)}" for _ in range(chance.randrange(1, 6))]
        document = ingest(tx, path, list(dict.fromkeys(texts)))
        if chance.random() < 0.2:
            tx.documents.hide(document.id)


async def test_following_changes_gives_what_loading_anew_gives(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gained, lost and closed-up rows leave the same matrix as a first look."""
    monkeypatch.setattr(matrix, "DEAD_MIN", 5)
    monkeypatch.setattr(matrix, "ROWS_FIRST", 4)
    following = SqliteIndex(store)
    for seed in range(6):
        await store.write(lambda tx, seed=seed: some(tx, seed=seed))  # type: ignore[misc]

        assert await found(store, following) == await found(store, SqliteIndex(store))


async def test_what_does_not_fit_into_memory_is_scanned_with_the_same_result(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Portion by portion from the database, with and without a filter."""
    await store.write(lambda tx: some(tx, seed=1))
    monkeypatch.setattr(matrix, "ROWS_READ", 7)
    cramped = SqliteIndex(store, vectors_max=3)

    assert await found(store, cramped) == await found(store, store.index)
    assert await found(store, cramped, path_prefix="/a") == await found(store, store.index, path_prefix="/a")
    assert len((await found(store, cramped)).dense) == 20


@pytest.mark.parametrize(("room", "loads"), [(7, False), (8, True)])
async def test_long_vectors_take_the_room_of_several(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, room: int, loads: bool
) -> None:
    """What is kept in memory is bounded in bytes, however long a model's vectors are."""
    document = await ingested(store, "/a.txt", ["near", "far"])
    (collection,) = await store.catalogue.collections(LOCAL_WORKSPACE)
    (ground,) = await store.look(lambda db: grounds(db, scope_of(collection.id)))
    monkeypatch.setattr(index, "USUAL_NUMBERS", ground.dimension // 4)
    scanned = []

    def scan(*args: Any) -> Any:
        scanned.append(args)
        return real(*args)

    real = matrix.scan
    monkeypatch.setattr(matrix, "scan", scan)

    assert document.chunks == 2
    assert len((await found(store, SqliteIndex(store, vectors_max=room))).dense) == 2
    assert bool(scanned) is not loads


async def test_a_log_that_reaches_back_too_short_is_made_up_for(store: SqliteStore) -> None:
    """A process that slept too long compares what it has with what is there."""
    await store.write(lambda tx: some(tx, seed=2))
    await found(store, store.index)
    await store.write(lambda tx: some(tx, seed=3))
    await ingested(store, "/last.txt", ["near"])
    with closing(sqlite3.connect(store.path, isolation_level=None)) as db:
        last = db.execute("SELECT max(change_id) FROM index_changes").fetchone()[0]
        db.execute("DELETE FROM index_changes WHERE change_id < ?", (last,))

    assert await found(store, store.index) == await found(store, SqliteIndex(store))
