"""Handlers of workers under chaos: each job's effect and its end are one guarded write, so it can be counted.

The steps are those of the crash tests; only the effect differs: it goes to the database by a store of the
process's own, which does not ask Redis, because what is under test is the way there.
"""

import asyncio
import os
from contextlib import AsyncExitStack

from penstock.model.payloads import ItemType
from penstock.ports.database import Database
from penstock.settings import load
from penstock.wiring.store import open_sqlite_store
from penstock.work.handlers import Handlers, Run
from tests.support.effects import effect_of
from tests.support.handlers_for_tests import mark, take_steps

EFFECTS = "tests.chaos.effects:handlers"
EFFECTS_ALONE = "tests.chaos.effects:silent"
"""The same without steps and marks, for a hundred thousand jobs."""

handlers, silent = Handlers(), Handlers()


class Book:
    """The database, opened when it is first needed and left to the end of the process."""

    def __init__(self) -> None:
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._database: Database | None = None

    async def opened(self) -> Database:
        async with self._opening:
            if self._database is None:
                settings = load(None, os.environ, {})
                self._database = await self._stack.enter_async_context(open_sqlite_store(settings))
            return self._database


book = Book()


@handlers.on(ItemType.CONTENT)
async def follow_the_script(run: Run) -> None:
    """Take the steps in order, and then effect."""
    await take_steps(run)
    await effect(run)
    mark(run, "end")


@handlers.on(ItemType.FILE)
async def take_effect(run: Run) -> None:
    """What was pushed by another program takes effect at once."""
    mark(run, "start")
    await effect(run)
    mark(run, "end")


@silent.on(ItemType.CONTENT)
async def take_effect_silently(run: Run) -> None:
    """No step, no mark."""
    await _write(run)


async def effect(run: Run) -> None:
    """The effect and the end of the job in one transaction."""
    mark(run, "finish")
    await _write(run)


async def _write(run: Run) -> None:
    await (await book.opened()).write(effect_of(run.lease, settles=True))
