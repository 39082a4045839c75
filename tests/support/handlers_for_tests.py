"""Handlers for workers under test: a note's text is a script, and every step leaves marks in a file.

The first line names the note, each further line is a step. A mark is one line written with O_APPEND, so marks
of many processes stand whole and in order, and what a killed process wrote before it died is there.
"""

import asyncio
import json
import os
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

from penstock.model.errors import LeaseLost, Refused, Unavailable
from penstock.model.payloads import Content, ItemType
from penstock.settings import load
from penstock.wiring.store import open_store
from penstock.work.handlers import Handlers, Run
from tests.support.effects import effect_of

HANDLERS = "tests.support.handlers_for_tests:handlers"
MARKS = "PENSTOCK_TEST_MARKS"
"""The environment variable that names the file of marks."""

handlers = Handlers()
_names = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something a handler did: when on the machine's steady clock, in which process, in which attempt."""

    at: float
    pid: int
    job: str
    token: int
    attempt: int
    alone: bool
    what: str


def script(*steps: str) -> str:
    """The text of a note nobody has written before, whose handler takes these steps."""
    return "\n".join((f"note {next(_names)}", *steps))


def read_marks(file: Path) -> list[Mark]:
    """All marks so far, in the order they were made; of one that lies across two pages half may be there."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    whole, _, _ = text.rpartition("\n")
    return [Mark(**json.loads(line)) for line in whole.splitlines()]


def mark(run: Run, what: str) -> None:
    """Leave a mark."""
    lease = run.lease
    made = Mark(
        at=time.monotonic(),
        pid=os.getpid(),
        job=lease.job_id,
        token=lease.token,
        attempt=lease.attempt,
        alone=lease.alone,
        what=what,
    )
    descriptor = os.open(os.environ[MARKS], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, f"{json.dumps(asdict(made))}\n".encode())
    finally:
        os.close(descriptor)


@handlers.on(ItemType.CONTENT)
async def follow_the_script(run: Run) -> None:
    """Take the steps in order, and say how it ended unless the process died."""
    await take_steps(run)
    mark(run, "end")


async def take_steps(run: Run) -> None:
    """Those of the job's script, from its start; an end before the last is told."""
    if not isinstance(run.payload, Content):
        raise TypeError("a note was expected")
    mark(run, "start")
    try:
        for step in run.payload.content.splitlines()[1:]:
            word, *rest = step.split()
            await STEPS[word](run, *rest)
    except BaseException as end:
        mark(run, type(end).__name__)
        raise


@handlers.on(ItemType.FILE)
async def touch(run: Run) -> None:
    """A file's job ends at once."""
    mark(run, "start")
    mark(run, "end")


async def _sleep(_: Run, seconds: str) -> None:
    await asyncio.sleep(float(seconds))


async def _block(_: Run, seconds: str) -> None:
    """Keep the event loop from turning while other threads may run."""
    time.sleep(float(seconds))  # noqa: ASYNC251  # the very mistake under test


async def _burn(_: Run, seconds: str) -> None:
    """Keep the event loop from turning and the interpreter busy."""
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        sum(range(1000))


def _is_open(gate: str) -> bool:
    return Path(gate).exists()


async def _until(_: Run, file: str) -> None:
    """Wait until the test opens the gate."""
    while not _is_open(file):  # noqa: ASYNC110  # the gate is a file, nobody can ring for it
        await asyncio.sleep(0.01)


async def _hold(_: Run, file: str) -> None:
    """The same without letting the event loop turn, so that nothing can interrupt the handler afterwards."""
    while not _is_open(file):
        time.sleep(0.01)  # noqa: ASYNC251  # the very mistake under test


async def _first(run: Run, word: str, *rest: str) -> None:
    """Take a step in the first attempt only."""
    if run.lease.attempt == 1:
        await STEPS[word](run, *rest)


async def _later(run: Run, word: str, *rest: str) -> None:
    """Take a step in every attempt but the first."""
    if run.lease.attempt > 1:
        await STEPS[word](run, *rest)


async def _die(run: Run, attempts: str) -> None:
    """Die by SIGKILL in the first so many attempts."""
    if run.lease.attempt <= int(attempts):
        os.kill(os.getpid(), signal.SIGKILL)


async def _fail(run: Run, attempts: str) -> None:
    """Raise what is retried in the first so many attempts."""
    if run.lease.attempt <= int(attempts):
        raise RuntimeError("told to fail")


async def _refuse(_: Run) -> None:
    raise Refused("told to refuse")


async def _park(_: Run, seconds: str, file: str) -> None:
    """Find a dependency down until the test opens the gate."""
    if not _is_open(file):
        raise Unavailable("told to park", retry_after=float(seconds))


async def _progress(run: Run, done: str, total: str) -> None:
    await run.progress(int(done), int(total))
    mark(run, f"progress {done}")


async def _defend(run: Run) -> None:
    """Wait to be interrupted, then try to write all the same, as a handler that cleans up would."""
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        await _tried(run, "write", _write(run))
        await _tried(run, "progress", run.progress(1, 1))
        raise


async def _tried(run: Run, what: str, attempt: Awaitable[None]) -> None:
    try:
        await attempt
    except LeaseLost:
        mark(run, f"{what} refused")
    else:
        mark(run, f"{what} accepted")


async def _write(run: Run) -> None:
    """A guarded write: an event about the job, if the attempt still holds it."""
    await _in_transaction(run, settle=False)


async def _finish(run: Run) -> None:
    """The effect and the end of the job in one transaction; what comes after it is only talk."""
    mark(run, "finish")
    await _in_transaction(run, settle=True)


async def _in_transaction(run: Run, *, settle: bool) -> None:
    async with open_store(load(None, os.environ, {})) as store:
        await store.write(effect_of(run.lease, settles=settle))


STEPS: dict[str, Callable[..., Awaitable[None]]] = {
    "sleep": _sleep,
    "block": _block,
    "burn": _burn,
    "until": _until,
    "hold": _hold,
    "first": _first,
    "later": _later,
    "die": _die,
    "fail": _fail,
    "refuse": _refuse,
    "park": _park,
    "progress": _progress,
    "defend": _defend,
    "write": _write,
    "finish": _finish,
}
