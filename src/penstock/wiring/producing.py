"""Producing: the folder the configuration names, looked over until told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from penstock.engines.disk import DiskFinder
from penstock.engines.disk.digests import digest_of
from penstock.engines.system.rate import LocalRate
from penstock.intake.admission import PORTION, Admission
from penstock.intake.producer import Ground, Plan, Producer
from penstock.model.errors import Fault, Refused
from penstock.model.files import BlobHash, Selection
from penstock.model.priorities import ranks_of
from penstock.ports.rate import Rate, places_at_once
from penstock.settings import Settings
from penstock.wiring.declared import declared_by, scan_root
from penstock.wiring.loop import run
from penstock.wiring.store import Store, open_store
from penstock.wiring.telemetry import open_observatory

log = logging.getLogger("penstock.producing")
AGAIN_SECONDS = 5.0


def run_producer(settings: Settings) -> int:
    """Produce until a signal comes; the code to end with."""
    if settings.producer.scan_dir is None:
        raise Refused("there is nothing to produce from: set producer.scan_dir", code="ERR_CONFIGURATION")
    return run(_run(settings))


async def _run(settings: Settings) -> int:
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with (
        open_store(settings) as store,
        open_observatory(settings, store, None),
        a_producer(settings, store) as producer,
    ):
        log.info("looking over %s", settings.producer.scan_dir)
        producing = asyncio.create_task(producer.run())
        waiting = asyncio.create_task(stopped.wait())
        standing = asyncio.create_task(store.footing.run())
        await asyncio.wait({producing, waiting, standing}, return_when=asyncio.FIRST_COMPLETED)
        for each in (waiting, producing, standing):
            each.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await producing
        with contextlib.suppress(asyncio.CancelledError):
            await standing
    return 0


async def produce(settings: Settings, store: Store) -> None:
    """Until cancelled, beginning anew when something goes wrong."""
    while True:
        try:
            async with a_producer(settings, store) as producer:
                await producer.run()
        except Fault as fault:
            log.warning("cannot produce: %s", fault.message)
        except Exception:
            log.exception("producing failed")
        await asyncio.sleep(AGAIN_SECONDS)


@asynccontextmanager
async def a_producer(settings: Settings, store: Store) -> AsyncIterator[Producer]:
    """The producer the settings describe, and the rate it keeps."""
    asked, root = settings.producer, scan_root(settings)
    if root is None:
        raise Refused("producer.scan_dir is not set", code="ERR_CONFIGURATION")
    ranks = ranks_of(settings.worker.priorities)
    plan = Plan(
        root=root,
        selection=Selection(
            patterns=asked.include_globs,
            ignore_patterns=asked.exclude_globs,
            hidden=True,  # the globs alone decide; by default they leave hidden files out
            files_max=settings.limits.folder_files,
        ),
        declared=await declared_by(store, settings),
        priority=ranks[asked.default_priority],
        high_priority=ranks[settings.worker.priorities[0]],
        high_endings=asked.high_priority_exts,
        at_once=min(PORTION, places_at_once(asked.rate_limit_per_sec))
        if asked.rate_limit_per_sec
        else PORTION,
        max_retries=settings.worker.max_retries,
    )
    async with rate_of(settings, store) as rate:
        yield Producer(
            Ground(
                database=store,
                catalogue=store.catalogue,
                admission=Admission(store),
                finder=DiskFinder(),
                digest=partial(_digest, limit=settings.limits.file_bytes),
                clock=store.clock,
                rate=rate,
            ),
            plan,
        )


@asynccontextmanager
async def rate_of(settings: Settings, store: Store) -> AsyncIterator[Rate | None]:
    """Shared by all producers where jobs wait in Redis, this process's own elsewhere."""
    per_second = settings.producer.rate_limit_per_sec
    if not per_second:
        yield None
    elif settings.queue.scheme == "database":
        yield LocalRate(store.clock, per_second=per_second)
    else:
        from penstock.engines.redis.client import connect
        from penstock.engines.redis.rate import RedisRate
        from penstock.wiring.redis import limits_of

        limits = replace(limits_of(settings), idle_min=0)  # it asks one thing now and then
        async with connect(settings.redis_server(), store.clock, limits=limits) as client:
            yield RedisRate(client, store.clock, key=settings.producer.rate_limit_key, per_second=per_second)


async def _digest(path: str, root: Path, *, limit: int) -> BlobHash | None:
    return await digest_of(path, root, limit)
