"""What is measured of each contender: plain numbers, on a server with nothing else in it."""

from __future__ import annotations

import os
import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.queue.harness import drain_rate, percentile, processes, python, scratch
from bench.queue.marks import STAMP
from bench.redis.drive import contender
from tests.support.servers.bare import Bare
from tests.support.servers.redis import Redis, a_redis, bundled

PEERS = ("arq", "celery", "dramatiq", "huey", "rq", "saq", "streaq", "taskiq")
PROGRAM = shutil.which("redis-server") or shutil.which("valkey-server") or bundled()
"""The server of this machine, as its users would have it; where there is none, the one of the tests."""
WARM_SECONDS = 4.0
"""So long a worker may take to start."""
LATE_SECONDS = 60.0
SLOW_SECONDS = 30.0
"""A job that is still under way when its worker is killed."""


class Place(NamedTuple):
    """A server of its own and a folder for marks and logs."""

    redis: Redis
    folder: Path

    @property
    def words(self) -> list[str]:
        """What a command is begun with, so that it finds both."""
        url = f"redis://127.0.0.1:{self.redis.server.port}/0"
        store, mark = self.folder / "peer.db", self.folder / "mark"
        return ["env", f"BENCH_REDIS={url}", f"BENCH_STORE={store}", f"BENCH_MARK={mark}"]

    def drive(self, name: str, what: str, *numbers: float) -> float:
        """Let the contender's producer do it; what it measured."""
        argv = [*self.words, *python("bench.redis.drive", name, what, *map(str, numbers))]
        out = subprocess.run(
            argv, env={**os.environ, "PYTHONPATH": os.getcwd()}, capture_output=True, text=True
        )
        if out.returncode:
            raise RuntimeError(f"{name} {what}: {out.stderr[-2000:]}")
        return float(out.stdout.split()[-1])

    def worker(self, name: str, **more: int) -> list[str]:
        """How its worker is started here."""
        extra = [f"BENCH_{key.upper()}={value}" for key, value in more.items()]
        argv = subprocess.run(
            [*self.words, *python("bench.redis.drive", name, "argv")],
            env={**os.environ, "PYTHONPATH": os.getcwd()},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        return [*self.words, *extra, *argv]

    def commands(self, seconds: float) -> int:
        """How many commands the server is sent in that time; what scripts call does not count."""
        sent, ends = 0, time.monotonic() + seconds
        with socket.create_connection((self.redis.server.host, self.redis.server.port)) as told:
            told.sendall(b"MONITOR\r\n")
            told.settimeout(0.1)
            while time.monotonic() < ends:
                try:
                    lines = told.recv(1 << 20).splitlines()
                except TimeoutError:
                    continue
                sent += sum(b"] " in line and b" lua] " not in line for line in lines)
        return sent

    def stamps(self) -> list[tuple[int, int]]:
        """Sent and begun, of each stamped job; the first of a producer only connects."""
        data = (self.folder / "mark").read_bytes()
        return [(sent, began) for sent, began in struct.iter_unpack(STAMP.format, data) if sent]


@contextmanager
def place() -> Iterator[Place]:
    """A server with append-only persistence, synced every second."""
    with scratch() as folder, a_redis(folder / "redis", PROGRAM) as redis:
        (folder / "mark").touch()
        yield Place(redis, folder)


def server() -> str:
    """What the server says it is."""
    out = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
    return " ".join(word for word in out.split() if not word.startswith(("sha=", "bits=", "build=")))


def jobs_of(name: str, share: int) -> int:
    """How many it drains in a few seconds."""
    return max(100, int(contender(name).JOBS) // share)


def rates(name: str, share: int, *, drains: tuple[int, ...] = (1, 2)) -> dict[str, float]:
    """Jobs a second: single submits, submits of many, drains with one worker process and with two."""
    count, many = jobs_of(name, share), hasattr(contender(name), "bulk")
    found: dict[str, float] = {}
    for workers in drains:
        with place() as here:
            if workers == 1 or not many:
                single = min(count, 10_000) if many else count
                found["submit"] = here.drive(name, "submit", single)
            if workers == 2 and many:
                found["bulk"] = here.drive(name, "bulk", count)
            elif count > single:
                here.drive(name, "bulk", count - single)
            rate = drain_rate(here.worker(name), count, workers, here.folder)
            found[f"drain x{workers}"] = rate
    return found


def floors(count: int) -> dict[str, float]:
    """Round trips a second that a single submit cannot be faster than."""
    with place() as here:
        argv = [*here.words, *python("bench.redis.floors", str(count))]
        env = {**os.environ, "PYTHONPATH": os.getcwd()}
        out = subprocess.run(argv, env=env, capture_output=True, text=True, check=True).stdout
        return {name: float(rate) for name, rate in map(str.split, out.splitlines())}


def pickup(name: str, per_second: float, seconds: float) -> dict[str, float]:
    """Milliseconds from just before a submit in another process to the job's start."""
    with place() as here, processes(here.worker(name), 1, here.folder):
        time.sleep(WARM_SECONDS)
        here.drive(name, "pace", per_second, seconds)
        return _waits(here, int(per_second * seconds))


def foreign_pickup(lists: int, per_second: float, seconds: float) -> dict[str, float]:
    """The same for a bare LPUSH to one of many watched lists, in turn."""
    with place() as here, processes(here.worker("ours", lists=lists), 1, here.folder):
        time.sleep(WARM_SECONDS)
        count = int(per_second * seconds)
        with Bare(here.redis.server) as bare:
            begin = time.monotonic()
            for number in range(count):
                time.sleep(max(0.0, begin + number / per_second - time.monotonic()))
                path = f"/stamp/{number}/{time.monotonic_ns()}"
                bare.call("LPUSH", f"rag:ingest:queue:watched_{number % lists}", path)
        return _waits(here, count)


def _waits(here: Place, count: int) -> dict[str, float]:
    """Whoever is too slow for the pace is waited for."""
    deadline = time.monotonic() + LATE_SECONDS
    while len(here.stamps()) < count and time.monotonic() < deadline:
        time.sleep(0.1)
    waits = [(began - sent) / 1e6 for sent, began in here.stamps()]
    if len(waits) < count:
        raise RuntimeError(f"{len(waits)} of {count} jobs ran")
    return {"p50": percentile(waits, 0.5), "p99": percentile(waits, 0.99), "max": max(waits)}


def idle(name: str, seconds: float) -> float:
    """Commands a second an idle worker sends."""
    with place() as here, processes(here.worker(name), 1, here.folder):
        time.sleep(2 * WARM_SECONDS)
        return here.commands(seconds) / seconds


def recovery(name: str, limit: float) -> float | None:
    """Seconds from `kill -9` in the middle of a job until that job runs again; None if it did not."""
    with place() as here:
        argv = here.worker(name)
        with processes(argv, 1, here.folder):
            here.drive(name, "slow", SLOW_SECONDS)
            deadline = time.monotonic() + 60.0
            while not here.stamps() and time.monotonic() < deadline:
                time.sleep(0.02)
            time.sleep(2.0)
        killed, before = time.monotonic(), len(here.stamps())
        with processes(argv, 1, here.folder):
            while time.monotonic() < killed + limit:
                if len(here.stamps()) > before:
                    return time.monotonic() - killed
                time.sleep(0.05)
    return None


def together(measure: str, names: tuple[str, ...], seconds: float) -> dict[str, float | None]:
    """Something that mostly waits, of all at once, each on its own server."""
    work = {"idle": idle, "recovery": recovery}[measure]
    with ThreadPoolExecutor(len(names)) as pool:
        return dict(zip(names, pool.map(lambda name: work(name, seconds), names), strict=True))
