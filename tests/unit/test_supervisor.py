"""What befalls a supervisor itself: it goes on where it can, and ends loudly where it cannot."""

import asyncio
import errno
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.jobs import WorkerId
from penstock.model.rules import Rules
from penstock.wiring.companions import beside
from penstock.work.supervisor import Child, Supervisor

PATIENCE = 20.0


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = await open_sqlite(tmp_path, rules=Rules(), clock=SystemClock())
    yield opened
    await opened.close()


def a_supervisor(store: SqliteStore, spawn: Callable[[WorkerId, bool], Awaitable[Child]]) -> Supervisor:
    return Supervisor(spawn, store.queue, store.desk, SystemClock(), count=1, grace=1.0)


def failing(errors: Iterator[Exception], started: asyncio.Event) -> Callable[..., Awaitable[Child]]:
    """Starts a process, once there are no more errors."""

    async def spawn(_worker: WorkerId, _alone: bool) -> Child:
        for error in errors:
            raise error
        started.set()
        return await asyncio.create_subprocess_exec("sleep", "60")

    return spawn


async def test_a_machine_that_cannot_start_a_process_now_is_asked_again(store: SqliteStore) -> None:
    """Too many processes, no memory, a file that is missing for a moment: none of them is for ever."""
    started = asyncio.Event()
    errors = iter([OSError(errno.EAGAIN, "Resource temporarily unavailable"), FileNotFoundError("python")])
    supervisor = a_supervisor(store, failing(errors, started))

    async with asyncio.timeout(PATIENCE):
        running = asyncio.create_task(supervisor.run())
        await started.wait()
        supervisor.stop()
        await running


async def test_what_nobody_foresaw_ends_it_and_is_raised(store: SqliteStore) -> None:
    """A supervisor without workers would look alive and do nothing."""
    supervisor = a_supervisor(store, failing(iter([ValueError("unforeseen")]), asyncio.Event()))

    with pytest.raises(ValueError, match="unforeseen"):
        async with asyncio.timeout(PATIENCE):
            await supervisor.run()


async def test_a_companion_that_fails_ends_the_workers_and_is_raised(store: SqliteStore) -> None:
    """Folders nobody watches any more are told of when it happens, not when the program is stopped."""
    started = asyncio.Event()
    supervisor = a_supervisor(store, failing(iter([]), started))

    async def watch() -> None:
        await started.wait()
        raise OSError(errno.EMFILE, "Too many open files")

    with pytest.raises(OSError, match="Too many open files"):
        async with asyncio.timeout(PATIENCE), beside(watch(), supervisor.give_up):
            await supervisor.run()


async def test_a_companion_ends_with_those_it_accompanies(store: SqliteStore) -> None:
    """Its own end by our cancel is no failure."""
    failures: list[str] = []
    async with beside(asyncio.sleep(60), lambda: failures.append("failed")):
        await asyncio.sleep(0)

    assert failures == []
