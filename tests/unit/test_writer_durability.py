"""Which commits wait for the disk: all but those a power cut may take without harm."""

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from penstock.engines.sqlite import open_sqlite, writer
from penstock.engines.sqlite.connection import connect
from penstock.engines.sqlite.turnstile import Turnstile
from penstock.engines.sqlite.writer import Writer
from penstock.model.errors import Unavailable
from penstock.model.jobs import WorkerId
from penstock.model.outcomes import DONE
from penstock.model.rules import Rules
from tests.support.clock import FakeClock
from tests.support.jobs import a_job

PATIENCE = 30.0


class Disk:
    """The real sync, counted; it fails as often as it is told to."""

    def __init__(self) -> None:
        self.synced: list[str] = []
        self.failures = 0

    def sync(self, descriptor: int) -> None:
        if self.failures:
            self.failures -= 1
            raise OSError(errno.EIO, "Input/output error")
        os.fdatasync(descriptor)
        self.synced.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def watched(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """What every store opened from now on syncs."""
    monkeypatch.setattr(writer, "sync_log", disk.sync)
    return disk


def a_writer(folder: Path, disk: Disk, synchronous: str = "full") -> Writer:
    path = folder / "notes.db"
    db = connect(path, synchronous=synchronous)  # type: ignore[arg-type]
    db.execute("CREATE TABLE IF NOT EXISTS notes (note TEXT)")
    return Writer(db, Turnstile(folder), str(path), lambda: None, lambda: None, disk.sync)


def note(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO notes VALUES ('a')")


async def test_only_what_may_be_lost_does_not_wait_for_the_disk(tmp_path: Path, disk: Disk) -> None:
    """A commit that counts is synced before it is answered, also right after one that does not count."""
    desk = a_writer(tmp_path, disk)
    try:
        seen = []
        for durable in (True, False, True, False):
            await desk.write(note, PATIENCE, durable=durable)
            seen.append(len(disk.synced))
    finally:
        desk.close()

    assert seen == [1, 1, 2, 2]
    assert set(disk.synced) == {"notes.db-wal"}


async def test_others_may_write_while_the_disk_is_waited_for(tmp_path: Path, disk: Disk) -> None:
    """The turn and SQLite's own lock are free by then, and what was committed can be read."""
    met: list[int] = []

    def sync(descriptor: int) -> None:
        if not met:
            other = Turnstile(tmp_path, patience=0.2)
            db = connect(tmp_path / "notes.db", busy_seconds=0.2)
            assert other.enter()
            note(db)
            met.append(db.execute("SELECT count(*) FROM notes").fetchone()[0])
            db.close()
            other.close()
        os.fdatasync(descriptor)

    disk.sync = sync  # type: ignore[method-assign]
    desk = a_writer(tmp_path, disk)
    try:
        await desk.write(note, PATIENCE)
    finally:
        desk.close()

    assert met == [2]


async def test_a_failed_sync_is_made_good_by_a_copy(tmp_path: Path, disk: Disk) -> None:
    """Everything is in the database file itself then, so the caller may be answered."""
    desk = a_writer(tmp_path, disk)
    try:
        disk.failures = 1
        await desk.write(note, PATIENCE)
        alone = tmp_path / "copy.db"
        alone.write_bytes((tmp_path / "notes.db").read_bytes())
        notes = sqlite3.connect(alone).execute("SELECT count(*) FROM notes").fetchone()[0]
        await desk.write(note, PATIENCE)
    finally:
        desk.close()

    assert notes == 1
    assert len(disk.synced) == 1, "the log is trusted again"


async def test_without_copy_the_caller_is_told_and_the_log_not_trusted(tmp_path: Path, disk: Disk) -> None:
    """A reader in the way keeps the copy from being whole; a later sync alone proves nothing."""
    desk = a_writer(tmp_path, disk)
    reader = sqlite3.connect(tmp_path / "notes.db", isolation_level=None)
    try:
        await desk.write(note, PATIENCE)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM notes").fetchone()
        disk.failures = 1
        for _ in range(2):
            with pytest.raises(Unavailable, match="may not have reached the disk"):
                await desk.write(note, PATIENCE)
        reader.execute("ROLLBACK")
        await desk.write(note, PATIENCE)
        assert reader.execute("SELECT count(*) FROM notes").fetchone() == (4,)
    finally:
        reader.close()
        desk.close()

    assert len(disk.synced) == 1


@pytest.mark.parametrize(("idle", "expected"), [(True, 0), (False, 1)])
async def test_an_idle_workers_claim_does_not_wait_and_the_settle_does(
    tmp_path: Path, watched: Disk, idle: bool, expected: int
) -> None:
    """The claim someone waits for is seen at once; its outcome is on disk before it is answered."""
    store = await open_sqlite(tmp_path, rules=Rules(), clock=FakeClock())
    try:
        await store.queue.submit([a_job()])
        submitted = len(watched.synced)
        (lease,) = await store.queue.claim(WorkerId("w"), 1, idle=idle)
        claimed = len(watched.synced)
        await store.queue.settle([(lease, DONE)])
        settled = len(watched.synced)
    finally:
        await store.close()

    assert (submitted, claimed - submitted, settled - claimed) == (1, expected, 1)


async def test_a_store_set_to_normal_never_waits(tmp_path: Path, disk: Disk) -> None:
    """The named choice is never made stricter."""
    desk = a_writer(tmp_path, disk, "normal")
    try:
        await desk.write(note, PATIENCE)
    finally:
        desk.close()

    assert disk.synced == []
