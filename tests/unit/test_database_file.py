"""The file all of it is in."""

import asyncio
import logging
import shutil
from pathlib import Path

import pytest

from penstock.engines.sqlite import SqliteStore, footing, open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.errors import Displaced
from penstock.model.jobs import WorkerId
from penstock.model.rules import Rules
from tests.support.jobs import a_job


def modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.glob("penstock.db*")}


async def test_a_new_database_is_its_owners_to_read(tmp_path: Path) -> None:
    """What documents say is nobody's on the same machine; one that was shared on purpose stays so."""
    store = await open_sqlite(tmp_path, rules=Rules(), clock=SystemClock())
    made = modes(tmp_path)
    await store.close()
    (tmp_path / "penstock.db").chmod(0o660)
    again = await open_sqlite(tmp_path, rules=Rules(), clock=SystemClock())
    shared = modes(tmp_path)
    await again.close()

    assert set(made) == {"penstock.db", "penstock.db-wal", "penstock.db-shm"}
    assert set(made.values()) == {0o600}
    assert set(shared.values()) == {0o660}


@pytest.mark.parametrize("lost", ["deleted", "moved", "replaced", "folder"])
async def test_nothing_is_written_to_a_file_nobody_will_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, lost: str
) -> None:
    """Writes are refused, whoever writes nothing notices too, and it is told once, with what to do."""
    monkeypatch.setattr(footing, "LOOK_SECONDS", 0.01)
    folder = tmp_path / "data"
    store = await open_sqlite(folder, rules=Rules(), clock=SystemClock())
    await store.queue.submit([a_job()])
    caplog.set_level(logging.ERROR)
    kept = _lose(folder, lost)

    with pytest.raises(Displaced):
        await store.queue.submit([a_job()])
    with pytest.raises(Displaced):
        await store.queue.claim(WorkerId("w1"), 1)
    with pytest.raises(Displaced):
        async with asyncio.timeout(30):
            await store.footing.run()

    assert len(caplog.records) == 1
    assert "Stop every program first" in caplog.text
    await store.close()
    if lost == "folder":
        assert not folder.exists()
        again = await open_sqlite(kept, rules=Rules(), clock=SystemClock())
        assert (await again.desk.counts()).ready == 1
        await again.close()


def _lose(folder: Path, lost: str) -> Path:
    """Take the database from its place; where its folder is then."""
    database = folder / "penstock.db"
    match lost:
        case "deleted":
            database.unlink()
        case "moved":
            database.rename(folder / "elsewhere.db")
        case "replaced":
            shutil.copy(database, folder / "copy.db")
            (folder / "copy.db").rename(database)
        case _:
            return folder.rename(folder.with_name("elsewhere"))
    return folder


async def test_a_store_that_stays_is_written_on(tmp_path: Path) -> None:
    """A file changed in its place, a mode, a vacuum, another name of it: all of that is no move."""
    store: SqliteStore = await open_sqlite(tmp_path, rules=Rules(), clock=SystemClock())
    (tmp_path / "penstock.db").chmod(0o640)
    (tmp_path / "name.db").hardlink_to(tmp_path / "penstock.db")
    await store.queue.submit([a_job()])
    store.footing.check()
    await store.close()
