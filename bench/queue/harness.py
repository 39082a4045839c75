"""Scratch folders, stop watches, worker processes, and how rates are read from the mark file."""

from __future__ import annotations

import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

REPEATS = 5


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder on the same disk as the working directory, gone afterwards.

    Nothing of the measure before is on its way to the disk any more when it is handed out.
    """
    os.sync()
    folder = Path(tempfile.mkdtemp(prefix=".bench-", dir=os.getcwd()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def rate(count: int, work: Callable[[], object]) -> float:
    """Per second."""
    begin = time.perf_counter()
    work()
    return count / (time.perf_counter() - begin)


def middle(values: list[float]) -> float:
    """The median."""
    return statistics.median(values)


def percentile(values: list[float], share: float) -> float:
    """The value below which this share lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


@contextmanager
def processes(argv: list[str], count: int, folder: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many processes with a mark file of their own, killed at the end."""
    env = {
        **os.environ,
        "BENCH_MARK": str(folder / "mark"),
        "BENCH_STORE": str(folder / "peer.db"),
        "PYTHONPATH": os.getcwd(),
    }
    with open(folder / "log", "ab") as log:
        started = [
            subprocess.Popen(argv, env=env, stdout=log, stderr=log, start_new_session=True)
            for _ in range(count)
        ]
    try:
        yield started
    finally:
        for process in started:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            process.wait()


def drain_rate(argv: list[str], jobs: int, workers: int, folder: Path, limit: float = 120.0) -> float:
    """Jobs per second between 5 % and all of them run, so that starting up does not count."""
    mark = folder / "mark"
    mark.touch()
    os.sync()
    with processes(argv, workers, folder):
        first: tuple[float, int] | None = None
        deadline = time.monotonic() + limit
        while True:
            done, now = mark.stat().st_size, time.monotonic()
            if first is None and done >= jobs // 20:
                first = (now, done)
            if done >= jobs:
                break
            if now > deadline:
                raise RuntimeError(f"{argv}: {done} of {jobs} after {limit:g} s; see {folder / 'log'}")
            time.sleep(0.002)
    assert first is not None
    return (done - first[1]) / max(now - first[0], 1e-9)


def python(*argv: str) -> list[str]:
    """This interpreter on a module."""
    return [sys.executable, "-m", *argv]
