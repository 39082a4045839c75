"""A server as a process of ours: started, heard out, frozen, killed, started again on the same folder."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

READY_SECONDS = 60.0
LOOK_SECONDS = 0.005
PORTS = (20_000, 32_000)
"""Below those the kernel lends to outgoing connections, so a server that comes back finds its port free."""
PROCESSES = 16
"""Of the tests, at most, that draw from ports of their own: one looks, another listens a moment later."""

# Whoever kills the tests kills their servers: the kernel sees to it, on Linux.
SHORT_LIVED = """
import ctypes, os, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, 9)
os.execv(sys.argv[1], sys.argv[1:])
"""


def free_port() -> int:
    """A port on loopback that nobody listens on now, and no other process of these tests will take."""
    process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first, behind = PORTS
    for _ in range(1_000):
        port = random.SystemRandom().randrange(first + process % PROCESSES, behind, PROCESSES)
        with socket.socket() as plug:
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                plug.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("no port is free")


class Launched:
    """One server on one folder; `start` returns when it answers."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        log: Path,
        is_ready: Callable[[], bool],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._command = [str(part) for part in command]
        self._log = log
        self._is_ready = is_ready
        self._environment = dict(environment) if environment is not None else None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None, "the server was not started"
        return self._process.pid

    def start(self) -> None:
        """Start it, or start it again; AssertionError with all it said if it does not answer."""
        process = self._process = _launcher().submit(self._launch).result()
        deadline = time.monotonic() + READY_SECONDS
        while not self._is_ready():
            ended = process.poll() is not None
            if ended or time.monotonic() > deadline:
                self.kill()
                raise AssertionError(f"{self._command[0]} does not answer:\n{self.said()}")
            time.sleep(LOOK_SECONDS)

    def kill(self) -> None:
        """SIGKILL, by its own pid; nothing if it is gone."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def freeze(self) -> None:
        """Stop it where it is; connections stay and nobody answers."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        os.kill(self.pid, signal.SIGCONT)

    def said(self) -> str:
        """Its output so far, over all starts."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def _launch(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", SHORT_LIVED, *self._command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
            )


@cache
def _launcher() -> ThreadPoolExecutor:
    """The thread every server is a child of: the kernel looks at the thread's life, not at the process's."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="launcher")
