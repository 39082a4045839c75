"""The bell between processes: heard at once, never blocking, and silent when nothing happens."""

import asyncio
import os
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from penstock.engines.sqlite.connection import connect, prepare
from penstock.engines.sqlite.doorbell import Doorbell
from tests.support.stalls import Machine

NEVER = 60.0
"""A poll so rare that only a ring can have woken the sleeper."""
SOON = 20.0
"""Far more than a ring takes, far less than NEVER."""

TURNS_MAX = 10
"""Turns of the event loop a look may take; whoever spins makes thousands."""

CHILD = """
import asyncio, sys
from pathlib import Path
from penstock.engines.sqlite.connection import connect
from penstock.engines.sqlite.doorbell import Doorbell

async def main(folder, part):
    bell = Doorbell(folder / "run", connect(folder / "penstock.db"), 60.0)
    if part == "ring":
        bell.ring()
    else:
        waiting = asyncio.create_task(bell.wait(30.0))
        await asyncio.sleep(0)
        print("waiting", flush=True)
        print(await waiting, flush=True)
    bell.close()

asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
"""


class House:
    """A data folder, and the bells hung up in it."""

    def __init__(self, folder: Path) -> None:
        self.path = prepare(folder, synchronous="normal", busy_seconds=5.0)
        self.folder = folder
        self.run = folder / "run"
        self._bells: list[Doorbell] = []

    def bell(self, poll_seconds: float = NEVER, reader: sqlite3.Connection | None = None) -> Doorbell:
        bell = Doorbell(self.run, reader or connect(self.path), poll_seconds)
        self._bells.append(bell)
        return bell

    def sockets(self) -> list[str]:
        return [name for name in os.listdir(self.run) if name.endswith(".bell")]

    def take_down(self, bell: Doorbell) -> None:
        self._bells.remove(bell)
        bell.close()

    def close(self) -> None:
        for bell in self._bells:
            bell.close()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.close()


async def asleep(bell: Doorbell, timeout: float = 30.0) -> asyncio.Task[bool]:
    """A wait that has begun to listen."""
    waiting = asyncio.create_task(bell.wait(timeout))
    await asyncio.sleep(0)
    return waiting


async def heard(waiting: asyncio.Task[bool]) -> bool:
    """How the wait ended, which must be soon."""
    async with asyncio.timeout(SOON):
        return await waiting


def insert(path: Path, queue_id: str, status: str = "pending") -> None:
    """A row by raw SQL."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "INSERT INTO unified_queue (queue_id, item_type, op, tenant_id, collection, status, created_at,"
            " updated_at, idempotency_key, payload_json) VALUES (?, 'content', 'ingest', 't', 'c', ?, '2025',"
            " '2025', ?, '{}')",
            (queue_id, status, queue_id),
        )


async def test_a_ring_wakes_everyone_who_waits(house: House) -> None:
    """One ring reaches every bell of the folder, the ringer's own too."""
    bells = [house.bell() for _ in range(5)]
    sleepers = [await asleep(bell) for bell in bells]

    bells[0].ring()

    assert [await heard(sleeper) for sleeper in sleepers] == [True] * 5


async def test_a_ring_from_another_process_is_heard(house: House) -> None:
    """A process that only rings wakes one that only waits."""
    sleeper = await asleep(house.bell())

    child = await asyncio.create_subprocess_exec(sys.executable, "-c", CHILD, str(house.folder), "ring")

    assert await heard(sleeper) is True
    assert await child.wait() == 0


