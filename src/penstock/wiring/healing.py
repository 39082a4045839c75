"""What a process that died left unfinished, answers and uploads, ended by whoever kept it."""

from __future__ import annotations

import asyncio
import logging

from penstock.answer.interrupted import Interrupted
from penstock.model.errors import Fault, report_of
from penstock.settings import Settings
from penstock.wiring.store import open_sqlite_store
from penstock.work.healer import Healer

log = logging.getLogger("penstock.healer")
RETRY_SECONDS = 1.0


async def heal_beside(settings: Settings) -> None:
    """Until cancelled; a store that cannot be opened is tried again."""
    while True:
        try:
            async with open_sqlite_store(settings) as store, asyncio.TaskGroup() as group:
                group.create_task(Healer(Interrupted(store.transcript), store.clock).run())
                group.create_task(Healer(store.reception, store.clock, what="upload").run())
        except Fault as fault:
            log.warning("nothing interrupted can be ended: %s", fault.message)
        except ExceptionGroup as errors:  # a mistake of ours
            log.critical("nothing interrupted can be ended: %s", report_of(errors.exceptions[0]).message)
        await asyncio.sleep(RETRY_SECONDS)
