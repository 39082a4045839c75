"""Parsers for tests: real children with limits that a test can wait for."""

from __future__ import annotations

import contextlib
import io
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import psutil

from penstock.engines.parsers.nursery import Nursery
from penstock.engines.parsers.pool import Bounds, Parsers
from penstock.model.errors import Refused
from penstock.model.parsed import Parsed
from penstock.pipeline.parse.reading import read_whole
from penstock.wiring.parsers import COMMAND

PATIENCE = 30.0


@asynccontextmanager
async def parsers(**bounds: Any) -> AsyncIterator[Parsers]:
    """A pool of real children; afterwards none of them is left."""
    given = Bounds(**{"children": 1, "seconds": 60.0, **bounds})
    pool = Parsers(Nursery(COMMAND, given.memory_bytes), given)
    try:
        await pool.open()
        yield pool
    finally:
        await pool.close()
        assert pool.pids == ()


def read_bytes(data: bytes, name: str, *, lenient: bool = False) -> Parsed:
    """Parse in this process, where a failure has a trace."""
    return read_whole(io.BytesIO(data), name, lenient=lenient)


def code_of(data: bytes, name: str, *, lenient: bool = False) -> str:
    """The code a file is refused with, or the format it was read as."""
    try:
        return read_bytes(data, name, lenient=lenient).media.value
    except Refused as refused:
        return refused.code


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def children_alive() -> list[int]:
    """Every living parser of this process, and what they come from."""
    found = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if child.status() != psutil.STATUS_ZOMBIE and "penstock.doors.nursery" in child.cmdline():
                found.append(child.pid)
    return found


def seconds_ran(pid: int) -> float:
    """What a process has had of the processors so far."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def wait_until_busy(pid: int) -> None:
    """Until a child works on something."""
    process = psutil.Process(pid)
    start = process.cpu_times().user
    _wait(lambda: process.cpu_times().user - start >= 0.05)


def wait_until_gone(pid: int, seconds: float = PATIENCE) -> None:
    """Until a process is gone."""
    _wait(lambda: _is_gone(pid), seconds)


def _is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _wait(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not after {seconds:g} s"
        time.sleep(0.005)
