"""The keeper: beats for the process and looks after its leases, from a thread of its own.

A handler that burns CPU on the event loop for a few seconds must not cost the process its jobs, so this runs
on a loop of its own. It shares one fate with the fetch loop all the same: when that has not turned for
`stuck_after`, the keeper falls silent, and the process is soon seen as dead. When the keeper itself fails, it
takes the worker down with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable

from penstock.model.errors import Fault
from penstock.ports.clock import Clock
from penstock.ports.queue import Queue
from penstock.work.pace import Pace
from penstock.work.worker import Worker

log = logging.getLogger("penstock.keeper")


class Keeper:
    """Started beside a worker, on that worker's event loop."""

    def __init__(
        self, worker: Worker, queue: Queue, clock: Clock, pace: Pace, failed: Callable[[BaseException], None]
    ) -> None:
        self._worker = worker
        self._queue = queue
        self._clock = clock
        self._pace = pace
        self._failed = failed
        self._home = asyncio.get_running_loop()
        self._stop = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._rest = asyncio.Event()
        """Set on the keeper's own loop when there is no more to wait for."""
        self._silent = False
        self._thread = threading.Thread(target=self._run, name="penstock-keeper", daemon=True)

    def start(self) -> None:
        """Begin to beat."""
        self._thread.start()

    async def stop(self) -> None:
        """Beat no more, not even late; stopping twice is stopping once."""
        self._stop.set()
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the keeper's loop has ended already
                self._loop.call_soon_threadsafe(self._rest.set)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        try:
            asyncio.run(self._keep())
        except BaseException as error:
            log.exception("the keeper failed", extra={"worker_id": self._worker.id})
            self._home.call_soon_threadsafe(self._failed, error)

    async def _keep(self) -> None:
        self._loop = asyncio.get_running_loop()
        beaten, offered = self._clock.steady(), self._worker.offers
        while not self._stop.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(self._pace.look_after, self._pace.beat)):
                    await self._rest.wait()
            if self._stop.is_set() or not self._turning():
                continue
            try:
                offers = self._worker.offers
                if self._clock.steady() - beaten >= self._pace.beat - 0.05 or offers != offered:
                    await self._queue.beat(self._worker.id, concurrency=offers)
                    offered = offers
                    beaten = self._worker.beaten = self._clock.steady()
                await self._look_after()
            except Fault as fault:
                log.warning("cannot beat: %s", fault.message, extra={"worker_id": self._worker.id})

    def _turning(self) -> bool:
        still = self._clock.steady() - self._worker.ticked
        turning = still < self._pace.stuck_after
        if not turning and not self._silent:
            log.error(
                "the fetch loop has stood still for %.1f s", still, extra={"worker_id": self._worker.id}
            )
        self._silent = not turning
        return turning

    async def _look_after(self) -> None:
        leases = self._worker.held()
        if leases:
            renewals = await self._queue.extend(leases)
            self._home.call_soon_threadsafe(self._worker.renewed, list(zip(leases, renewals, strict=True)))
