"""Our jobs: append a mark, nothing else, so that only the queue is measured."""

from __future__ import annotations

import asyncio
import os

from bench.queue.marks import noop, stamp
from penstock.model.payloads import File, ItemType
from penstock.work.handlers import Handlers, Run

handlers = Handlers()


@handlers.on(ItemType.FILE)
async def file(run: Run) -> None:
    """A no-op, unless the path begins otherwise: the stamp of a latency run, or a job that takes a while."""
    assert isinstance(run.payload, File)
    _, kind, rest = run.payload.file_path.split("/", 2)
    if kind == "stamp":
        stamp(int(rest.rpartition("/")[2]))
    elif kind == "slow":
        stamp(os.getpid())
        await asyncio.sleep(float(rest))
    else:
        noop()
