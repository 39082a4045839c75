"""Our side: the real program in real processes at its default settings, read by raw SQL."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bench.ingest import trees

COLLECTION = "bench"
WAIT_SECONDS = 300.0
COUNTED = Path(__file__).parent / "counted"


class Plant:
    """One data folder, the program's commands on it, and what is in its database."""

    def __init__(self, folder: Path, *, mark: Path | None = None) -> None:
        folder.mkdir()
        self._folder = folder
        self._database = folder / "data" / "penstock.db"
        self._environment = environment(mark)
        self.run("collection", "create", COLLECTION)

    def run(self, *words: str) -> float:
        """A command to its end; the seconds it took."""
        begin = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "penstock", *words],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"penstock {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return time.monotonic() - begin

    def ingest(self, folder: Path) -> float:
        """Hand a folder in and wait until all of it can be searched; the seconds of the whole command."""
        return self.run("ingest", "submit", "--rag", COLLECTION, "--path", str(folder), "--wait", "--quiet")

    def hand_in(self, folder: Path) -> None:
        """The same without waiting."""
        self.run("ingest", "submit", "--rag", COLLECTION, "--path", str(folder))

    @contextmanager
    def worker(self) -> Iterator[subprocess.Popen[bytes]]:
        """`penstock worker`; drained at the end, or found dead where it was killed."""
        with open(self._folder / "log", "ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "penstock", "worker"],
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                trees.kill(process.pid)
                process.wait()

    def number(self, query: str) -> int:
        """The one number a query gives."""
        with closing(sqlite3.connect(self._database, timeout=30)) as db:
            return int(db.execute(query).fetchone()[0])

    def documents(self) -> int:
        """How many a search would find."""
        return self.number("SELECT count(*) FROM documents WHERE state = 'ingested'")

    def chunks(self) -> int:
        """How many a search would find."""
        return self.number(
            "SELECT count(*) FROM chunks JOIN versions USING (version_id) WHERE state = 'current'"
        )

    def texts(self) -> int:
        """Different ones, each with its vector."""
        return self.number("SELECT count(*) FROM embeddings")

    def unfinished(self) -> int:
        """Jobs that have not ended."""
        return self.number("SELECT count(*) FROM unified_queue WHERE status NOT IN ('done', 'failed')")

    def doubled(self) -> int:
        """Versions beyond one of a document, and chunks beyond one at a place."""
        versions = self.number("SELECT count(*) - count(DISTINCT document) FROM versions")
        places = self.number(
            "SELECT count(*) FROM (SELECT 1 FROM chunks GROUP BY version_id, ordinal HAVING count(*) > 1)"
        )
        return versions + places


def environment(mark: Path | None) -> dict[str, str]:
    """Ours, in which with a mark every embedded text leaves a byte in that file."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith("PENSTOCK_")}
    if mark is None:
        return plain
    return {**plain, "BENCH_MARK": str(mark), "PYTHONPATH": os.pathsep.join((str(COUNTED), os.getcwd()))}


def size(mark: Path) -> int:
    """Texts embedded so far."""
    return mark.stat().st_size if mark.exists() else 0


def until(what: str, met: Callable[[], bool], seconds: float = WAIT_SECONDS) -> None:
    """Wait for a condition that comes from other processes."""
    deadline = time.monotonic() + seconds
    while not met():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what}: not within {seconds:g} s")
        time.sleep(0.01)
