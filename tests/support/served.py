"""The program answering requests: `penstock serve` as a process of its own, asked by a bare HTTP client."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.support.command_line import PATIENCE, Program

_ADDRESS = re.compile(r"the API answers at (http://\S+)/api")


class Served:
    """One serving process, or one with workers beside it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._found = threading.Event()
        self.address = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self._found.wait(PATIENCE), "\n".join(self.lines)

    @property
    def host(self) -> str:
        """Name and port, as a Host header has them."""
        return self.address.removeprefix("http://")

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def client(self, token: str | None = None) -> httpx.Client:
        """A bare client; whoever shows the token."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=f"{self.address}/api", headers=headers, timeout=PATIENCE)

    def stop(self) -> int:
        """End it in good order; its code."""
        self.process.send_signal(signal.SIGTERM)
        return self.ended()

    def kill(self) -> None:
        """End it as the out-of-memory killer does, with all it started."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.ended()

    def ended(self) -> int:
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if found := _ADDRESS.search(line):
                self.address = found[1]
                self._found.set()
        self._found.set()


@contextmanager
def serving(program: Program, *words: str | Path, env: Mapping[str, str] | None = None) -> Iterator[Served]:
    """`penstock serve`, or what the words say instead, ended at the end."""
    served = Served(program.start(*(words or ("serve",)), env=env))
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.stop()
        for stream in (served.process.stdout, served.process.stderr):
            if stream is not None:
                stream.close()
