"""Real processes under test: a data folder, the workers started on it, and what raw SQL sees there.

Nothing here asks the product how it stands: rows are read with plain `sqlite3`, processes with the kernel's
own tables. A trigger of the test's own writes down every change of a job's status inside the transaction that
makes it, so even a change that was undone a millisecond later is seen.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import psutil

from penstock.model.jobs import JobId, NewJob, Receipt
from penstock.model.standing import PauseScope
from penstock.settings import Settings, load
from penstock.wiring.store import open_store
from tests.support.doomed import Doom, Task
from tests.support.handlers_for_tests import HANDLERS, MARKS, Mark, read_marks

TOP = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
"""Seconds for what takes one or two on a machine that has time; no promise is measured by it."""
LOOK_SECONDS = 0.03
"""Between two looks at what is waited for: one reads the whole schema and costs milliseconds."""

AUDIT = """
CREATE TABLE test_audit (
  queue_id TEXT NOT NULL, old TEXT NOT NULL, new TEXT NOT NULL, token INTEGER NOT NULL, worker TEXT
);
CREATE TRIGGER test_audit_status AFTER UPDATE OF status ON unified_queue WHEN NEW.status <> OLD.status
BEGIN
  INSERT INTO test_audit VALUES (NEW.queue_id, OLD.status, NEW.status, OLD.token, OLD.worker_id);
END;
"""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """A job's status as it changed: the token and worker are those of before."""

    job: str
    old: str
    new: str
    token: int
    worker: str | None


