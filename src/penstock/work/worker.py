"""The worker: claims as many jobs as it has free slots, runs them, settles together what ends together.

The fetch loop ticks with every turn, also when idle or full; the keeper beats only while it ticks, so a
worker that no longer fetches is soon seen as dead. Jobs that end in the same turn of the event loop are
settled together, and the claim for the freed slots goes into the same commit.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable

from penstock.model.errors import Exhausted, Fault, Unavailable, report_of
from penstock.model.jobs import Lease, Renewal, WorkerId
from penstock.model.outcomes import DONE, RELEASE, Done, Outcome, outcome_of
from penstock.ports.clock import Clock
from penstock.ports.queue import Queue
from penstock.ports.roll import NO_ROLL, Roll
from penstock.ports.telemetry import SILENT, Telemetry
from penstock.work.breaker import BreakerRules, Breakers
from penstock.work.endings import Attempt, Ending, attempt_of, interrupted
from penstock.work.handlers import Handlers, Run
from penstock.work.pace import Pace, jittered_around

log = logging.getLogger("penstock.worker")
GATHER_SECONDS = 0.005
"""How long a worker with few free slots waits for more before it asks for jobs."""
SETTLE_PAUSE_MAX = 2.0
TIMEOUT_LOOK_SECONDS = 0.5
ASIDE_TIMES_MAX = 16
"""For each slot so many may stand aside; further ones keep theirs."""
QUIET_TURNS = 5
"""After so many idle waits without news the queue is asked all the same."""


def _ignore() -> None:
    """Nobody wants to hear it."""


async def _nobody_beats() -> None:
    """There is no keeper."""


class Worker:
    """One worker of one process; `run` returns when it has been stopped and is empty."""

    def __init__(
        self,
        queue: Queue,
        handlers: Handlers,
        *,
        worker_id: WorkerId,
        concurrency: int,
        clock: Clock,
        pace: Pace,
        breakers: Breakers | None = None,
        alone: bool = False,
        telemetry: Telemetry = SILENT,
    ) -> None:
        self.id = worker_id
        self.concurrency = concurrency
        self._queue = queue
        self._handlers = handlers
        self._clock = clock
        self._pace = pace
        self._breakers = breakers or Breakers(clock, BreakerRules())
        self._alone = alone
        """Take one suspect, run it, and end."""
        self._telemetry = telemetry
        self._roll: Roll = NO_ROLL
        self._runs: dict[Attempt, Run] = {}
        self._tasks: dict[Attempt, asyncio.Task[None]] = {}
        self._endings: dict[Attempt, Ending] = {}
        self._ended: list[tuple[Lease, Outcome]] = []
        self._settling: set[asyncio.Task[None]] = set()
        self._unsettled: dict[Attempt, Lease] = {}
        self._handed_back = 0
        """Attempts given up because the worker ends."""
        self._arrived = False
        """The queue said that jobs may have come, or been put off."""
        self._room = asyncio.Event()
        self._busy = asyncio.Event()
        """Set while something runs; may stay so a moment longer."""
        self._stopping = asyncio.Event()
        self._nap: asyncio.Timeout | None = None
        """Around the wait for news, so that a stop can end it."""
        self._grace = pace.grace
        self._failure: Exception | None = None
        self.ticked = clock.steady()
        self._answered = True
        """The last claim was."""
        self._asking = False
        """A claim is under way, and the last one was answered: so long it is the store's turn, not ours."""
        self.beaten = clock.steady()
        """When a beat last reached the store; kept by the keeper, and by a worker that was away."""
        self.news: Callable[[], None] = _ignore
        """Called when jobs may have come, or been put off, since the last time; set by the crew."""
        self.silenced: Callable[[], Awaitable[None]] = _nobody_beats
        """Returns once nobody beats for this worker any more; set by the crew."""

    @property
    def offers(self) -> int:
        """How many jobs it would run at once; none once it was told to stop."""
        return 0 if self._stopping.is_set() else self.concurrency

    @property
    def running(self) -> list[Run]:
        """What runs now."""
        return list(self._runs.values())

    def held(self) -> list[Lease]:
        """Leases to look after: running ones still within their limits, and ended ones not yet settled."""
        now = self._clock.steady()
        return [run.lease for run in self.running if self._within_limits(run, now)] + list(
            self._unsettled.values()
        )

    def stop(self, grace: float | None = None) -> None:
        """Claim no more; running jobs get `grace` seconds to end. May be called again with less."""
        if grace is not None:
            self._grace = grace
        self._stopping.set()
        self._room.set()
        if self._nap is not None and not self._nap.expired():
            self._nap.reschedule(asyncio.get_running_loop().time())

    async def run(self) -> None:
        """Fetch and run until stopped, then drain."""
        self._roll = self._queue.roll(self.id)
        await self._queue.beat(self.id, concurrency=self.offers)
        watch = asyncio.create_task(self._watch_timeouts())
        try:
            await self._fetch()
        finally:
            await self._drain()
            watch.cancel()
            await self._leave()
        if self._failure is not None:
            raise self._failure

    async def _leave(self) -> None:
        """Hand back what is left; a store that is away has it taken back by rescuers."""
        about = {"worker_id": self.id}
        await self.silenced()  # a beat after it has left would bring it back to life
        try:
            handed_back = self._handed_back + await self._queue.leave(self.id)
        except Unavailable as fault:
            log.warning("cannot leave: %s", fault.message, extra=about)
        else:
            log.info("worker left; jobs handed back: %d", handed_back, extra=about)

    def renewed(self, renewals: Iterable[tuple[Lease, Renewal]]) -> None:
        """What the keeper learnt: interrupt what was lost or cancelled."""
        for lease, renewal in renewals:
            run = self._runs.get(attempt_of(lease))
            if run is not None and renewal.held:
                run.renewed(self._clock.steady())
            if not renewal.held:
                self._interrupt(attempt_of(lease), Ending.LOST)
            elif renewal.cancel_code is not None:
                self._interrupt(attempt_of(lease), Ending.CANCELLED)

    def _within_limits(self, run: Run, now: float) -> bool:
        if run.ran(now) > self._pace.timeout_for(run.lease.item_type) + self._pace.look_after:
            return False
        return not self._pace.stall or run.was_silent(now) <= self._pace.stall

    async def _watch_timeouts(self) -> None:
        """Interrupt what runs too long; one look at all costs less than a timer for each.

        Whoever looks sees that the loop turns, and so ticks for a fetch that waits for the store.
        """
        while True:
            await self._busy.wait()
            await asyncio.sleep(TIMEOUT_LOOK_SECONDS)
            if not self._runs and not self._unsettled:
                self._busy.clear()
            now = self._clock.steady()
            if self._asking:
                self.ticked = now
            for run in self.running:
                if run.ran(now) > self._pace.timeout_for(run.lease.item_type):
                    self._interrupt(attempt_of(run.lease), Ending.TIMED_OUT)
                elif now > run.lasts_until:  # not renewed, so it is another's by now
                    self._interrupt(attempt_of(run.lease), Ending.LOST)

    def _interrupt(self, attempt: Attempt, ending: Ending) -> None:
        task = self._tasks.get(attempt)
        if task is not None and attempt not in self._endings:
            self._endings[attempt] = ending
            if self._runs[attempt].begun:  # a task cancelled before its first step never takes one
                task.cancel()

    async def _fetch(self) -> None:
        pause = 0.1
        while not self._stopping.is_set():
            try:
                await self._turn()
            except (Unavailable, Exhausted) as fault:
                # No tick: a worker that cannot reach the store must not look alive.
                log.warning("cannot fetch: %s", fault.message, extra={"worker_id": self.id})
                self._answered = False
                await self._rest(jittered_around(pause))
                pause = min(pause * 2, 5.0)
            else:
                self.ticked = self._clock.steady()
                self._answered = True
                pause = 0.1

    async def _turn(self) -> None:
        free = self._free()
        if not free:
            return await self._wait_for_room(self._pace.idle)
        if free < self.concurrency // 2:
            await self._wait_for_room(GATHER_SECONDS)
            free = self._free() or free
        idle = not self._runs and not self._unsettled
        wanted = 1 if self._alone else min(free, max(1, self.concurrency // 2))
        leases = await self._claim(wanted, idle=idle)
        if self._arrived:
            self._arrived = False
            self.news()  # after the claim: somebody waits for that, nobody for the promoter
        if self._stopping.is_set():
            self._handed_back += len(leases)
            return self._give_back(leases)
        for lease in leases:
            self._start(lease)
        if self._alone:
            self.stop()
        elif len(leases) < wanted:
            await asyncio.sleep(0)  # what was claimed begins first
            await self._wait_for_news()

    async def _claim(self, wanted: int, *, idle: bool) -> list[Lease]:
        """To wait for the answer once is no standing still: a disk may take longer than a beat.

        Who was away (stopped, cut off, its loop held up) may be taken for dead by now, and so what it claims
        would be taken from it at once, as if it had died of that. So it beats first, and what it was given
        in a silence that fell while it asked goes back.
        """
        if self._is_silent():
            await self._queue.beat(self.id, concurrency=self.offers)
            self.beaten = self._clock.steady()
        self._asking = self._answered
        try:
            leases = await self._queue.claim(self.id, wanted, idle=idle)
        finally:
            self._asking = False
        if not self._is_silent():
            return leases
        self._give_back(leases)
        return []

    def _is_silent(self) -> bool:
        return self._clock.steady() - self.beaten >= self._pace.dead_after / 2

    def _free(self) -> int:
        alone = any(run.lease.alone for run in self.running)
        if alone or len(self._unsettled) > self.concurrency:
            return 0
        aside = sum(run.stands_aside is not None for run in self.running)
        return max(0, self.concurrency - len(self._runs) + min(aside, ASIDE_TIMES_MAX * self.concurrency))

    async def _wait_for_room(self, seconds: float) -> None:
        self._room.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._room.wait()

    async def _wait_for_news(self) -> None:
        """Until something may have arrived, the worker is stopped, or it is time to look all the same."""
        for _ in range(QUIET_TURNS):
            self._arrived = await self._arrives()
            if self._arrived or self._stopping.is_set():
                return
            self.ticked = self._clock.steady()

    async def _arrives(self) -> bool:
        """Did something arrive within the idle time? Waited for on this very task: each hop takes time."""
        try:
            async with asyncio.timeout(None) as nap:
                self._nap = nap
                return await self._queue.arrival(self._pace.idle)  # a store out of reach is told here
        except TimeoutError:
            if not nap.expired():
                raise
            return False  # stopped
        finally:
            self._nap = None

    async def _rest(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

    def _start(self, lease: Lease) -> None:
        run = Run(lease, self._queue, self._clock, self._breakers)
        run.on_aside = self._room.set
        attempt = attempt_of(lease)
        self._runs[attempt] = run
        self._tasks[attempt] = asyncio.create_task(self._attempt(run))
        self._busy.set()

    async def _attempt(self, run: Run) -> None:
        lease = run.lease
        run.begun = True
        try:
            self._telemetry.began(lease)
            if attempt_of(lease) in self._endings:
                raise asyncio.CancelledError
            handler = self._handlers.find(lease.item_type, lease.op)
            self._roll.begins(lease)
            outcome = await handler(run) or DONE
        except asyncio.CancelledError:
            outcome = self._interrupted(lease)
        except Fault as fault:
            outcome = outcome_of(fault.report(), fault.retry_after)
        except Exception as error:
            log.exception("handler failed", extra={"job_id": lease.job_id, "worker_id": self.id})
            outcome = outcome_of(report_of(error))
        self._finish(run, outcome)

    def _interrupted(self, lease: Lease) -> Outcome:
        ending = self._endings.get(attempt_of(lease))
        self._handed_back += ending is Ending.SHUTDOWN
        return interrupted(ending, self._pace.timeout_for(lease.item_type))

    def _finish(self, run: Run, outcome: Outcome) -> None:
        lease = run.lease
        attempt = attempt_of(lease)
        del self._runs[attempt], self._tasks[attempt]
        self._room.set()
        is_lost = self._endings.pop(attempt, None) is Ending.LOST
        self._telemetry.ended(lease, None if is_lost else outcome, self._clock.steady() - run.started)
        if is_lost:
            self._roll.ended([lease])
            log.info("lease lost, result dropped", extra={"job_id": lease.job_id, "worker_id": self.id})
            return
        self._unsettled[attempt] = lease
        if not self._ended:
            asyncio.get_running_loop().call_soon(self._flush)
        self._ended.append((lease, outcome))

    def _give_back(self, leases: list[Lease]) -> None:
        for lease in leases:
            self._unsettled[attempt_of(lease)] = lease
        if leases:
            self._settle_soon([(lease, RELEASE) for lease in leases])

    def _flush(self) -> None:
        ends, self._ended = self._ended, []
        self._settle_soon(ends)

    def _settle_soon(self, ends: list[tuple[Lease, Outcome]]) -> None:
        task = asyncio.create_task(self._settle(ends))
        self._settling.add(task)
        task.add_done_callback(self._settling.discard)

    async def _settle(self, ends: list[tuple[Lease, Outcome]]) -> None:
        """Settle, again and again while the store is away: the result of work done must not be lost."""
        pause, unclear = 0.05, False
        try:
            while True:
                try:
                    kept = await self._queue.settle(ends)
                except (Unavailable, Exhausted) as fault:
                    log.warning("cannot settle yet: %s", fault.message, extra={"worker_id": self.id})
                    await asyncio.sleep(jittered_around(pause))
                    pause, unclear = min(pause * 2, SETTLE_PAUSE_MAX), True
                else:
                    break
            self._telemetry.settled(ends, kept, unclear=unclear)
            if not all(isinstance(outcome, Done) for _, outcome in ends):
                self.news()
        except Exception as error:
            self._failure = error
            self.stop(grace=0.0)
        finally:
            self._roll.ended(lease for lease, _ in ends)
            for lease, _ in ends:
                self._unsettled.pop(attempt_of(lease), None)
            self._room.set()

    async def _drain(self) -> None:
        """Let running jobs end within the grace, interrupt the rest, and settle all before returning."""
        deadline = self._clock.steady() + self._grace
        while self._tasks and self._clock.steady() < deadline:
            self.ticked = self._clock.steady()
            await self._wait_for_room(min(0.1, self._pace.idle))
            deadline = min(deadline, self._clock.steady() + self._grace)
        for attempt in list(self._tasks):
            self._interrupt(attempt, Ending.SHUTDOWN)
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=5.0)
        await asyncio.sleep(0)  # let the last ones reach _flush
        if self._settling:
            await asyncio.wait(self._settling, timeout=5.0)
