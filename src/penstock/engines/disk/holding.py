"""Holding a place that only one process may have, given up by the kernel when the holder dies."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

LOOK_SECONDS = 2.0


@asynccontextmanager
async def held(path: Path) -> AsyncIterator[None]:
    """Wait until no other process holds the file, then hold it to the end of the block."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while not _taken(handle):  # noqa: ASYNC110  # another process tells us nothing
            await asyncio.sleep(LOOK_SECONDS)
        yield
    finally:
        os.close(handle)


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
