"""The operator's desk, and batches, on Redis."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from penstock.engines.redis import submitting
from penstock.engines.redis.access import Access
from penstock.engines.redis.names import packed
from penstock.engines.redis.rows import batch_of, job_of, worker_of
from penstock.model.batches import Batch
from penstock.model.errors import Refused
from penstock.model.ids import new_job_id
from penstock.model.jobs import BatchId, Job, JobId, Receipt
from penstock.model.standing import COUNT_MAX, Pause, PauseScope, Standing, WorkerSeen
from penstock.model.states import State
from penstock.ports.desk import Counts, Wanted
from penstock.ports.replaying import replayed

READY, PAUSED, EVERYTHING = 0, 3, 2
PAGE = 1_000
"""Jobs one call looks at in a listing that wants only some of them."""
SEPARATOR = "\x1f"


class RedisDesk:
    """Looks and takes in hand by scripts, a page at a time."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._rules, self._clock = access.rules, access.clock

    async def find(self, job_id: JobId, *, tenants: Collection[str] | None = None) -> Job | None:
        """One job, of one of these tenants where some are named."""
        (job,) = await self._find([job_id])
        return job if job is not None and (tenants is None or job.tenant in tenants) else None

    async def jobs(self, wanted: Wanted) -> list[Job]:
        """Jobs, newest first."""
        if wanted.state is State.ACCEPTED:  # a submit is one script: nothing is merely accepted
            return []
        asked = {
            "tenants": None if wanted.tenants is None else dict.fromkeys(wanted.tenants, True),
            "collection": wanted.collection or "",
            "item_type": wanted.item_type or "",
            "code": wanted.error_code or "",
            "state": wanted.state.value if wanted.state else "",
        }
        without = "" if wanted.payload else "payload"
        found: list[Job] = []
        at = "+inf" if wanted.before is None else f"id:{wanted.before}"
        while at and len(found) < wanted.limit:
            left = wanted.limit - len(found)
            on, page = await self._access.run("list", at, left, PAGE, packed(asked), without)
            found += map(job_of, page)
            at = on.decode()
        return found

    async def oldest(self) -> Job | None:
        """The job that is ready for longest."""
        job_id = await self._access.run("oldest")
        return await self.find(JobId(job_id.decode())) if job_id else None

    async def counts(self) -> Counts:
        """How many jobs are in which state; messages nobody has adopted yet count as ready."""
        held, strangers, *numbers = await self._access.run("counts")
        if held:
            numbers[:5] = await self._count_held()
        numbers[PAUSED if held == EVERYTHING else READY] += strangers
        names = ("ready", "delayed", "waiting", "paused", "suspects", "leased", "done", "failed")
        unread = 0 if held == EVERYTHING else strangers
        return Counts(**dict(zip(names, numbers, strict=True)), unread=unread)

    async def _count_held(self) -> list[int]:
        sums, cursor = [0] * 5, b"0"
        while True:
            cursor, *page = await self._access.run("counts_held", cursor)
            sums = [total + more for total, more in zip(sums, page, strict=True)]
            if cursor == b"0":
                return sums

    async def suspects(self) -> int:
        """How many jobs wait for a worker of their own and may run now; 1 stands for any number."""
        return int(await self._access.run("suspects", self._rules.tenant_limit))

    async def workers(self) -> list[WorkerSeen]:
        """Workers whose beats are known."""
        dead_before = self._clock.now() - self._rules.dead_after_seconds
        found = [worker_of(seen, dead_before) for seen in await self._access.run("workers")]
        return sorted(found, key=lambda worker: (worker.started_at, worker.id))

    async def standing(self, job_id: JobId) -> Standing:
        """The facts behind "why is it not done?"."""
        job = await self._known(job_id)
        names, call = self._access.names, self._access.client.call
        workers = await self.workers()
        barrier = await call("ZRANGE", f"{names.root}barriers:{job.tenant}", 0, 0)
        running = await call("HGET", f"{names.root}tenants", job.tenant)
        return Standing(
            job=job,
            now=self._clock.now(),
            ahead=int(await self._access.run("ahead", job.id, COUNT_MAX)),
            pause=next((pause for pause in await self.pauses() if pause.holds(job)), None),
            barrier=barrier[0].decode() if barrier else None,
            tenant_running=int(running or 0),
            tenant_limit=self._rules.tenant_limit,
            workers_alive=sum(worker.alive for worker in workers),
            workers_draining=sum(worker.draining for worker in workers),
            holder=next((worker for worker in workers if worker.id == job.worker), None),
        )

    async def cancel(self, job_ids: Sequence[JobId]) -> list[bool]:
        """Cancel; False where a job had already ended."""
        if not job_ids:
            return []
        unknown, *answers = await self._access.run("cancel", packed(list(job_ids)))
        if unknown:
            raise Refused(f"there is no job {unknown.decode()}", code="ERR_JOB_UNKNOWN")
        self._access.ring()
        return [bool(answer) for answer in answers[0]]

    async def replay(self, job_ids: Sequence[JobId]) -> list[Receipt]:
        """Run ended jobs again as new jobs that name the old."""
        if not job_ids:
            return []
        now = self._clock.now()
        again = [replayed(await self._known(job_id)) for job_id in job_ids]
        texts = [packed(entry) for entry, _ in submitting.entries_of(again, self._rules, now)]
        receipts = submitting.receipts_of(
            await self._access.run("submit", "", *texts, keys=[self._access.names.form], now=now)
        )
        self._access.ring()
        return receipts

    async def pause(self, scope: PauseScope, name: str = "", *, by: str = "") -> None:
        """Hold jobs back."""
        await self._access.run("pause", f"{scope.value}:{name}", by)

    async def resume(self, scope: PauseScope, name: str = "") -> bool:
        """Let them go on; a crash on the way leaves the rest to the next promote."""
        lifted = bool(await self._access.run("resume", f"{scope.value}:{name}"))
        while lifted and await self._access.run("let_go"):
            pass
        self._access.ring()
        return lifted

    async def pauses(self) -> list[Pause]:
        """What is held back now."""
        flat = await self._access.client.call("HGETALL", f"{self._access.names.root}pauses")
        words = [word.decode() for word in flat]
        found = [_pause_of(name, told) for name, told in zip(words[::2], words[1::2], strict=True)]
        return sorted(found, key=lambda pause: (pause.since, pause.scope.value, pause.name))

    async def _find(self, job_ids: Sequence[str]) -> list[Job | None]:
        found = await self._access.run("find", packed(list(job_ids))) if job_ids else []
        return [job_of(told) if told else None for told in found]

    async def _known(self, job_id: JobId) -> Job:
        job = await self.find(job_id)
        if job is None:
            raise Refused(f"there is no job {job_id}", code="ERR_JOB_UNKNOWN")
        return job


