"""What an administrator asks of a queue: how much is where, what comes next, and that all of it be gone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.model.errors import Refused, Unavailable
from penstock.model.inventory import Erasure, Health, Inventory, QueueLength
from penstock.model.jobs import JobId
from penstock.model.standing import counted
from penstock.model.states import State
from penstock.ports.desk import Desk, Wanted
from penstock.settings import Settings
from penstock.wiring.store import Store

if TYPE_CHECKING:
    from penstock.engines.redis.surveying import RedisSurvey
    from penstock.wiring.booked import BookedStore

PORTION = 500
UNFINISHED = (State.LEASED, State.READY, State.DELAYED)


def survey_of(settings: Settings, store: Store) -> RedisSurvey:
    """What looks at the keys; Refused where the queue has none."""
    booked = booked_of(settings, store)
    if booked is None:
        raise Refused(
            "the queue is in the database and has no keys; see: penstock queue status, "
            "penstock queue list --state ready"
        )
    return booked.engine.survey(priorities=settings.worker.queues, rate_key=settings.producer.rate_limit_key)


def booked_of(settings: Settings, store: Store) -> BookedStore | None:
    """The store as one whose queue is a Redis, if it is."""
    if settings.queue.scheme == "database":
        return None
    from penstock.wiring.booked import BookedStore

    return store if isinstance(store, BookedStore) else None


async def health_of(settings: Settings, store: Store) -> Health | None:
    """The health check of a queue on Redis; None where the queue is the database, or Redis is away."""
    if booked_of(settings, store) is None:
        return None
    try:
        return await survey_of(settings, store).health()
    except Unavailable:
        return None


async def shown_outside(settings: Settings, store: Store, job_id: str) -> dict[str, str] | None:
    """What Redis alone says of a job the book does not know: its hash, or that its message still waits."""
    if booked_of(settings, store) is None:
        return None
    survey = survey_of(settings, store)
    if told := await survey.shown(job_id):
        return told
    message = await survey.pushed(job_id)
    return None if message is None else {**_texts(message), "job_id": job_id, "status": "submitted"}


def _texts(message: bytes) -> dict[str, str]:
    told = json.loads(message)
    return {name: value for name, value in told.items() if isinstance(value, str)}


async def inventory_of(settings: Settings, store: Store) -> Inventory:
    """The queue at one moment, whatever it stands on."""
    if booked_of(settings, store) is not None:
        return await survey_of(settings, store).inventory()
    lengths, counts = await store.meter.lengths(), await store.desk.counts()
    workers = await store.desk.workers()
    return Inventory(
        queues=tuple(
            QueueLength(name=name, key=None, length=lengths.get(name, 0))
            for name in ("high", "normal", "low")
        ),
        processing={worker.id: worker.running for worker in workers},
        heartbeats=sum(worker.alive for worker in workers),
        completed=counts.done,
        dead_letters=counts.failed,
    )


async def erase_all(settings: Settings, store: Store, *, really: bool) -> Erasure:
    """Cancel every job that has not ended, forget every job that has, and remove the keys; or only count.

    Refused while a worker is alive: what it runs would end somewhere else than where it began.
    """
    booked = booked_of(settings, store)
    counts = await store.desk.counts()
    ended = counts.done + counts.failed
    alive = sum(worker.alive for worker in await store.desk.workers())
    if really and alive:
        raise Refused(f"{counted(alive, 'worker')} alive: stop them before everything is removed")
    if not really:
        unfinished = [job_id async for job_id in _unfinished(store.desk)]
        keys = 0
        if booked is not None:
            families = (await survey_of(settings, store).count(most=1 << 62)).families
            keys = sum(count for family, count in families.items() if family != "others")
        return Erasure(unfinished=len(unfinished), ended=ended, keys=keys)
    cancelled = await _cancel_all(store)
    keys = 0 if booked is None else await survey_of(settings, store).erase()
    now = store.clock.now() + 1.0
    while await store.queue.prune(done_before=now, failed_before=now):
        pass
    return Erasure(unfinished=cancelled, ended=ended, keys=keys)


async def _cancel_all(store: Store) -> int:
    """What dead workers hold comes back first: only what waits can be ended by somebody else."""
    held = await store.desk.jobs(Wanted(state=State.LEASED, limit=PORTION))
    while held:
        for worker in {job.worker for job in held if job.worker is not None}:
            await store.queue.leave(worker, died=True)
        held = await store.desk.jobs(Wanted(state=State.LEASED, limit=PORTION))
    ids = [job_id async for job_id in _unfinished(store.desk)]
    for at in range(0, len(ids), PORTION):
        await store.desk.cancel(ids[at : at + PORTION])
    return len(ids)


async def _unfinished(desk: Desk) -> AsyncIterator[JobId]:
    for state in UNFINISHED:
        wanted = Wanted(state=state, limit=PORTION)
        page = await desk.jobs(wanted)
        while page:
            for job in page:
                yield job.id
            page = await desk.jobs(replace(wanted, before=page[-1].id))
