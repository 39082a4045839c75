"""The supervisor: keeps so many worker processes running, and hands a dead one's jobs back at once.

A worker process that dies takes nothing with it: its parent sees it first and gives its jobs back within
milliseconds, without waiting for its heartbeat to run out. A job that has killed two workers gets a process
of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Protocol

from penstock.model.errors import Fault
from penstock.model.ids import new_worker_id
from penstock.model.jobs import WorkerId
from penstock.ports.clock import Clock
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from penstock.ports.telemetry import SILENT, Telemetry
from penstock.work.pace import jittered_around

log = logging.getLogger("penstock.supervisor")
LOOK_SECONDS = 2.0
PAUSE_MAX = 4.0
HEALTHY_SECONDS = 60.0
"""A child that lived so long is started again without a pause."""


class Child(Protocol):
    """A worker process as its parent sees it."""

    @property
    def pid(self) -> int: ...
    async def wait(self) -> int: ...


Spawn = Callable[[WorkerId, bool], Awaitable[Child]]
"""Start a worker process under this id; True asks for one that runs a single suspect and ends."""


class Supervisor:
    """One per `penstock worker`; `run` returns when all children are gone."""

    def __init__(
        self,
        spawn: Spawn,
        queue: Queue,
        desk: Desk,
        clock: Clock,
        *,
        count: int,
        grace: float,
        telemetry: Telemetry = SILENT,
    ) -> None:
        self._spawn = spawn
        self._queue = queue
        self._desk = desk
        self._clock = clock
        self._count = count
        self._grace = grace
        self._telemetry = telemetry
        self._children: dict[WorkerId, Child] = {}
        self._stopping = asyncio.Event()
        self._hurry = False
        self._failure: BaseException | None = None

    @property
    def workers(self) -> list[WorkerId]:
        """Whose processes run now."""
        return list(self._children)

    async def run(self) -> None:
        """Start the children and see them through; raises what ended a post, as Displaced does."""
        posts = [asyncio.create_task(self._post()) for _ in range(self._count)]
        posts.append(asyncio.create_task(self._watch_suspects()))
        for post in posts:
            post.add_done_callback(self._left)
        try:
            await self._stopping.wait()
            await self._end(posts)
        finally:
            for child in self._children.values():
                _signal(child, signal.SIGKILL)
            await asyncio.gather(*posts, return_exceptions=True)
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Ask the children to drain; asked again, to end at once."""
        self._hurry = self._stopping.is_set()
        self._stopping.set()
        for child in self._children.values():
            _signal(child, signal.SIGTERM)

    def give_up(self) -> None:
        """Something the workers need has failed: stop, unless that is under way."""
        if not self._stopping.is_set():
            self.stop()

    def _left(self, post: asyncio.Task[None]) -> None:
        """A post that an error ended would be missing without a word."""
        if not post.cancelled() and (error := post.exception()) is not None:
            log.error("worker processes are no longer kept running: %s", error)
            self._failure = self._failure or error
            self.give_up()

    async def _end(self, posts: list[asyncio.Task[None]]) -> None:
        deadline = self._clock.steady() + self._grace + 10.0
        while any(not post.done() for post in posts):
            if self._hurry:
                deadline = min(deadline, self._clock.steady() + 5.0)
                self._hurry = False
            if self._clock.steady() > deadline:
                log.error("children did not end in time and are killed")
                return
            await asyncio.wait(posts, timeout=0.1)

    async def _post(self) -> None:
        """Keep one worker process running."""
        pause = 0.5
        while not self._stopping.is_set():
            born = self._clock.steady()
            await self._serve(alone=False)
            if self._clock.steady() - born > HEALTHY_SECONDS:
                pause = 0.5
            if not self._stopping.is_set():
                await self._rest(jittered_around(pause))
                pause = min(pause * 2, PAUSE_MAX)

    async def _watch_suspects(self) -> None:
        """Give suspects that nobody took a process of their own, one at a time."""
        while not self._stopping.is_set():
            await self._rest(LOOK_SECONDS)
            found = 0
            with contextlib.suppress(Fault):  # the store is away; its workers say so
                found = await self._desk.suspects()
            if found and not self._stopping.is_set():
                await self._serve(alone=True)

    async def _serve(self, *, alone: bool) -> None:
        """One worker process from its start to its end; a machine that cannot start one now may later."""
        worker = WorkerId(new_worker_id())
        try:
            child = await self._spawn(worker, alone)
        except OSError as error:
            log.error("a worker process cannot be started: %s", error, extra={"worker_id": worker})
            return
        self._children[worker] = child
        if self._stopping.is_set():
            _signal(child, signal.SIGTERM)
        try:
            code = await child.wait()
        finally:
            del self._children[worker]
        if code:
            log.error("worker process %d ended with %d", child.pid, code, extra={"worker_id": worker})
        await self._hand_back(worker, died=not self._stopping.is_set())

    async def _hand_back(self, worker: WorkerId, *, died: bool) -> None:
        """What the child still held when it went; a shutdown, however it ended, spends no retry."""
        try:
            # By its id alone it could be handed back too, but then nobody would know which jobs those were.
            rescued = await self._queue.rescue(certain=True) if died else []
            self._telemetry.rescued(rescued)
            count = len(rescued) + await self._queue.leave(worker, died=died)
        except Fault as fault:
            log.warning("cannot hand back: %s", fault.message, extra={"worker_id": worker})
            return
        if count:
            log.warning("handed back %d jobs of a dead worker", count, extra={"worker_id": worker})

    async def _rest(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()


def _signal(child: Child, number: int) -> None:
    # The process object's own way polls first, and so takes the exit code from the one who waits for it.
    with contextlib.suppress(ProcessLookupError):
        os.kill(child.pid, number)
