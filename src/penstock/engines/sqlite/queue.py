"""The queue port on SQLite."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sqlite3
import threading
from collections.abc import Sequence
from itertools import chain

from penstock.engines.sqlite import claiming, minding, settling, submitting
from penstock.engines.sqlite.access import FRESH_SECONDS, Access
from penstock.engines.sqlite.claiming import Claim, Leased, Taken
from penstock.engines.sqlite.outbox import accept
from penstock.engines.sqlite.rows import leases_of
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso
from penstock.engines.system.processes import identity
from penstock.model.jobs import BatchId, JobId, Lease, NewJob, Progress, Receipt, Renewal, WorkerId
from penstock.model.outcomes import Done, Outcome
from penstock.ports.roll import Roll


class SqliteQueue:
    """Each verb is one piece of work for the writing thread."""

    def __init__(self, store: Access) -> None:
        self._store = store
        self._rules = store.rules
        self._clock = store.clock
        self._rolls = store.rolls
        self._process = identity()
        self._still = -1
        """The store's version when nothing ran: until it is another, there is nobody to rescue."""
        self._known_due: tuple[int, float | None] = (-1, None)
        """The store's version, and when the next job was due then."""
        self._unheard: dict[WorkerId, list[list[Taken]]] = {}
        """What each worker's claims leased whose answer was lost; the writing thread may add to it yet."""

    async def submit(self, jobs: Sequence[NewJob], *, batch: BatchId | None = None) -> list[Receipt]:
        """Accept all of them or none."""
        entries = submitting.entries_of(jobs, self._rules)

        def work(db: sqlite3.Connection) -> list[Receipt]:
            receipts = accept(db, entries, self._clock.now(), batch, booked=self._store.booked)
            self._store.announce()
            return receipts

        return await self._store.change(work) if entries else []

    async def claim(self, worker: WorkerId, limit: int, *, idle: bool = True) -> list[Lease]:
        """Lease up to `limit` ready jobs.

        The rows are read as values on this loop while the writing thread leases them and waits for the disk.
        Should its answer come too late, or never, what it leased goes back with this worker's next claim.
        """
        loop = asyncio.get_running_loop()
        here = threading.get_ident()
        unheard, mine = self._unheard.pop(worker, []), list[Taken]()

        def read(taken: Taken) -> None:
            taken.leased = leases_of(taken, worker)

        def chosen(taken: Taken) -> None:
            if threading.get_ident() == here:
                return read(taken)
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for the answer
                loop.call_soon_threadsafe(read, taken)

        def work(db: sqlite3.Connection) -> Taken:
            asked = Claim(
                worker=worker,
                limit=limit,
                idle=idle,
                now=self._clock.now(),
                rules=self._rules,
                chosen=chosen,
            )
            if unheard and settling.give_back(db, chain.from_iterable(unheard), asked):
                self._store.announce()
            mine[:] = [claiming.claim_any(db, asked)]
            return mine[0]

        try:
            # Someone waits for an idle worker's claim; after a power cut the job would just be waiting again.
            taken = await self._store.change(work, durable=not idle, swift=idle)
            leased = taken.leased or Leased()  # nothing was chosen
            if leased.unfit:
                await self._store.change(
                    lambda db: settling.refuse(db, leased.unfit, self._clock.now(), self._rules)
                )
        except BaseException:
            self._unheard[worker] = [*unheard, mine]
            raise
        if taken.more or leased.unfit:
            self._store.ring()
        return leased.leases

    def roll(self, worker: WorkerId) -> Roll:
        """What the worker writes down as its handlers begin."""
        return self._rolls.begin(worker)

    async def extend(self, leases: Sequence[Lease]) -> list[Renewal]:
        """Renew leases."""
        return await self._store.change(
            lambda db: settling.extend(db, leases, self._clock.now(), self._rules), punctual=True
        )

    async def settle(self, ends: Sequence[tuple[Lease, Outcome]]) -> list[bool]:
        """End attempts."""

        def work(db: sqlite3.Connection) -> list[bool]:
            waits = db.execute(sql("any_behind")).fetchone()[0]
            kept = settling.settle(db, ends, self._clock.now(), self._rules)
            if waits or not all(isinstance(outcome, Done) for _, outcome in ends):
                self._store.announce()
            return kept

        return await self._store.change(work) if ends else []

    async def progress(self, lease: Lease, progress: Progress) -> bool:
        """Keep how far a running job is."""
        return await self._store.change(
            lambda db: settling.keep_progress(db, lease, progress, self._clock.now()), durable=False
        )

    async def beat(self, worker: WorkerId, *, concurrency: int) -> None:
        """Say that this worker process is alive and fetching."""
        known = {
            "id": worker,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "concurrency": concurrency,
            "process": self._process,
        }

        def work(db: sqlite3.Connection) -> None:
            db.execute(sql("beat"), {**known, "now": iso(self._clock.now())})

        await self._store.change(work, punctual=True)

    async def leave(self, worker: WorkerId, *, died: bool = False) -> int:
        """Forget a worker and hand back what it still holds."""
        self._unheard.pop(worker, None)

        def work(db: sqlite3.Connection) -> int:
            handed_back = settling.leave(db, worker, self._clock.now(), self._rules, self._rolls, died=died)
            if handed_back:
                self._store.announce()
            return handed_back

        handed_back = await self._store.change(work)
        self._rolls.forget([worker])
        return handed_back

    async def rescue(self, *, certain: bool = False) -> list[JobId]:
        """Take back jobs of dead workers and run-out leases; looks first, for there is seldom one.

        Where nothing ran and nobody has written since, it does not even look.
        """

        def work(db: sqlite3.Connection) -> list[JobId]:
            # Who waited for the lock so long sees everybody's beats as old: then only certain deaths count.
            fresh = self._clock.steady() - asked < FRESH_SECONDS
            now, sure = self._clock.now(), certain or not fresh
            rescued = settling.rescue(db, now, self._rules, self._rolls, certain=sure)
            if rescued:
                self._store.announce()
            return [JobId(job_id) for job_id in rescued]

        def look(db: sqlite3.Connection) -> tuple[bool, bool]:
            lost = settling.lost(db, self._clock.now(), self._rules, certain=certain)
            return bool(lost), settling.any_running(db)

        asked = self._clock.steady()
        version = self._store.version()
        if version == self._still:
            return []
        found, running = await self._store.look(look)
        self._still = -1 if running else version
        return await self._store.change(work) if found else []

    async def promote(self) -> float | None:
        """Make due jobs ready; when the next one is due."""

        def work(db: sqlite3.Connection) -> float | None:
            promoted, due = minding.promote(db, self._clock.now())
            if promoted:
                self._store.announce()
            return due

        def look(db: sqlite3.Connection) -> tuple[bool, float | None]:
            return minding.anything_due(db, self._clock.now())

        version = self._store.version()
        if version == self._known_due[0]:
            nearest = self._known_due[1]
            if nearest is None or nearest > self._clock.now():
                return nearest
        due_now, nearest = await self._store.look(look)
        self._known_due = (-1, None) if due_now else (version, nearest)
        return await self._store.change(work) if due_now else nearest

    async def prune(self, *, done_before: float, failed_before: float, limit: int = 1000) -> int:
        """Remove ended jobs older than that; looks first, so that nobody waits while it walks."""
        before, now = {"done": done_before, "failed": failed_before}, self._clock.now()

        def look(db: sqlite3.Connection) -> minding.Prunable:
            ownerless = self._rolls.ownerless()  # before the holders are read: the dead claim nothing more
            self._rolls.sweep(ownerless, [worker for (worker,) in db.execute(sql("holders"))])
            return minding.prunable(db, before, limit, now)

        found = await self._store.look(look)
        return await self._store.change(lambda db: minding.prune(db, before, found, now)) if found else 0

    async def arrival(self, timeout: float) -> bool:
        """Wait until there may be something new to claim."""
        return await self._store.arrival(timeout)
