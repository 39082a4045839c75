"""The Redis the settings name: reached, examined, and refused if a queue cannot be trusted to it."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from penstock.engines.redis.checks import CHECK, examine, refuse_unfit
from penstock.engines.redis.client import Client, connect
from penstock.engines.redis.dialling import Limits
from penstock.engines.system.clock import SystemClock
from penstock.model.diagnosis import Finding, Verdict
from penstock.model.errors import Unavailable
from penstock.ports.clock import Clock
from penstock.settings import Settings

log = logging.getLogger("penstock.redis")


@asynccontextmanager
async def open_redis(settings: Settings, clock: Clock, *, patient: bool = False) -> AsyncIterator[Client]:
    """A client of a server that is fit; Refused says what is not, and warnings are logged.

    `patient`: a server that cannot be reached now is no reason not to go on; whoever asks it is told then.
    """
    async with _reached(settings, clock, patient=patient) as client:
        if not client.standing.reached:
            yield client
            return
        found = await examine(client, production=settings.profile == "production")
        refuse_unfit(found)
        for finding in found:
            if finding.verdict is Verdict.WARNING:
                log.warning("%s %s", finding.sentence, finding.advice)
        yield client


async def redis_findings(settings: Settings) -> list[Finding]:
    """What is to be said about the server that holds the queue; nothing where the database does."""
    if settings.queue.scheme == "database":
        return []
    try:
        async with _reached(settings, SystemClock()) as client:
            return await examine(client, production=settings.profile == "production")
    except Unavailable as fault:
        advice = "Check queue and redis in the configuration, and that the server runs."
        return [Finding(check=CHECK, verdict=Verdict.WRONG, sentence=f"{fault.message}.", advice=advice)]


@asynccontextmanager
async def _reached(settings: Settings, clock: Clock, *, patient: bool = False) -> AsyncIterator[Client]:
    async with connect(settings.redis_server(), clock, limits=limits_of(settings), patient=patient) as client:
        yield client


def limits_of(settings: Settings) -> Limits:
    """What an operation may take, as the settings say."""
    redis = settings.redis
    return Limits(
        operation_seconds=redis.read_timeout,
        dial_seconds=redis.dial_timeout,
        write_seconds=redis.write_timeout,
        resends_max=redis.max_retries,
        connections_max=redis.pool_size_multiplier * (os.cpu_count() or 1),
        idle_min=redis.min_idle_conns,
    )
