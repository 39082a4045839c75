"""Worker processes: a supervisor and the children it starts, each with a crew of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from importlib import import_module

from penstock.answer.interrupted import Interrupted
from penstock.engines.system.clock import SystemClock
from penstock.model.errors import Refused
from penstock.model.jobs import WorkerId
from penstock.model.payloads import ItemType
from penstock.ports.telemetry import Telemetry
from penstock.settings import Settings
from penstock.wiring.companions import beside
from penstock.wiring.loop import run
from penstock.wiring.store import Store, open_store
from penstock.wiring.telemetry import check_tracing, open_observatory, open_teller
from penstock.wiring.vectors import breaker_rules_of
from penstock.work.breaker import Breakers
from penstock.work.crew import Trade, run_crew
from penstock.work.handlers import Handlers
from penstock.work.healer import Healer
from penstock.work.pace import Pace
from penstock.work.supervisor import Child, Supervisor
from penstock.work.worker import Worker

SIGNALS = (signal.SIGTERM, signal.SIGINT)
"""What tells a process to end."""
STUCK_TURNS = 1.5
"""An idle loop turns once in `worker.brpoplpush_timeout`; one and a half of it is no turn at all."""
LAST_WORDS_SECONDS = 3.0
"""How long a child that was told to end at once may take to hand its jobs back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What a parent tells its child over the pipe between them."""

    settings: Settings
    worker: WorkerId
    alone: bool
    handlers: str | None
    counts: int | None = None
    """The descriptor of the board the child counts on."""


Beside = Callable[[Callable[[], None]], AbstractAsyncContextManager[None]]
"""Something a door lets run as long as the workers do; it calls what it is given if it fails."""


def _nothing(_failed: Callable[[], None]) -> AbstractAsyncContextManager[None]:
    return contextlib.nullcontext()


def run_supervisor(
    settings: Settings,
    *,
    handlers: str | None = None,
    produces: bool = False,
    others: Beside = _nothing,
) -> int:
    """Run worker processes until SIGTERM or SIGINT; `handlers` is `module:name` of a Handlers value.

    With `produces` the producer's folder, if there is one, is looked over beside them.
    """
    if handlers is not None:
        handlers_named(handlers)  # a mistake should be told here, once, not by every child
    check_tracing(settings)
    return run(_supervise(settings, handlers, others, produces=produces))


async def _supervise(settings: Settings, handlers: str | None, others: Beside, *, produces: bool) -> int:
    supervisor: Supervisor | None = None

    def workers() -> list[WorkerId]:
        return [] if supervisor is None else supervisor.workers

    async with open_store(settings) as store, open_observatory(settings, store, workers) as observatory:

        async def spawn(worker: WorkerId, alone: bool) -> Child:
            store.footing.check()  # a child would make a new store where this one was
            orders = Orders(settings=settings, worker=worker, alone=alone, handlers=handlers)
            with observatory.board() as counted:
                if counted is None:
                    return await _spawn(orders)
                orders = replace(orders, counts=counted.descriptor)
                return counted.by(await _spawn(orders, counted.descriptor))

        supervisor = Supervisor(
            spawn,
            store.queue,
            store.desk,
            SystemClock(),
            count=settings.worker.count,
            grace=settings.worker.grace,
            telemetry=observatory.telemetry,
        )
        _on_signals(supervisor.stop)
        failed = supervisor.give_up
        async with contextlib.AsyncExitStack() as companions:
            await companions.enter_async_context(others(failed))
            for work in _companions(settings, store, watches=handlers is None, produces=produces):
                await companions.enter_async_context(beside(work, failed))
            await supervisor.run()
    _ignore_signals()
    return 0


async def _spawn(orders: Orders, *passed: int) -> Child:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "penstock.doors.child",
        stdin=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C reaches the parent alone, which tells its children
        pass_fds=passed,
    )
    if child.stdin is not None:
        # It died at once, which uvloop calls a RuntimeError; wait() will tell.
        with contextlib.suppress(ConnectionError, RuntimeError):
            child.stdin.write(pickle.dumps(orders))
            await child.stdin.drain()
    return child


def _companions(
    settings: Settings, store: Store, *, watches: bool, produces: bool
) -> Iterator[Coroutine[None, None, None]]:
    """Folders are watched, by this process or, if it dies, by another; the producer's is looked over."""
    if watches:
        from penstock.wiring.watching import watch_sources

        yield watch_sources(settings, store)
    if produces and settings.producer.scan_dir is not None:
        from penstock.wiring.producing import produce

        yield produce(settings, store)


