"""The crew of one process: worker, keeper, rescuer, promoter and pruner, with one beginning and one end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from penstock.ports.clock import Clock
from penstock.ports.database import Database
from penstock.ports.queue import Queue
from penstock.ports.telemetry import SILENT, Telemetry
from penstock.work.keeper import Keeper
from penstock.work.pace import Pace
from penstock.work.promoter import Promoter
from penstock.work.pruner import Pruner
from penstock.work.rescuer import Rescuer
from penstock.work.worker import Worker


class Trade(Protocol):
    """An endless round in the background."""

    async def run(self) -> None: ...


async def run_crew(
    worker: Worker,
    queue: Queue,
    database: Database,
    clock: Clock,
    pace: Pace,
    others: Sequence[Trade] = (),
    telemetry: Telemetry = SILENT,
) -> None:
    """Until the worker has been stopped and is empty; raises if one of the others fails."""
    promoter = Promoter(queue, clock, pace)
    worker.news = promoter.nudge
    trades: tuple[Trade, ...] = (
        Rescuer(queue, clock, pace, lambda: worker.beaten, telemetry),
        promoter,
        Pruner(queue, database, clock, pace),
        *others,
    )
    failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def failed(error: BaseException) -> None:
        if not failure.done():
            failure.set_exception(error)

    keeper = Keeper(worker, queue, clock, pace, failed)
    worker.silenced = keeper.stop
    rounds = [asyncio.create_task(trade.run()) for trade in trades]
    keeper.start()
    work = asyncio.create_task(worker.run())
    try:
        await asyncio.wait({work, failure, *rounds}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():  # a trade failed: end orderly, then say why
            worker.stop(grace=0.0)
        await work
    finally:
        await keeper.stop()
        for task in rounds:
            task.cancel()
        ended = await asyncio.gather(*rounds, return_exceptions=True)
    for result in (failure.exception() if failure.done() else None, *ended):
        if isinstance(result, Exception):
            raise result
