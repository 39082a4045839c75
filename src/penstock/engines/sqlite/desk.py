"""The operator's desk, and batches, on SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence

from penstock.engines.sqlite import claiming, listing, minding, submitting
from penstock.engines.sqlite.access import Access
from penstock.engines.sqlite.outbox import accept
from penstock.engines.sqlite.rows import batch_of, job_of, worker_of
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso, seconds
from penstock.model.batches import Batch
from penstock.model.errors import Refused
from penstock.model.ids import new_job_id
from penstock.model.jobs import BatchId, Job, JobId, Receipt
from penstock.model.standing import COUNT_MAX, Pause, PauseScope, Standing, WorkerSeen
from penstock.model.states import State
from penstock.ports.desk import Counts, Wanted
from penstock.ports.replaying import replayed


class SqliteDesk:
    """Looks beside the writer, changes through it."""

    def __init__(self, store: Access) -> None:
        self._store = store
        self._rules = store.rules
        self._clock = store.clock

    async def find(self, job_id: JobId, *, tenants: Collection[str] | None = None) -> Job | None:
        """One job, of one of these tenants where some are named."""
        return await self._store.look(lambda db: _find(db, job_id, tenants))

    async def jobs(self, wanted: Wanted) -> list[Job]:
        """Jobs, newest first."""
        if wanted.state is State.ACCEPTED:  # here the insert is the enqueue: nothing is merely accepted
            return []
        return await self._store.look(lambda db: listing.jobs(db, wanted))

    async def oldest(self) -> Job | None:
        """The job that is ready for longest."""
        return await self._store.look(listing.oldest)

    async def counts(self) -> Counts:
        """How many jobs are in which state."""
        row = await self._store.look(_count)
        names = ("ready", "delayed", "waiting", "paused", "suspects", "leased", "done", "failed")
        return Counts(**dict(zip(names, row, strict=True)))

    async def suspects(self) -> int:
        """How many jobs wait for a worker of their own and may run now; 1 stands for any number."""
        return int(await self._store.look(lambda db: claiming.any_suspect(db, self._rules)))

    async def workers(self) -> list[WorkerSeen]:
        """Workers whose beats are known."""
        return await self._store.look(self._workers)

    async def standing(self, job_id: JobId) -> Standing:
        """The facts behind "why is it not done?"."""
        return await self._store.look(lambda db: self._standing(db, job_id))

    async def cancel(self, job_ids: Sequence[JobId]) -> list[bool]:
        """Cancel; False where a job had already ended."""

        def work(db: sqlite3.Connection) -> list[bool]:
            self._store.announce()
            now = self._clock.now()
            return [minding.cancel(db, _known(db, job_id).id, now) for job_id in job_ids]

        return await self._store.change(work)

    async def replay(self, job_ids: Sequence[JobId]) -> list[Receipt]:
        """Run ended jobs again as new jobs that name the old."""

        def work(db: sqlite3.Connection) -> list[Receipt]:
            self._store.announce()
            again = [replayed(_known(db, job_id)) for job_id in job_ids]
            entries = submitting.entries_of(again, self._rules)
            return accept(db, entries, self._clock.now(), booked=self._store.booked)

        return await self._store.change(work) if job_ids else []

    async def pause(self, scope: PauseScope, name: str = "", *, by: str = "") -> None:
        """Hold jobs back."""
        await self._store.change(lambda db: minding.pause(db, scope, name, by, self._clock.now()))

    async def resume(self, scope: PauseScope, name: str = "") -> bool:
        """Let them go on; a crash on the way leaves the rest to the next promote."""

        def lift(db: sqlite3.Connection) -> bool:
            self._store.announce()
            return minding.resume(db, scope, name)

        def let_go(db: sqlite3.Connection) -> int:
            self._store.announce()
            return minding.let_go(db)

        lifted = await self._store.change(lift)
        while await self._store.change(let_go):
            pass
        return lifted

    async def pauses(self) -> list[Pause]:
        """What is held back now."""
        return await self._store.look(_pauses)

    async def open_batch(self, parent: str | None = None) -> BatchId:
        """A batch that children may join; a parent has one, under its own id."""
        batch = BatchId(parent or new_job_id(self._clock.now()))

        def work(db: sqlite3.Connection) -> None:
            db.execute(sql("batch_open"), (batch, parent, iso(self._clock.now())))

        await self._store.change(work)
        return batch

    async def seal_batch(self, batch: BatchId) -> Batch:
        """No more children; it ends when the last one has."""

        def work(db: sqlite3.Connection) -> Batch:
            db.execute(sql("batch_seal"), {"batch": batch, "now": iso(self._clock.now())})
            row = db.execute(sql("batch_find"), (batch,)).fetchone()
            if row is None:
                raise Refused(f"there is no batch {batch}", code="ERR_BATCH_UNKNOWN")
            return batch_of(row)

        return await self._store.change(work)

    async def batch(self, batch: BatchId) -> Batch | None:
        """Its counts."""
        row = await self._store.look(lambda db: db.execute(sql("batch_find"), (batch,)).fetchone())
        return None if row is None else batch_of(row)

    async def failures(self, batch: BatchId, *, limit: int = 100) -> list[Job]:
        """Its children that failed and are still kept, newest first."""
        return await self._store.look(lambda db: listing.failures(db, batch, limit))

    def _workers(self, db: sqlite3.Connection) -> list[WorkerSeen]:
        dead_before = self._clock.now() - self._rules.dead_after_seconds
        return [worker_of(row, dead_before) for row in db.execute(sql("worker_list")).fetchall()]

    def _standing(self, db: sqlite3.Connection, job_id: JobId) -> Standing:
        job = _known(db, job_id)
        workers = self._workers(db)
        running = dict(db.execute(sql("claim_running")).fetchall())
        barrier = db.execute(sql("barrier_of"), (job.tenant,)).fetchone()
        ahead = db.execute(sql("job_ahead"), {"id": job.id, "limit": COUNT_MAX}).fetchone()[0]
        return Standing(
            job=job,
            now=self._clock.now(),
            ahead=ahead,
            pause=next((pause for pause in _pauses(db) if pause.holds(job)), None),
            barrier=barrier[0] if barrier else None,
            tenant_running=running.get(job.tenant, 0),
            tenant_limit=self._rules.tenant_limit,
            workers_alive=sum(worker.alive for worker in workers),
            workers_draining=sum(worker.draining for worker in workers),
            holder=next((worker for worker in workers if worker.id == job.worker), None),
        )


def _count(db: sqlite3.Connection) -> tuple[int, ...]:
    """The quick way unless something holds jobs back that the table itself does not know to be held."""
    held_back = db.execute(sql("job_held_back")).fetchone()[0]
    row: tuple[int, ...] = db.execute(sql("job_counts_held" if held_back else "job_counts")).fetchone()
    return row


def _find(db: sqlite3.Connection, job_id: JobId, tenants: Collection[str] | None = None) -> Job | None:
    among = None if tenants is None else json.dumps(list(tenants))
    row = db.execute(sql("job_find"), {"id": job_id, "tenants": among}).fetchone()
    return None if row is None else job_of(row)


def _known(db: sqlite3.Connection, job_id: JobId) -> Job:
    job = _find(db, job_id)
    if job is None:
        raise Refused(f"there is no job {job_id}", code="ERR_JOB_UNKNOWN")
    return job


def _pauses(db: sqlite3.Connection) -> list[Pause]:
    return [
        Pause(scope=PauseScope(scope), name=name, by=by, since=seconds(since))
        for scope, name, by, since in db.execute(sql("pause_list")).fetchall()
    ]
