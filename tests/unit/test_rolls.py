"""The roll of begun attempts: only what is surely known to have waited goes back free."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.engines.sqlite import open_sqlite
from penstock.engines.system import rolls
from penstock.engines.system.rolls import HEADER_BYTES, PLACES, Rolls
from penstock.model.jobs import Lease, WorkerId
from penstock.model.rules import Rules
from penstock.ports.roll import NO_ROLL
from tests.support.clock import FakeClock
from tests.support.jobs import a_job

W = WorkerId("w")


@pytest.fixture
async def leases(tmp_path: Path) -> list[Lease]:
    store = await open_sqlite(tmp_path / "data", rules=Rules(), clock=FakeClock())
    await store.queue.submit([a_job() for _ in range(3)])
    claimed = await store.queue.claim(W, 3)
    await store.close()
    return claimed


def begun(kept: Rolls, leases: list[Lease]) -> list[bool]:
    return [kept.had_begun(W, lease.job_id, lease.token) for lease in leases]


def test_what_was_called_over_had_begun(tmp_path: Path, leases: list[Lease]) -> None:
    """Another process reads it, also when the one that wrote it is gone without a word."""
    Rolls(tmp_path).begin(W).begins(leases[1])

    assert begun(Rolls(tmp_path), leases) == [False, True, False]
    first = leases[1]
    assert not Rolls(tmp_path).had_begun(W, first.job_id, first.token + 1), "another attempt is another"


@pytest.mark.parametrize("damage", ["gone", "half", "another boot"])
def test_where_nobody_knows_all_had_begun(tmp_path: Path, leases: list[Lease], damage: str) -> None:
    """A missing roll, half a one, and one the machine was restarted after are not believed."""
    Rolls(tmp_path).begin(W).begins(leases[0])
    (file,) = tmp_path.glob("*.roll")
    text = file.read_bytes()
    match damage:
        case "gone":
            file.unlink()
        case "half":
            file.write_bytes(text[: HEADER_BYTES + 7])
        case _:
            file.write_bytes(b"x" * HEADER_BYTES + text[HEADER_BYTES:])

    assert begun(Rolls(tmp_path), leases) == [True] * 3


def test_a_roll_that_is_full_is_given_up(tmp_path: Path, leases: list[Lease]) -> None:
    """What does not fit must not look as if it had not begun."""
    roll = Rolls(tmp_path).begin(W)
    for number in range(PLACES):
        roll.begins(leases[0]._replace(token=100 + number))
    assert not all(begun(Rolls(tmp_path), leases))

    roll.begins(leases[1])

    assert begun(Rolls(tmp_path), leases) == [True] * 3


def test_a_disk_that_takes_nothing_leaves_no_roll(
    tmp_path: Path, leases: list[Lease], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The handler begins all the same, and counts as begun."""
    kept = Rolls(tmp_path)
    roll = kept.begin(W)
    kept.close()

    roll.begins(leases[0])

    assert begun(Rolls(tmp_path), leases) == [True] * 3
    monkeypatch.setattr(rolls, "boot", lambda: "")
    assert Rolls(tmp_path).begin(W) is NO_ROLL


def test_a_forgotten_worker_leaves_no_file(tmp_path: Path) -> None:
    """Nor does forgetting twice do harm."""
    kept = Rolls(tmp_path)
    kept.begin(W)

    kept.forget([W])
    kept.forget([W, "nobody/../else"])

    assert list(tmp_path.glob("*.roll")) == []


async def test_a_dead_workers_roll_goes_once_nobody_needs_it(tmp_path: Path) -> None:
    """Not while its job is still to be taken back, and never a living one's."""
    clock = FakeClock()
    dead = await open_sqlite(tmp_path, rules=Rules(), clock=clock)
    await dead.queue.submit([a_job()])
    await dead.queue.beat(W, concurrency=1)
    dead.queue.roll(W)
    dead.queue.roll(WorkerId("idle"))
    await dead.queue.claim(W, 1)
    store = await open_sqlite(tmp_path, rules=Rules(), clock=clock)

    async def left() -> int:
        await store.queue.prune(done_before=0, failed_before=0)
        return sum(name.endswith(".roll") for name in os.listdir(tmp_path / "run"))

    assert await left() == 2
    dead.abandon()
    assert await left() == 1
    clock.advance(Rules().dead_after_seconds + 1)
    await store.queue.rescue()
    assert await left() == 0
    await store.close()


@pytest.mark.parametrize("way", ["reported", "noticed"])
async def test_what_no_handler_had_begun_goes_back_free(tmp_path: Path, way: str) -> None:
    """C7: a death counts against what was called over, whoever takes the jobs back."""
    clock = FakeClock()
    dead = await open_sqlite(tmp_path, rules=Rules(), clock=clock)
    ids = [receipt.job_id for receipt in await dead.queue.submit([a_job(), a_job()])]
    roll = dead.queue.roll(W)
    await dead.queue.beat(W, concurrency=2)
    roll.begins((await dead.queue.claim(W, 2))[0])
    dead.abandon()
    store = await open_sqlite(tmp_path, rules=Rules(), clock=clock)

    if way == "reported":
        await store.queue.leave(W, died=True)
    else:
        clock.advance(Rules().dead_after_seconds + 1)
        await store.queue.rescue()

    found = [await store.desk.find(job) for job in ids]
    assert [(job.retry_count, job.crashes) for job in found if job is not None] == [(1, 1), (0, 0)]
    await store.close()
