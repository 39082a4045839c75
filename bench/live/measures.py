"""What is measured, each on processes of its own: the server, the crowd, and whoever commits."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

CONNECTIONS = 1_000
USERS = 500
WARM_ROUNDS = 5
SETTLE_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Milliseconds from a commit to a socket of the client."""

    p50: float
    p99: float
    most: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Messages a second, of time and of the server's processor time."""

    by_clock: float
    by_processor: float


class Crowd:
    """The process with all the clients."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def listen(self, count: int, *, each: bool = False) -> None:
        """Begin to count."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{count}{' each' if each else ''}\n")
        self._process.stdin.flush()
        assert self._line() == "listening"

    def heard(self) -> dict[str, Any]:
        """What came, once all of it did."""
        found: dict[str, Any] = json.loads(self._line())
        return found

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@contextmanager
def started(*words: object) -> Iterator[subprocess.Popen[str]]:
    """A process, ended at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def server(kind: str, folder: Path) -> Iterator[tuple[int, psutil.Process]]:
    """A serving process and its port."""
    with started("bench.live.server", kind, folder) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline()), psutil.Process(process.pid)


@contextmanager
def crowd(port: int, users: int = USERS) -> Iterator[Crowd]:
    """Everybody connected."""
    with started("bench.live.crowd", port, CONNECTIONS, users) as process:
        found = Crowd(process)
        assert found._line() == "ready"
        time.sleep(SETTLE_SECONDS)
        yield found


def rate_of_bare(folder: Path, rounds: int) -> Rate:
    """Messages a second where the server only sends."""
    with server("bare", folder) as (port, process), crowd(port) as clients:

        def send(times: int) -> None:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/?{times}").close()  # our own

        return _rate(clients, process, rounds, send)


def rate_of_ours(folder: Path, rounds: int, users: int) -> Rate:
    """Messages a second from commits of another process, each with an event for every user."""
    with server("ours", folder) as (port, process), crowd(port, users) as clients:

        def send(times: int) -> None:
            _commit(folder, users, times)

        return _rate(clients, process, rounds, send)


def kilobytes_idle(folder: Path) -> float:
    """What a connection that hears nothing adds to the server."""
    with server("ours", folder) as (port, process):
        before = process.memory_info().rss
        with crowd(port):
            return (process.memory_info().rss - before) / CONNECTIONS / 1024


def latency(folder: Path, events: int, per_second: float) -> Latency:
    """From the commit of an event to both tabs of its user, with everybody connected."""
    with server("ours", folder) as (port, _), crowd(port) as clients:
        clients.listen(events * CONNECTIONS // USERS, each=True)
        told = json.loads(_commit(folder, USERS, events, per_second))
        committed = {(user, seq): at for user, seq, at in told}
        each = clients.heard()["each"]
    delays = sorted((at - committed[user, seq]) * 1e3 for user, seq, at in each)
    assert len(delays) == events * CONNECTIONS // USERS
    return Latency(
        p50=delays[len(delays) // 2],
        p99=delays[len(delays) * 99 // 100],
        most=delays[-1],
        count=len(delays),
    )


def _rate(clients: Crowd, process: psutil.Process, rounds: int, send: Callable[[int], None]) -> Rate:
    spent = 0.0
    for times in (WARM_ROUNDS, rounds):
        before = _spent(process)
        clients.listen(times * CONNECTIONS)
        send(times)
        heard = clients.heard()
        spent = _spent(process) - before
    count = rounds * CONNECTIONS
    return Rate(by_clock=count / float(heard["last"] - heard["first"]), by_processor=count / spent)


def _spent(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _commit(folder: Path, *words: object) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "bench.live.committing", str(folder / "penstock.db"), *map(str, words)],
        capture_output=True,
        check=True,
        text=True,
    )
    return ran.stdout
