"""Who works, what waits, and what is owed: the doctor's look at a living store."""

from __future__ import annotations

from collections import Counter

from penstock.model.catalogue import LOCAL_WORKSPACE
from penstock.model.diagnosis import Finding, Verdict
from penstock.model.errors import Broken
from penstock.model.recipes import kept_recipe
from penstock.model.standing import counted
from penstock.model.states import State
from penstock.ports.desk import Wanted
from penstock.settings import Settings
from penstock.wiring.collections import differences
from penstock.wiring.dropped import dropped_findings
from penstock.wiring.store import Store

STUCK_SECONDS = 60.0
"""A lease that ended so long ago should have been noticed."""
WAITING_SECONDS = 600.0
OWED_SECONDS = 3600.0
LOOKED_AT = 500


async def attendance(store: Store, settings: Settings) -> list[Finding]:
    """Everything there is to say about a store at work."""
    return [
        *await _workers(store),
        *await _stuck(store),
        *await _held_back(store),
        *await _owed(store),
        *await _recipes(store, settings),
        *await dropped_findings(store, settings),
    ]


async def _workers(store: Store) -> list[Finding]:
    alive = sum(worker.alive for worker in await store.desk.workers())
    counts = await store.desk.counts()
    waiting = counts.ready + counts.delayed
    if alive:
        return [_found("workers", Verdict.OK, f"{counted(alive, 'worker')} alive.")]
    if waiting:
        told = f"No worker is alive and {counted(waiting, 'job')} wait."
        return [_found("workers", Verdict.WRONG, told, "Start one: penstock worker.")]
    told = "No worker is alive; there is nothing to do."
    return [_found("workers", Verdict.WARNING, told, "Start one: penstock worker.")]


async def _stuck(store: Store) -> list[Finding]:
    now = store.clock.now()
    running = await store.desk.jobs(Wanted(state=State.LEASED, limit=LOOKED_AT))
    stuck = [job for job in running if job.lease_until is not None and job.lease_until < now - STUCK_SECONDS]
    found = []
    if stuck:
        told = f"{counted(len(stuck), 'job')} held by workers whose time is over, {stuck[-1].id} among them."
        found.append(
            _found("stuck", Verdict.WRONG, told, "Start a worker: it takes them back within seconds.")
        )
    oldest = await store.desk.oldest()
    waited = 0.0 if oldest is None else now - oldest.created_at
    if oldest is not None and waited > WAITING_SECONDS:
        told = f"The oldest ready job, {oldest.id}, waits for {waited / 60:.0f} minutes."
        advice = f"Ask why: penstock queue explain {oldest.id}; start more workers."
        found.append(_found("waiting", Verdict.WARNING, told, advice))
    return found or [_found("stuck", Verdict.OK, "No job is stuck.")]


async def _held_back(store: Store) -> list[Finding]:
    found = [
        _found("paused", Verdict.WARNING, f"{str(pause).capitalize()} is paused.", "penstock queue resume.")
        for pause in await store.desk.pauses()
    ]
    found += await _parked(store)
    counts = await store.desk.counts()
    if counts.failed:
        told = f"{counted(counts.failed, 'job')} failed."
        advice = "Look: penstock queue dlq list, penstock ingest list --state error."
        found.append(_found("failed", Verdict.WARNING, told, advice))
    return found


async def _parked(store: Store) -> list[Finding]:
    """What the jobs that were put off wait for, and what a person can do about it."""
    waiting = await store.desk.jobs(Wanted(state=State.DELAYED, limit=LOOKED_AT))
    errors = [job.error for job in waiting if job.error is not None]
    counts = Counter(error.code for error in errors)
    latest = {error.code: error for error in reversed(errors)}
    return [
        _found(
            "parked",
            Verdict.WARNING,
            f"{counted(counts[code], 'job')} put off: {error.message}.",
            " ".join(error.suggestions) or "They go on by themselves.",
        )
        for code, error in latest.items()
    ]


async def _owed(store: Store) -> list[Finding]:
    now = store.clock.now()
    found = []
    for owed in await store.auditor.owed():
        late = now - owed.since
        if late > OWED_SECONDS and owed.kind != "rebuild":
            why = f"; the latest try: {owed.reason}" if owed.reason else ""
            told = f"{owed.count} of {owed.kind} are owed, the first for {late / 60:.0f} minutes{why}."
            found.append(_found("owed", Verdict.WARNING, told, "Workers do it; start one: penstock worker."))
    return found or [_found("owed", Verdict.OK, "Nothing is owed for long.")]


async def _recipes(store: Store, settings: Settings) -> list[Finding]:
    found = []
    for collection in await store.catalogue.collections(LOCAL_WORKSPACE):
        try:
            kept_recipe(collection.recipe_json)
        except Broken as broken:
            why = broken.__cause__
            told = f"The recipe of {collection.name} cannot be read: {why}."
            told = told if why else f"The index of {collection.name} is not there."
            found.append(_found("recipe", Verdict.WRONG, told, "Mend it: penstock fsck --repair."))
            continue
        unlike = differences(settings, collection)
        if unlike and collection.building is None:
            told = f"{collection.name} was made by another recipe than the one in force: {'; '.join(unlike)}."
            advice = f"To apply it: penstock ingest reindex --rag {collection.name}."
            found.append(_found("recipe", Verdict.WARNING, told, advice))
    return found


def _found(check: str, verdict: Verdict, sentence: str, advice: str = "") -> Finding:
    return Finding(check=check, verdict=verdict, sentence=sentence, advice=advice)
