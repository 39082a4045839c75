"""The jobs every contender runs: append a mark, nothing else, so that only the queue is measured."""

from __future__ import annotations

import os
import struct
import time

from penstock.model.payloads import File, ItemType
from penstock.work.handlers import Handlers, Run

MARK = os.open(os.environ.get("BENCH_MARK", os.devnull), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
STAMP = struct.Struct("<qq")
handlers = Handlers()


def noop() -> None:
    """One byte; an appending write is atomic across processes."""
    os.write(MARK, b".")


@handlers.on(ItemType.FILE)
async def file(run: Run) -> None:
    """A no-op, or the stamp of a latency run when the path carries the time of its submit."""
    assert isinstance(run.payload, File)
    if run.payload.file_path.startswith("/stamp/"):
        os.write(MARK, STAMP.pack(int(run.payload.file_path.rpartition("/")[2]), time.monotonic_ns()))
    else:
        noop()
