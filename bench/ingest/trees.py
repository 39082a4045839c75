"""A process and all it started: how much memory they have, and how they are ended."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

LOOK_SECONDS = 0.5
"""A look goes through all processes of the machine, which takes time from what is measured."""
MEGABYTE = 1 << 20


@dataclass(slots=True)
class Peak:
    """The most memory a tree was seen to have, in bytes, and of how many processes."""

    bytes: int = 0
    processes: int = 0

    @property
    def megabytes(self) -> float:
        return self.bytes / MEGABYTE


def members(pid: int) -> list[psutil.Process]:
    """The process and everything it started that still lives."""
    try:
        top = psutil.Process(pid)
        return [top, *top.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


@contextmanager
def watched(pid: int) -> Iterator[Peak]:
    """Look at the memory of a tree now and then meanwhile."""
    peak, over = Peak(), threading.Event()

    def look() -> None:
        while not over.wait(LOOK_SECONDS):
            found = [_resident(process) for process in members(pid)]
            if sum(found) > peak.bytes:
                peak.bytes, peak.processes = sum(found), len(found)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0


def processor_seconds(pid: int) -> float:
    """What the living processes of a tree have used, and those they waited for."""
    total = 0.0
    for process in members(pid):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
    return total


def machine_seconds() -> float:
    """What all programs of the machine have used, and what its host took from it."""
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + times.irq + times.softirq + times.steal)


def kill(pid: int) -> None:
    """SIGKILL for the whole tree, its top held still first so that it starts nothing anew."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
    for process in reversed(members(pid)):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