async def test_another_process_hears_our_ring(house: House) -> None:
    """The way back works as well, and the other process leaves no socket behind."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CHILD, str(house.folder), "wait", stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    async with asyncio.timeout(30.0):
        assert await child.stdout.readline() == b"waiting\n"

        house.bell().ring()

        assert await child.stdout.readline() == b"True\n"
        assert await child.wait() == 0
    assert house.sockets() == []


async def test_a_ring_between_two_waits_is_not_lost(house: House) -> None:
    """Whoever has once waited finds, at the next wait, that the bell rang meanwhile."""
    bell = house.bell()
    assert await bell.wait(0.01) is False

    house.bell().ring()

    assert await heard(await asleep(bell)) is True


async def test_many_rings_are_one(house: House) -> None:
    """After waking once, nothing is left to wake for."""
    bell, ringer = house.bell(), house.bell()
    sleeper = await asleep(bell)
    for _ in range(20):
        ringer.ring()

    assert await heard(sleeper) is True
    await asyncio.sleep(0)  # what is still in the socket is read now
    await bell.wait(0.05)
    assert await bell.wait(0.05) is False


async def test_ringing_never_blocks(house: House, machine: Machine) -> None:
    """A sleeper whose socket is full of rings it has not read costs the ringer nothing."""
    bell = house.bell()
    assert await bell.wait(0.01) is False
    ringer = house.bell()

    started = time.monotonic()
    for _ in range(3_000):
        ringer.ring()

    assert time.monotonic() - started < SOON + machine.lost(started)
    assert await heard(await asleep(bell)) is True


@pytest.mark.parametrize("length", [120, 240])
async def test_a_folder_with_a_long_name_has_a_bell_too(tmp_path: Path, length: int) -> None:
    """A socket's address holds 108 bytes; a data folder's path may be longer, within and across processes."""
    folder = tmp_path / ("d" * (length // 2)) / ("e" * (length // 2))
    folder.mkdir(parents=True)
    house = House(folder)
    assert len(os.fsencode(house.run)) > 108
    sleeper = await asleep(house.bell())

    child = await asyncio.create_subprocess_exec(sys.executable, "-c", CHILD, str(folder), "ring")

    assert await heard(sleeper) is True
    assert await child.wait() == 0
    house.close()
    assert house.sockets() == []


async def test_sockets_of_the_dead_are_swept_away(house: House) -> None:
    """A socket nobody listens to any more is removed by the next ring; living ones stay."""
    sleeper = await asleep(house.bell())
    for number in range(3):
        left_behind = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        left_behind.bind(str(house.run / f"{number}-dead.bell"))
        left_behind.close()
    assert len(house.sockets()) == 4

    house.bell().ring()

    assert len(house.sockets()) == 1
    assert await heard(sleeper) is True


async def test_other_files_in_the_folder_are_left_alone(house: House) -> None:
    """Only bells are rung and swept."""
    (house.run / "notes.txt").write_text("mine")

    house.bell().ring()

    assert (house.run / "notes.txt").read_text() == "mine"


async def test_only_those_who_wait_have_a_socket(house: House) -> None:
    """A process that never waits hangs up nothing, and one that leaves takes its socket away."""
    ringer, bell = house.bell(), house.bell()
    ringer.ring()
    assert house.sockets() == []
    await bell.wait(0.01)
    assert len(house.sockets()) == 1

    house.take_down(bell)

    assert house.sockets() == []
    ringer.ring()


async def test_a_raw_row_is_noticed_within_the_poll(house: House) -> None:
    """A writer that does not know the bell is found out by the change counter."""
    bell = house.bell(poll_seconds=0.02)
    assert await bell.wait(0.1) is False
    sleeper = await asleep(bell)

    insert(house.path, "row")

    assert await heard(sleeper) is True


async def test_a_row_that_was_there_before_the_first_wait_is_noticed(house: House) -> None:
    """The first look has nothing to compare with and looks at the rows themselves."""
    insert(house.path, "row")

    assert await heard(await asleep(house.bell(poll_seconds=0.02))) is True


async def test_a_change_that_brings_no_work_wakes_nobody(house: House) -> None:
    """The counter moves with every commit; only claimable rows are news."""
    bell = house.bell(poll_seconds=0.02)
    assert await bell.wait(0.05) is False

    insert(house.path, "row", status="in_progress")

    assert await bell.wait(0.2) is False


async def test_a_look_that_fails_is_told_and_made_again(house: House) -> None:
    """Who waits hears of it, and the next wait finds the row that was there meanwhile."""
    reader = connect(house.path)
    bell = house.bell(0.02, reader)
    insert(house.path, "row")
    reader.set_progress_handler(lambda: 1, 1)  # every statement is interrupted
    with pytest.raises(sqlite3.OperationalError):
        await heard(await asleep(bell))

    reader.set_progress_handler(None, 0)

    assert await heard(await asleep(bell)) is True


@pytest.mark.parametrize(("poll", "timeout", "looks"), [(0.05, 0.5, 11), (NEVER, 0.2, 1)])
async def test_waiting_does_not_spin(
    house: House, monkeypatch: pytest.MonkeyPatch, poll: float, timeout: float, looks: int
) -> None:
    """Between two looks at the counter the process sleeps, and it looks no more often than it was told."""
    seen: list[str] = []
    reader = connect(house.path)
    bell = house.bell(poll, reader)
    await bell.wait(0.01)
    reader.set_trace_callback(seen.append)
    turns = turns_of_the_loop(monkeypatch)

    assert await bell.wait(timeout) is False

    assert 1 <= len(seen) <= looks
    assert len(turns) <= TURNS_MAX * looks


def turns_of_the_loop(monkeypatch: pytest.MonkeyPatch) -> list[float | None]:
    """One entry for each turn of the running loop from now on: how long it was ready to sleep."""
    turns: list[float | None] = []
    selector = asyncio.get_running_loop()._selector  # type: ignore[attr-defined]
    select = selector.select

    def counted(timeout: float | None = None) -> object:
        turns.append(timeout)
        return select(timeout)

    monkeypatch.setattr(selector, "select", counted)
    return turns


async def test_a_wait_without_time_is_over_at_once(house: House) -> None:
    """A timeout of nothing is legal and means: has it rung?"""
    async with asyncio.timeout(SOON):
        assert await house.bell().wait(0.0) is False


def test_a_bell_follows_its_owner_to_another_event_loop(house: House) -> None:
    """Waiting on one loop after the other works; the ring reaches the one that waits now."""
    bell, ringer = house.bell(), house.bell()

    async def wait_and_hear() -> bool:
        sleeper = await asleep(bell)
        ringer.ring()
        return await heard(sleeper)

    assert asyncio.run(wait_and_hear()) is True
    assert asyncio.run(wait_and_hear()) is True
    assert len(house.sockets()) == 1


async def test_a_cancelled_wait_leaves_the_bell_usable(house: House) -> None:
    """A worker that is told to stop cancels its wait and may wait again."""
    bell = house.bell()
    sleeper = await asleep(bell)
    sleeper.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sleeper

    again = await asleep(bell)
    house.bell().ring()

    assert await heard(again) is True
