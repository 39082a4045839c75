"""The real program, as a person or a script starts it: piped, or on a terminal of a given size."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from penstock.model.errors import ErrorReport
from penstock.model.jobs import JobId, NewJob, WorkerId
from penstock.model.outcomes import DONE, Failed, Outcome
from penstock.settings import load
from penstock.wiring.store import Store, open_store

T = TypeVar("T")
PATIENCE = 60.0
"""Seconds for what takes less than one on a machine that has time."""
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How one run ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def cells(self) -> list[list[str]]:
        """Piped lines, taken apart."""
        return [line.split("\t") for line in self.lines]

    @property
    def error(self) -> dict[str, Any]:
        """The error told with --json."""
        found: dict[str, Any] = json.loads(self.err.splitlines()[-1])["error"]
        return found

    def said(self) -> Any:
        """The document of a run that must have gone well."""
        assert self.code == 0, self.err
        return json.loads(self.out)


class Program:
    """`penstock` on one data folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"

    def command(self, *words: str | Path) -> list[str]:
        return [sys.executable, "-m", "penstock", *map(str, words)]

    def environment(self, chosen: Mapping[str, str] | None = None) -> dict[str, str]:
        # A width in the environment would count more than that of the terminal.
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("PENSTOCK_") and name not in ("COLUMNS", "LINES")
        }
        return {**kept, "PENSTOCK_DATA": str(self.data), "PENSTOCK_HTTP_PORT": "0", **(chosen or {})}

    def __call__(
        self, *words: str | Path, stdin: str | bytes = b"", env: Mapping[str, str] | None = None
    ) -> Ran:
        """Run it piped."""
        ran = subprocess.run(
            self.command(*words),
            cwd=self.folder,
            env=self.environment(env),
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        out, err = (stream.decode(errors="replace") for stream in (ran.stdout, ran.stderr))
        return Ran(code=ran.returncode, out=out, err=err)

    def json(self, *words: str | Path, stdin: str = "") -> Any:
        """Run it with --json; the document."""
        return self(*words, "--json", stdin=stdin).said()

    def start(self, *words: str | Path, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Start it piped and leave it running."""
        return subprocess.Popen(
            self.command(*words),
            cwd=self.folder,
            env=self.environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def on_terminal(self, *words: str | Path, columns: int = 100) -> Ran:
        """Run it on a terminal; colours and cursor movements are taken out of what it wrote."""
        terminal = Terminal(self.command(*words), self.environment(), self.folder, columns)
        code = terminal.wait()
        return Ran(code=code, out=terminal.text, err="")

    # Behind the program's back -------------------------------------------------------------------

    def in_store(self, work: Callable[[Store], Awaitable[T]]) -> T:
        """Use the store from this process."""

        async def opened() -> T:
            async with open_store(load(None, {}, {"data": str(self.data)})) as store:
                return await work(store)

        return asyncio.run(opened())

    def begin(self) -> None:
        """Make the data folder, with nothing in it."""

        async def nothing(_: Store) -> None: ...

        self.in_store(nothing)

    def submit(self, *jobs: NewJob) -> list[JobId]:
        """Put jobs in; their ids."""

        async def work(store: Store) -> list[JobId]:
            return [receipt.job_id for receipt in await store.queue.submit(jobs)]

        return self.in_store(work)

    def end(self, *jobs: NewJob, error: ErrorReport | None = None) -> list[JobId]:
        """Put jobs in and end them: done, or failed with the error."""
        outcome: Outcome = DONE if error is None else Failed(error)

        async def work(store: Store) -> list[JobId]:
            worker = WorkerId("by-hand")
            receipts = await store.queue.submit(jobs)
            leases = await store.queue.claim(worker, len(jobs))
            await store.queue.settle([(lease, outcome) for lease in leases])
            return [receipt.job_id for receipt in receipts]

        return self.in_store(work)

    def rows(self, columns: str = "queue_id, status, error_code, next_run_at") -> list[tuple[Any, ...]]:
        """The documented table as plain sqlite3 sees it."""
        import sqlite3
        from contextlib import closing

        with closing(sqlite3.connect(self.data / "penstock.db", timeout=PATIENCE)) as db:
            query = f"SELECT {columns} FROM unified_queue ORDER BY rowid"  # noqa: S608  # the test's own
            return db.execute(query).fetchall()


class Terminal:
    """A program on a pseudo-terminal: what it has written so far, and a way to press Ctrl-C."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path, columns: int
    ) -> None:
        mine, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        # A session of its own makes the pseudo-terminal its controlling one.
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env={**environment, "TERM": "xterm-256color"},
            stdin=its,
            stdout=its,
            stderr=its,
            start_new_session=True,
        )
        os.close(its)
        self._mine = mine
        self.raw = ""

    @property
    def text(self) -> str:
        return _ESCAPES.sub("", self.raw).replace("\r\n", "\n")

    def read_until(self, condition: Callable[[str], bool]) -> None:
        """Take in what it writes until the text so far will do, or it has closed the terminal."""
        deadline = time.monotonic() + PATIENCE
        while not condition(self.text) and time.monotonic() < deadline:
            if select.select([self._mine], [], [], 0.1)[0]:
                try:
                    self.raw += os.read(self._mine, 65536).decode(errors="replace")
                except OSError:  # the other side is closed
                    return

    def interrupt(self) -> None:
        """What Ctrl-C does."""
        self._process.send_signal(signal.SIGINT)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._mine, keys.encode())

    def wait(self) -> int:
        """Read to the end; the exit code."""
        self.read_until(lambda _: False)
        code = self._process.wait(PATIENCE)
        os.close(self._mine)
        return code