class Started:
    """A process started by a test, and the processes it started."""

    def __init__(self, command: Sequence[str], environment: dict[str, str], log: Path) -> None:
        self.log = log
        with log.open("wb") as output:
            self._popen = subprocess.Popen(
                command, cwd=TOP, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        self.pid = self._popen.pid

    @property
    def code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._popen.poll()

    def children(self) -> list[int]:
        """Its living children."""
        with contextlib.suppress(psutil.NoSuchProcess):
            found = psutil.Process(self.pid).children()
            return [child.pid for child in found if child.status() != psutil.STATUS_ZOMBIE]
        return []

    def signal(self, number: int) -> None:
        self._popen.send_signal(number)

    def kill_tree(self) -> None:
        """SIGKILL for it and its children, so close together that none can react."""
        children = self.children()
        os.kill(self.pid, signal.SIGSTOP)
        for pid in (*children, self.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.wait()

    def wait(self, seconds: float = PATIENCE) -> int:
        """Its exit code, once it has ended."""
        try:
            return self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {seconds:g} s\n{self.said()}") from None

    def stop(self, seconds: float = PATIENCE) -> int:
        """Tell it to drain; its exit code."""
        self.signal(signal.SIGTERM)
        return self.wait(seconds)

    def said(self) -> str:
        """The end of its log."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-4000:]


class Plant:
    """One data folder and everything a test starts on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.marks_file = folder / "marks"
        self.started: list[Started] = []
        self._chosen: dict[str, str] = {}

    @property
    def database(self) -> Path:
        return self.data / "penstock.db"

    def choose(self, **settings: str) -> None:
        """Settings for whatever is started from now on: `worker_lease="2s"` stands for `worker.lease`."""
        self._chosen |= {f"PENSTOCK_{key.upper()}": value for key, value in settings.items()}

    def make(self) -> None:
        """Make the database and the audit."""

        async def nothing() -> None:
            async with open_store(self.settings()):
                pass

        asyncio.run(nothing())
        self.audit()

    def audit(self) -> None:
        """Keep every change of a job's status from now on, beside the product's tables."""
        with closing(sqlite3.connect(self.database, timeout=PATIENCE)) as db:
            db.executescript(AUDIT)

    def settings(self) -> Settings:
        return load(None, self._mine(), {})

    # Starting ------------------------------------------------------------------------------------

    def worker(self, *, count: int = 1, concurrency: int | None = None) -> Started:
        """A `penstock worker`, once all its processes have beaten."""
        options = ["--handlers", HANDLERS, "--count", str(count)]
        if concurrency is not None:
            options += ["--concurrency", str(concurrency)]
        tree = self.start("-m", "penstock", "worker", *options)
        self.wait_until(lambda: len(self.beating(tree.children())) >= count, "all workers beat", tree)
        return tree

    def lone_worker(self) -> Started:
        """A worker process without a supervisor, once it has beaten."""
        process = self.doomed(Doom())
        self.wait_until(lambda: bool(self.beating([process.pid])), "the worker beats", process)
        return process

    def doomed(self, doom: Doom, role: str = "worker", *, job_id: str = "", text: str = "") -> Started:
        """A process that will die at an edge."""
        task = Task(role=role, doom=doom, job_id=job_id, text=text)
        return self.start("-m", "tests.support.doomed", msgspec.json.encode(task).decode())

    def program(self, *words: str) -> Started:
        """Any other command of the program."""
        return self.start("-m", "penstock", *words)

    def environment(self) -> dict[str, str]:
        """What a command on this folder is started with."""
        outer = {
            name: value for name, value in os.environ.items() if not name.startswith(("PENSTOCK_", "WORKER_"))
        }
        return {**outer, **self._mine(), "PYTHONUTF8": "1"}

    def start(self, *words: str) -> Started:
        """A Python process of any kind."""
        process = Started(
            [sys.executable, *words],
            self.environment(),
            self.folder / f"process-{len(self.started) + 1}.log",
        )
        self.started.append(process)
        return process

    def _mine(self) -> dict[str, str]:
        return {
            "PENSTOCK_DATA": str(self.data),
            "PENSTOCK_HTTP_PORT": "0",
            MARKS: str(self.marks_file),
            **self._chosen,
        }

    # The queue -----------------------------------------------------------------------------------

    def submit(self, jobs: Sequence[NewJob]) -> list[Receipt]:
        """Submit from this process."""

        async def submitted() -> list[Receipt]:
            async with open_store(self.settings()) as store:
                return await store.queue.submit(jobs)

        return asyncio.run(submitted())

    def cancel(self, job_ids: Sequence[JobId]) -> list[bool]:
        """Cancel from this process."""

        async def cancelled() -> list[bool]:
            async with open_store(self.settings()) as store:
                return await store.desk.cancel(job_ids)

        return asyncio.run(cancelled())

    def pause(self, scope: PauseScope, name: str) -> None:
        """Hold jobs back from this process."""

        async def paused() -> None:
            async with open_store(self.settings()) as store:
                await store.desk.pause(scope, name)

        asyncio.run(paused())

    def rows(self, query: str, *values: object) -> list[Row]:
        """What a plain sqlite3 sees."""
        with closing(sqlite3.connect(self.database, timeout=PATIENCE)) as db:
            db.row_factory = sqlite3.Row
            return [dict(row) for row in db.execute(query, values)]

    def execute(self, statement: str, *values: object) -> None:
        """What a program that speaks plain SQL does."""
        with closing(sqlite3.connect(self.database, timeout=PATIENCE)) as db, db:
            db.execute(statement, values)

    def job(self, job_id: str) -> Row:
        """One row of the documented table."""
        (row,) = self.rows("SELECT * FROM unified_queue WHERE queue_id = ?", job_id)
        return row

    def changes(self) -> list[Change]:
        """Every change of status there was, in commit order."""
        return [Change(*row.values()) for row in self.rows("SELECT * FROM test_audit ORDER BY rowid")]

    def count(self, where: str) -> int:
        """How many jobs; the condition is the test's own."""
        (row,) = self.rows(f"SELECT count(*) AS n FROM unified_queue WHERE {where}")  # noqa: S608
        return int(row["n"])

    def unfinished(self) -> int:
        return self.count("status NOT IN ('done', 'failed')")

    def beating(self, pids: Sequence[int]) -> dict[int, str]:
        """Those of the processes that have beaten as workers, with the ids they took."""
        known = self.rows("SELECT worker_id, pid FROM queue_workers")
        return {row["pid"]: row["worker_id"] for row in known if row["pid"] in pids}

    def holder_of(self, job_id: str) -> int | None:
        """The process that holds a job now."""
        found = self.rows(
            "SELECT w.pid FROM unified_queue q JOIN queue_workers w ON w.worker_id = q.worker_id"
            " WHERE q.queue_id = ? AND q.status = 'in_progress'",
            job_id,
        )
        return int(found[0]["pid"]) if found else None

    # Marks ---------------------------------------------------------------------------------------

    def marks(self, what: str | None = None, job: str | None = None) -> list[Mark]:
        """What handlers did, in order."""
        return [
            each
            for each in read_marks(self.marks_file)
            if (what is None or each.what == what) and (job is None or each.job == job)
        ]

    def wait_for_mark(
        self, what: str, job: str, *, times: int = 1, seconds: float = PATIENCE, pid: int | None = None
    ) -> Mark:
        """The nth such mark, once it is there."""
        found: list[Mark] = []

        def there() -> bool:
            found[:] = [each for each in self.marks(what, job) if pid is None or each.pid == pid]
            return len(found) >= times

        self.wait_until(there, f"mark {times} {what!r} of {job}", seconds=seconds)
        return found[times - 1]

    # Waiting -------------------------------------------------------------------------------------

    def wait_until(
        self,
        condition: Callable[[], bool],
        what: str,
        alive: Started | None = None,
        *,
        seconds: float = PATIENCE,
    ) -> None:
        """Look again and again until it is so; a process that should bring it about must not end first."""
        deadline = time.monotonic() + seconds
        while not condition():
            ended = alive is not None and alive.code is not None
            if ended or time.monotonic() > deadline:
                why = (
                    f"the process ended with {alive.code}" if ended and alive else f"not after {seconds:g} s"
                )
                raise AssertionError(f"{what}: {why}\n{self.report()}")
            time.sleep(LOOK_SECONDS)

    def drain(self, seconds: float = PATIENCE) -> None:
        """Until every job has ended."""
        self.wait_until(lambda: not self.unfinished(), "every job has ended", seconds=seconds)

    def report(self) -> str:
        """What may explain a failure."""
        jobs = self.rows(
            "SELECT queue_id, status, token, retry_count, crashes, worker_id, next_run_at, error_code"
            " FROM unified_queue WHERE status NOT IN ('done', 'failed') LIMIT 10"
        )
        logs = [f"--- {process.pid} ({process.code})\n{process.said()}" for process in self.started[-4:]]
        return "\n".join([f"unfinished: {self.unfinished()}", *map(str, jobs), *logs])

    def freeze(self, pid: int) -> float:
        """SIGSTOP, at a moment when the process holds no lock of the store; when that was.

        A process stopped in the middle of a commit would hold SQLite's own lock, and nobody could write.
        """
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            os.kill(pid, signal.SIGSTOP)
            at = time.monotonic()
            self.wait_until(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED, "it is stopped")
            if not self._holds_a_lock(pid):
                return at
            os.kill(pid, signal.SIGCONT)
        raise AssertionError("the process held a lock whenever it was stopped")

    def _holds_a_lock(self, pid: int) -> bool:
        """Whether the process keeps others from writing, as the kernel's table of locks has it."""
        files = [self.database, Path(f"{self.database}-shm"), *(self.data / "run").glob("*.lock")]
        ours = {file.stat().st_ino for file in files if file.exists()}
        held = [line.split() for line in Path("/proc/locks").read_text(encoding="ascii").splitlines()]
        return any(
            (mode, owner) == ("WRITE", str(pid)) and int(place.rpartition(":")[2]) in ours
            for _, kind, _, mode, owner, place, *_ in held
            if kind != "->"  # who only waits for one
        )

    # The end -------------------------------------------------------------------------------------

    def processes(self) -> list[int]:
        """Every living process anywhere that was started for this folder, told by its environment."""
        return [process.pid for process in _having(MARKS, str(self.marks_file))]

    def bells(self) -> list[str]:
        """Sockets in the folder."""
        return sorted(path.name for path in (self.data / "run").iterdir() if path.suffix == ".bell")

    def close(self) -> list[int]:
        """End everything; which processes had to be killed although nobody knew of them any more."""
        for process in self.started:
            if process.code is None:
                with contextlib.suppress(ProcessLookupError):
                    for pid in (*process.children(), process.pid):
                        os.kill(pid, signal.SIGKILL)
            process.wait()
        deadline = time.monotonic() + PATIENCE
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.02)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return left


@contextmanager
def a_plant(folder: Path) -> Iterator[Plant]:
    """A made data folder; at the end every process is gone, also those whose parents were killed."""
    plant = Plant(folder)
    plant.make()
    try:
        yield plant
    finally:
        left = plant.close()
    assert left == [], "processes were left over"


def _having(name: str, value: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(name) == value:
                yield process
