"""`penstock run --role=producer`: files of a folder are enqueued, once, by as many processes as like."""

import json
import os
import signal
import time
from pathlib import Path

from penstock.model.catalogue import LOCAL_WORKSPACE
from penstock.ports.desk import Wanted
from penstock.wiring.store import Store
from tests.support.command_line import Program

PATIENCE = 60.0


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
