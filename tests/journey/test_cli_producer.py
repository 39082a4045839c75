"""`penstock run --role=producer`: files of a folder are enqueued, once, by as many processes as like."""

import json
import os
import signal
import time
from datetime import datetime
from pathlib import Path

import pytest

from penstock.model.catalogue import LOCAL_WORKSPACE
from penstock.ports.desk import Wanted
from penstock.settings import RedisServer
from penstock.wiring.store import Store
from tests.support.command_line import Program
from tests.support.redis_program import RAG, RedisProgram
from tests.support.stalls import Machine
from tests.support.waiting import until

PATIENCE = 60.0
RATE, FILES = 60, 300


def test_two_producers_of_one_folder_keep_the_rate_together(
    tmp_path: Path, redis: RedisServer, machine: Machine
) -> None:
    """Real processes on the same files: together they are within the rate, and each file is taken once.

    What a machine held up comes later than it was due, beside what is due then.
    """
    times = times_of_two(tmp_path, redis)
    ahead = time.time() - time.monotonic()
    seconds = {at: sum(at <= each < at + 1 for each in times) for at in times}
    crowded = [(at - ahead, count / RATE) for at, count in seconds.items() if count > RATE * 1.05]
    assert all(rate <= 1.05 * (1 + machine.lost(at - 1, at + 1)) for at, rate in crowded), crowded


@pytest.mark.crash_full
def test_two_producers_of_one_folder_reach_the_rate_together(tmp_path: Path, redis: RedisServer) -> None:
    """Neither takes places for what the other has enqueued; asked of a machine that has nothing else to do.

    It may hold a producer up for a moment all the same: three seconds of its best are asked for.
    """
    times = times_of_two(tmp_path, redis)
    assert max(sum(at <= each < at + 3 for each in times) for at in times) >= 3 * RATE * 0.95


def times_of_two(tmp_path: Path, redis: RedisServer) -> list[float]:
    """When two producers enqueued each file of one folder."""
    folder = tmp_path / "drop"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number}.txt").write_text(str(number), encoding="utf-8")
        os.utime(folder / f"{number}.txt", (1_700_000_000, 1_700_000_000))
    chosen = {"scan_dir": str(folder), "collection": RAG, "rate_limit_per_sec": RATE}
    yard = RedisProgram(tmp_path, redis, producer=chosen)
    yard.in_store(nothing)
    producers = [yard.start("run", "--role=producer", "--config", yard.file) for _ in range(2)]
    try:
        until("every file is enqueued", lambda: len(yard.rows("queue_id")) >= FILES)
    finally:
        for producer in producers:
            producer.terminate()
            producer.communicate(timeout=PATIENCE)
        yard.bare.close()
    times = sorted(datetime.fromisoformat(at).timestamp() for (at,) in yard.rows("created_at"))
    assert len(times) == FILES
    return times


async def nothing(store: Store) -> None:
    """Opened once, the collection is declared."""


async def a_collection(store: Store) -> None:
    await store.write(lambda tx: tx.shelves.declare(LOCAL_WORKSPACE, "notes", recipe_json="{}"))


async def queued(store: Store) -> list[str]:
    jobs = await store.desk.jobs(Wanted())
    return sorted(Path(json.loads(job.payload_json)["file_path"]).name for job in jobs)


def test_a_folders_files_are_enqueued_once_by_two_processes(program: Program) -> None:
    """Both look the folder over at once; told to stop, each in its way, both end well."""
    folder = program.folder / "drop"
    folder.mkdir()
    for name in ("a.txt", "b.pdf", ".hidden"):
        (folder / name).write_text("hello", encoding="utf-8")
        os.utime(folder / name, (1_700_000_000, 1_700_000_000))
    program.in_store(a_collection)
    chosen = {"PRODUCER_SCAN_DIR": str(folder), "PENSTOCK_PRODUCER_COLLECTION": "notes"}
    producers = [program.start("run", "--role=producer", env=chosen) for _ in range(2)]
    try:
        for producer in producers:
            assert producer.stderr is not None
            assert any("looking over" in line for line in producer.stderr)
        ends = time.monotonic() + PATIENCE
        while len(program.in_store(queued)) < 2 and time.monotonic() < ends:
            time.sleep(0.05)
    finally:
        for producer, by in zip(producers, (signal.SIGTERM, signal.SIGINT), strict=True):
            producer.send_signal(by)
    said = [producer.communicate(timeout=PATIENCE)[1] for producer in producers]

    assert program.in_store(queued) == ["a.txt", "b.pdf"]
    assert [producer.returncode for producer in producers] == [0, 0], said
    assert "Traceback" not in "".join(said)