class RedisBatches:
    """Children counted where they end."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._clock = access.clock

    async def open_batch(self, parent: str | None = None) -> BatchId:
        """A batch that children may join; a parent has one, under its own id."""
        batch = BatchId(parent or new_job_id(self._clock.now()))
        await self._access.run("batch_open", batch, parent or "", keys=self._keys(batch))
        return batch

    async def seal_batch(self, batch: BatchId) -> Batch:
        """No more children; it ends when the last one has."""
        flat = await self._access.run("batch_seal", batch, keys=self._keys(batch))
        if not flat:
            raise Refused(f"there is no batch {batch}", code="ERR_BATCH_UNKNOWN")
        return batch_of(batch, flat)

    async def batch(self, batch: BatchId) -> Batch | None:
        """Its counts."""
        flat = await self._access.client.call("HGETALL", self._access.names.batch(batch))
        return batch_of(batch, flat) if flat else None

    async def failures(self, batch: BatchId, *, limit: int = 100) -> list[Job]:
        """Its children that failed and are still kept, newest first."""
        if limit < 1:
            return []
        ids = await self._access.client.call(
            "ZREVRANGE", f"{self._access.names.batch(batch)}:failed", 0, limit - 1
        )
        found = await self._access.run("find", packed([job_id.decode() for job_id in ids])) if ids else []
        return [job_of(told) for told in found if told]

    def _keys(self, batch: BatchId) -> list[str]:
        names = self._access.names
        return [names.open_batches, names.batch(batch)]


def _pause_of(name: str, told: str) -> Pause:
    scope, _, what = name.partition(":")
    since, _, by = told.partition(SEPARATOR)
    return Pause(scope=PauseScope(scope), name=what, by=by, since=float(since))
