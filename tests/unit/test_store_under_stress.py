"""A store whose surroundings misbehave: its threads live on, and whoever asks gets an answer in our words."""

import asyncio
import os
import shutil
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from penstock.engines.sqlite import SqliteStore, checkpoint, open_sqlite
from penstock.engines.sqlite.turnstile import Turnstile
from penstock.model.errors import Fault, Refused
from penstock.model.jobs import BatchId, Receipt, WorkerId
from penstock.model.rules import Rules
from penstock.ports.database import Transaction
from tests.support.clock import FakeClock
from tests.support.jobs import a_job

PATIENCE = 20.0
FAR_LONGER = 60.0


async def opened(folder: Path, *, busy_seconds: float = 10.0) -> SqliteStore:
    """The store of a folder, with the usual rules."""
    return await open_sqlite(
        folder, rules=Rules(), clock=FakeClock(), synchronous="normal", busy_seconds=busy_seconds
    )


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    made = await opened(tmp_path)
    yield made
    await made.close()


@asynccontextmanager
async def busy(store: SqliteStore) -> AsyncIterator[None]:
    """While this lasts the writing thread stands in somebody's write; who comes meanwhile is one group."""
    entered, go_on = threading.Event(), threading.Event()

    def stand_still(_: Transaction) -> bool:
        entered.set()
        return go_on.wait(PATIENCE)

    blocker = asyncio.create_task(store.write(stand_still))
    assert await asyncio.to_thread(entered.wait, PATIENCE)
    try:
        yield
    finally:
        go_on.set()
        assert await blocker


def a_folder_among_the_bells(run: Path) -> None:
    (run / "x.bell").mkdir()


def no_folder_for_the_bells(run: Path) -> None:
    shutil.rmtree(run)


@pytest.mark.parametrize("trouble", [a_folder_among_the_bells, no_folder_for_the_bells])
async def test_trouble_with_the_bell_does_not_stop_the_writer(
    store: SqliteStore, trouble: Callable[[Path], None]
) -> None:
    """Every submit is answered, though nobody can be woken for it."""
    trouble(store.path.parent / "run")

    for _ in range(3):
        (receipt,) = await store.queue.submit([a_job()])
        assert await store.desk.find(receipt.job_id) is not None


async def test_a_reader_does_not_hold_up_writes_once_the_log_is_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Emptying the log gives up at once where a reader is in the way, and writes go on meanwhile."""
    monkeypatch.setattr(checkpoint, "COMMITS", 1)
    monkeypatch.setattr(checkpoint, "TRUNCATE_BYTES", 1 << 20)
    gave_up = threading.Event()
    leave = Turnstile.leave

    def told(turnstile: Turnstile) -> None:
        leave(turnstile)
        if threading.current_thread().name == "penstock-checkpoint":
            gave_up.set()

    monkeypatch.setattr(Turnstile, "leave", told)
    store = await opened(tmp_path, busy_seconds=FAR_LONGER)
    try:
        with closing(sqlite3.connect(store.path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM unified_queue").fetchone()
            async with asyncio.timeout(PATIENCE):
                for _ in range(60):
                    await store.queue.submit([a_job(metadata={"k": "x" * 40_000})])
            assert await asyncio.to_thread(gave_up.wait, PATIENCE)
            async with asyncio.timeout(PATIENCE):
                await store.queue.submit([a_job()])
            assert os.stat(f"{store.path}-wal").st_size > checkpoint.TRUNCATE_BYTES
    finally:
        await store.close()


async def test_stop_iteration_is_told_like_any_error(store: SqliteStore) -> None:
    """A future cannot carry it, so it comes as the cause of another error; its neighbour is served."""

    def bad(_: Transaction) -> int:
        return next(iter(()))

    async with busy(store):
        tasks = [asyncio.create_task(store.write(work)) for work in (bad, lambda _: 7)]
        await asyncio.sleep(0)
    told, neighbour = await asyncio.gather(*tasks, return_exceptions=True)

    assert isinstance(told, RuntimeError)
    assert isinstance(told.__cause__, StopIteration)
    assert neighbour == 7


async def test_a_written_function_runs_once(store: SqliteStore) -> None:
    """A neighbour of the same group that is refused does not make it run again."""
    calls: list[list[Receipt]] = []

    def good(tx: Transaction) -> None:
        calls.append(tx.submit([a_job()]))

    async with busy(store):
        ours = asyncio.create_task(store.write(good))
        theirs = asyncio.create_task(store.queue.submit([a_job()], batch=BatchId("nobody knows")))
        await asyncio.sleep(0)
    result, refused = await asyncio.gather(ours, theirs, return_exceptions=True)

    assert result is None
    assert isinstance(refused, Refused)
    assert len(calls) == 1
    assert await store.desk.find(calls[0][0].job_id) is not None


@pytest.mark.parametrize("name", ["place-4.lock", "turn.lock"])
async def test_a_lock_file_that_cannot_be_opened_is_a_fault(tmp_path: Path, name: str) -> None:
    """Who opens the store hears of it as of any other trouble with the folder."""
    (tmp_path / "run" / name).mkdir(parents=True)

    with pytest.raises(Fault):
        await opened(tmp_path)


async def test_metadata_without_end_is_refused(store: SqliteStore) -> None:
    """A mapping that holds itself cannot be written down, which is the caller's mistake."""
    endless: dict[str, object] = {}
    endless["again"] = endless

    with pytest.raises(Refused):
        await store.queue.submit([a_job(metadata=endless)])


async def test_closing_twice_is_closing_once(tmp_path: Path) -> None:
    """The second close finds nothing to do."""
    store = await opened(tmp_path)

    await store.close()
    await store.close()


async def test_a_newer_database_is_left_as_it_is_whatever_its_journal(tmp_path: Path) -> None:
    """It is refused before anything is changed, the mode of its journal included."""
    store = await opened(tmp_path)
    await store.close()
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA user_version = 99")
    before = store.path.read_bytes()

    with pytest.raises(Refused):
        await opened(tmp_path)

    assert store.path.read_bytes() == before


async def test_a_sign_of_life_that_cannot_be_written_holds_no_files(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its writer is made by the first beat, and asked for again every second while that fails."""

    def refused(*_: object, **__: object) -> sqlite3.Connection:
        raise sqlite3.OperationalError("unable to open database file")

    before = set(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(store, "_open", refused)
    for _ in range(5):
        with pytest.raises(Fault):
            await store.queue.beat(WorkerId("w"), concurrency=1)

    assert len(set(os.listdir("/proc/self/fd")) - before) <= 1  # the listing's own
    monkeypatch.undo()
    await store.queue.beat(WorkerId("w"), concurrency=1)
    assert [worker.id for worker in await store.desk.workers()] == ["w"]
