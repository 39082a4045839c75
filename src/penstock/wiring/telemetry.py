"""From settings to telemetry: what a worker process tells, and what its supervisor serves of it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING

import penstock
from penstock.engines.telemetry.board import Board
from penstock.engines.telemetry.labels import Labels
from penstock.engines.telemetry.teller import Spans, Teller
from penstock.model.errors import Fault, Refused
from penstock.model.jobs import WorkerId
from penstock.model.priorities import ranks_of
from penstock.model.tallies import QUEUE_OF_RANK, queues_of
from penstock.ports.telemetry import SILENT, Meter, Telemetry
from penstock.settings import Settings
from penstock.wiring.store import Store
from penstock.work.supervisor import Child

if TYPE_CHECKING:
    from penstock.engines.telemetry.page import Page
    from penstock.engines.telemetry.serving import Serve

log = logging.getLogger("penstock.telemetry")
READY_SECONDS = 2.0
"""How long the store may take to answer before it counts as out of reach."""

Workers = Callable[[], Collection[WorkerId]]
"""The worker processes a supervisor has now."""


@asynccontextmanager
async def open_teller(
    settings: Settings, store: Store, worker: WorkerId, counts: int | None
) -> AsyncIterator[Teller]:
    """What a worker process tells its work to; `counts` is the descriptor of its board, if there is one."""
    async with AsyncExitStack() as stack:
        board = None
        if counts is not None:
            board = Board(counts, labels_of(settings))
            os.close(counts)  # the parsers this process starts must not have it
            stack.callback(board.close)
        spans = await _spans(settings, worker, stack)
        teller = Teller(store.desk.find, store.clock, board, spans, _by_rank(settings))
        stack.push_async_callback(teller.finish)
        yield teller


def labels_of(settings: Settings) -> Labels:
    """What the label `queue` may say: on Redis the configured names, in the database high, normal and low."""
    by_rank = _by_rank(settings)
    return Labels(reversed(by_rank), by_rank)


def _by_rank(settings: Settings) -> tuple[str, ...]:
    """The queue of each priority."""
    if settings.queue.scheme == "database":
        return QUEUE_OF_RANK
    return queues_of(ranks_of(settings.worker.priorities))


async def _spans(settings: Settings, worker: WorkerId, stack: AsyncExitStack) -> Spans | None:
    tracing = settings.observability.tracing
    if not tracing.enabled or tracing.endpoint is None:
        return None
    try:
        from penstock.engines.telemetry.tracing import Collector, OtlpSpans
    except ImportError as error:
        raise Refused(_MISSING, code="ERR_CONFIGURATION") from error
    collector = Collector(
        url=tracing.endpoint.reveal(),
        shown=str(tracing.endpoint),
        version=penstock.__version__,
        instance=worker,
        queues=_by_rank(settings),
    )
    spans = OtlpSpans(collector)
    stack.push_async_callback(spans.close)
    return spans


_MISSING = "observability.tracing needs OpenTelemetry; install it: pip install 'penstock[tracing]'"


def check_tracing(settings: Settings) -> None:
    """Refuse to start where spans are wanted and cannot be made: one word here, not one by every child."""
    from importlib.util import find_spec

    names = ("opentelemetry.sdk", "opentelemetry.exporter")
    if settings.observability.tracing.enabled and not all(_is_there(find_spec, name) for name in names):
        raise Refused(_MISSING, code="ERR_CONFIGURATION")


def _is_there(find: Callable[[str], object], name: str) -> bool:
    try:
        return find(name) is not None
    except ModuleNotFoundError:  # not even the package it would be in
        return False


class Observatory:
    """The supervisor's side: boards for its children, and what it tells itself."""

    def __init__(self, page: Page | None = None, telemetry: Telemetry = SILENT) -> None:
        self._page = page
        self.telemetry = telemetry

    @contextmanager
    def board(self) -> Iterator[Counted | None]:
        """A place for one child to count; if the child is not started, it is as if there had been none."""
        if self._page is None:
            yield None
            return
        board, descriptor = self._page.open_board()
        try:
            yield Counted(self._page, board, descriptor)
        except BaseException:
            self._page.retire(board)
            raise
        finally:
            os.close(descriptor)


class Counted:
    """A board before and after it has its child."""

    def __init__(self, page: Page, board: Board, descriptor: int) -> None:
        self._page = page
        self._board = board
        self.descriptor = descriptor

    def by(self, child: Child) -> Child:
        """The child, whose counts are kept when it is gone."""
        return _CountedChild(child, lambda: self._page.retire(self._board))


class _CountedChild:
    def __init__(self, child: Child, gone: Callable[[], None]) -> None:
        self._child = child
        self._gone = gone

    @property
    def pid(self) -> int:
        return self._child.pid

    async def wait(self) -> int:
        code = await self._child.wait()
        self._gone()
        return code


@asynccontextmanager
async def open_observatory(
    settings: Settings, store: Store, workers: Workers | None
) -> AsyncIterator[Observatory]:
    """Serve metrics and health beside the workers, or a producer that has none, if a port is set."""
    port = settings.observability.metrics_port
    if not port:
        yield Observatory()
        return
    from penstock.engines.telemetry.page import Page
    from penstock.engines.telemetry.serving import served

    async with AsyncExitStack() as stack:
        page = Page(labels_of(settings), store.clock)
        stack.callback(page.close)
        board, descriptor = page.open_board()
        os.close(descriptor)
        teller = Teller(store.desk.find, store.clock, board, queues=_by_rank(settings))
        await stack.enter_async_context(served(port, _pages(page, store, workers)))
        interval = settings.observability.queue_sample_interval
        for endless in (teller.run(), _sample(page, store.meter, interval)):
            task = asyncio.create_task(endless)
            stack.push_async_callback(_ended, task)
        yield Observatory(page, teller)
        await teller.finish()


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def _sample(page: Page, meter: Meter, interval: float) -> None:
    """Measure the store again and again; while it is away the last numbers stand."""
    away = False
    while True:
        try:
            # In this order: whatever is seen waiting has been counted as produced.
            lengths = await meter.lengths()
            page.produced(await meter.produced())
            page.measured(lengths)
            away = False
        except Fault as fault:
            if not away:
                log.warning("cannot measure the queue: %s", fault.message)
            away = True
        await asyncio.sleep(interval)


def _pages(page: Page, store: Store, workers: Workers | None) -> dict[str, Serve]:
    from penstock.engines.telemetry.serving import Answer, as_json

    async def metrics(accept: str) -> Answer:
        return Answer(*page.text(accept))

    async def healthz(_accept: str) -> Answer:
        return as_json({"alive": True})

    async def readyz(_accept: str) -> Answer:
        try:
            async with asyncio.timeout(READY_SECONDS):
                seen = await store.desk.workers()
        except (Fault, TimeoutError):
            return as_json({"ready": False, "store": "out of reach"}, HTTPStatus.SERVICE_UNAVAILABLE)
        if workers is None:
            return as_json({"ready": True, "store": "reachable"})
        mine = set(workers())
        alive = sum(worker.alive and worker.id in mine for worker in seen)
        told = {"ready": alive > 0, "store": "reachable", "workers_alive": alive}
        return as_json(told, HTTPStatus.OK if alive else HTTPStatus.SERVICE_UNAVAILABLE)

    return {"/metrics": metrics, "/healthz": healthz, "/readyz": readyz}