async def serve(orders: Orders, parent_gone: asyncio.Event) -> None:
    """A child's whole life."""
    settings, clock, pace = orders.settings, SystemClock(), pace_of(orders.settings)
    async with (
        open_store(settings) as store,
        open_teller(settings, store, orders.worker, orders.counts) as teller,
        _equipped(orders, store, teller) as (handlers, trades, breakers),
    ):
        worker = Worker(
            store.queue,
            handlers,
            worker_id=orders.worker,
            concurrency=settings.worker.concurrency,
            clock=clock,
            pace=pace,
            breakers=breakers,
            alone=orders.alone,
            telemetry=teller,
        )
        signals = 0

        def told() -> None:
            nonlocal signals
            signals += 1
            worker.stop(grace=None if signals == 1 else 0.0)
            if signals == 2:
                _end_soon()

        _on_signals(told)
        watch = asyncio.create_task(_end_with_parent(parent_gone, worker))
        try:
            healer = Healer(Interrupted(store.transcript), clock)
            every: tuple[Trade, ...] = (
                teller,
                healer,
                store.footing,
                *trades,
                *await _in_step(settings, store, teller),
            )
            await run_crew(worker, store.queue, store, clock, pace, every, teller)
        finally:
            watch.cancel()
    _ignore_signals()


@asynccontextmanager
async def _equipped(
    orders: Orders, store: Store, telemetry: Telemetry
) -> AsyncIterator[tuple[Handlers, tuple[Trade, ...], Breakers]]:
    """The handlers the orders name, or our own with all that goes with them."""
    breakers = Breakers(store.clock, breaker_rules_of(orders.settings), telemetry)
    if orders.handlers is not None:
        yield handlers_named(orders.handlers), (), breakers
        return
    from penstock.wiring.pipeline import open_plant

    async with open_plant(orders.settings, store, orders.worker, breakers) as plant:
        yield plant.handlers, plant.trades, breakers


async def _in_step(settings: Settings, store: Store, telemetry: Telemetry) -> tuple[Trade, ...]:
    """What keeps the database and a queue outside it in step."""
    if settings.queue.scheme == "database":
        return ()
    from penstock.wiring.booked import trades_of

    return await trades_of(settings, store, telemetry)


async def _end_with_parent(parent_gone: asyncio.Event, worker: Worker) -> None:
    """An orphan hands back what it has and goes: nobody is left to look after it."""
    await parent_gone.wait()
    worker.stop(grace=0.0)


def _end_soon() -> None:
    """Whatever a handler does, the process is gone a moment later; rescuers have the rest."""
    timer = threading.Timer(LAST_WORDS_SECONDS, os._exit, (1,))
    timer.daemon = True
    timer.start()


def _on_signals(told: Callable[[], None]) -> None:
    """Pass signals on; not by the loop's own handlers, which end with it while the process still lives."""
    loop = asyncio.get_running_loop()

    def pass_on(_number: int, _frame: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: there is nothing left to stop
            loop.call_soon_threadsafe(told)

    for number in SIGNALS:
        signal.signal(number, pass_on)


def _ignore_signals() -> None:
    """All is done: a signal in the last milliseconds must not make a good end look like a death."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def handlers_named(name: str) -> Handlers:
    """The Handlers value at `module:name`."""
    module, _, attribute = name.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = getattr(import_module(module), attribute or "handlers")
    except (ImportError, AttributeError, ValueError) as error:
        raise Refused(f"handlers {name!r} cannot be loaded: {error}", code="ERR_CONFIGURATION") from error
    if not isinstance(found, Handlers):
        raise Refused(f"handlers {name!r} is not a Handlers value", code="ERR_CONFIGURATION")
    return found


def pace_of(settings: Settings) -> Pace:
    """How often things happen, as the settings say."""
    worker = settings.worker
    return Pace(
        beat=worker.heartbeat_interval,
        dead_after=worker.heartbeat_ttl,
        idle=worker.brpoplpush_timeout,
        stuck_after=max(Pace().stuck_after, STUCK_TURNS * worker.brpoplpush_timeout),
        look_after=min(1.0, worker.heartbeat_interval),
        rescue=min(Pace().rescue, settings.reaper.interval),
        grace=worker.grace,
        prune=settings.retention.interval,
        keep_done=settings.retention.done,
        keep_failed=settings.retention.failed,
        keep_events=settings.retention.events,
        timeout=worker.timeout,
        timeouts={kind: worker.timeout_for(kind) for kind in ItemType},
        stall=worker.stall,
    )
