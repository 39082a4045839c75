"""The queue port on Redis: every verb is one atomic script, judged by the model where it must be judged."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, count
from typing import Any

from penstock.engines.redis import settling, submitting
from penstock.engines.redis.access import Access
from penstock.engines.redis.adopting import Translate, adopt, refuse_all, tell_put_away
from penstock.engines.redis.handed import Handed
from penstock.engines.redis.listening import Wake
from penstock.engines.redis.minding import Promoting, Rescuing
from penstock.engines.redis.names import packed
from penstock.engines.redis.rows import Straight, leases_of
from penstock.engines.redis.settling import AGAIN, BY_TOKEN, SETTLED
from penstock.engines.redis.watching import Watch
from penstock.engines.system.processes import identity
from penstock.model.errors import ErrorReport, Fault
from penstock.model.jobs import Accepted, BatchId, JobId, Lease, NewJob, Progress, Receipt, Renewal, WorkerId
from penstock.model.outcomes import RELEASE, Done, Failed, Outcome
from penstock.model.records import stamp
from penstock.model.rules import Rules, Verdict, after_attempt, after_loss
from penstock.ports.roll import NO_ROLL, Roll

ROUNDS = 3
"""How often one claim goes on after messages of other programs were adopted."""
WORKERS_KEPT = 64
"""So many workers' keys are remembered; a process mostly has one."""
LISTEN_SECONDS = 1.0
"""A first wait may take so long, until we are heard to listen."""
LOOK_SECONDS = 0.4
"""Time between two looks into the lists of other programs, where the server does not tell of changes."""


class LeaseEnds(dict[str, str]):
    """When leases end, by item type; those it does not name end as the one without a name."""

    @classmethod
    def after(cls, now: float, rules: Rules) -> LeaseEnds:
        """Of leases that begin now."""
        ends = cls({"": repr(now + rules.lease_seconds)})
        for item_type, seconds in rules.lease_seconds_by_type.items():
            ends[item_type.value] = repr(now + seconds)
        return ends

    def __missing__(self, item_type: str) -> str:
        return self[""]


class RedisQueue:
    """A queue whose order and leases live in Redis."""

    def __init__(self, access: Access, translate: Translate | None = None) -> None:
        self._access = access
        self._rules, self._clock, self._names = access.rules, access.clock, access.names
        self._translate = translate or refuse_all
        self._process = identity()
        self._watch: Watch | None = None
        self._news: Wake | None = None
        self._rescuing = Rescuing(access)
        self._promoting = Promoting(access)
        self._requests = (f"{secrets.token_hex(8)}-{number}" for number in count())
        self._unanswered: dict[str, str] = {}
        """The request of each worker whose answer was lost."""
        self._handed = Handed()
        self._keys_of_claim = lru_cache(WORKERS_KEPT)(self._names.keys_of_claim)

    async def submit(self, jobs: Sequence[NewJob], *, batch: BatchId | None = None) -> list[Receipt]:
        """Accept all of them or none."""
        if not self._access.is_upgraded:
            await self._access.upgrade()
        now = self._clock.now()
        if len(jobs) == 1 and batch is None and await submitting.submit_one(self._access, jobs[0], now=now):
            self._access.ring()
            return [Receipt(jobs[0].id, Accepted.CREATED)]
        ready = submitting.entries_of(jobs, self._rules, now)
        if not ready:
            return []
        if (
            len(jobs) > 1
            and batch is None
            and await submitting.submit_new(self._access, jobs, ready, now=now)
        ):
            receipts = [Receipt(job.id, Accepted.CREATED) for job in jobs]
        else:
            told = (batch or "", *(packed(entry) for entry, _ in ready))
            receipts = submitting.receipts_of(
                await self._access.run("submit", *told, keys=[self._access.names.form], now=now)
            )
        self._access.ring()
        return receipts

    async def claim(self, worker: WorkerId, limit: int, *, idle: bool = True) -> list[Lease]:
        """Lease up to `limit` ready jobs; messages of other programs are adopted on the way."""
        leases: list[Lease] = []
        for _ in range(ROUNDS):
            if len(leases) >= limit:
                break
            try:
                found, strange = await self._claim(worker, limit - len(leases), idle=idle and not leases)
            except Fault:
                if not leases:
                    raise
                break  # what this claim has got is kept; the next one meets the fault
            leases += found
            if not strange or any(lease.alone for lease in found):
                break
        return leases

    async def _claim(self, worker: WorkerId, limit: int, *, idle: bool) -> tuple[list[Lease], bool]:
        now = self._clock.now()
        ends = LeaseEnds.after(now, self._rules)
        alone, more, rows, strangers, *straight = await self._asked(worker, limit, now, ends, idle=idle)
        told = Straight(*straight)
        tell_put_away(self._access, told.put_away)
        leased = leases_of(rows, told, worker, ends=ends, alone=bool(alone))
        self._handed.keep(leased.handed, ends=ends, now=now)
        try:
            if leased.unfit:
                await self._refuse(leased.unfit, now)
            if strangers:
                await adopt(self._access, worker, strangers, self._translate)
        except Fault:
            if not leased.leases:
                raise  # strangers stay under our name, and the next claim hands them to us again
            return leased.leases, False
        if more or leased.unfit:
            self._access.ring()
        return leased.leases, bool(strangers)

    async def _asked(
        self, worker: WorkerId, limit: int, now: float, ends: Mapping[str, str], *, idle: bool
    ) -> Any:
        """What the script says; a request whose answer was lost is made again by its name."""
        rules = self._rules
        request = self._unanswered.pop(worker, None) or next(self._requests)
        told = (limit, int(idle), rules.longest_waiting_every, rules.tenant_limit, packed(ends), request)
        keys = self._keys_of_claim(worker)
        try:
            return await self._access.run("claim", worker, *told, keys=keys, now=now)
        except BaseException:
            self._unanswered[worker] = request
            raise

    async def _refuse(self, unfit: Sequence[tuple[JobId, int, ErrorReport]], now: float) -> None:
        """Fail claimed jobs whose payload does not fit their type."""
        reports = {(job_id, token): report for job_id, token, report in unfit}
        known = await settling.read_running(self._access, [job_id for job_id, _, _ in unfit])
        held = [running for running in known.values() if (running.job_id, running.token) in reports]

        def judge(running: settling.Running) -> Verdict:
            error = reports[running.job_id, running.token]
            return after_attempt(running.attempt, Failed(error), now, self._rules)

        await settling.settle_all(self._access, held, judge, how=settling.How.TOLD, now=now)

    def roll(self, worker: WorkerId) -> Roll:
        """A file beside the workers of one machine, where the queue was given a place for such."""
        rolls = self._access.rolls
        return NO_ROLL if rolls is None else rolls.begin(worker)

    async def extend(self, leases: Sequence[Lease]) -> list[Renewal]:
        """Renew leases."""
        if not leases:
            return []
        now = self._clock.now()
        asked = [
            (lease.job_id, str(lease.token), repr(now + self._rules.lease_for(lease.item_type)))
            for lease in leases
        ]
        answers = await self._access.run("extend", packed(asked), now=now)
        return [
            Renewal(job_id=lease.job_id, held=answer != 0, cancel_code=answer.decode() if answer else None)
            for lease, answer in zip(leases, answers, strict=True)
        ]

    async def settle(self, ends: Sequence[tuple[Lease, Outcome]]) -> list[bool]:
        """End attempts; an attempt named twice ends by its first word."""
        words: dict[tuple[str, int], tuple[Lease, Outcome]] = {}
        for end in ends:
            words.setdefault((end[0].job_id, end[0].token), end)
        settled: set[tuple[str, int]] = set()
        left = words
        while left:
            left = await self._settle(left, settled)
        if any(not isinstance(outcome, Done) for _, outcome in ends):
            self._access.ring()
        kept = []
        for lease, _ in ends:
            attempt = (lease.job_id, lease.token)
            kept.append(attempt in settled)
            settled.discard(attempt)
        return kept

    async def _settle(
        self, words: dict[tuple[str, int], tuple[Lease, Outcome]], settled: set[tuple[str, int]]
    ) -> dict[tuple[str, int], tuple[Lease, Outcome]]:
        """Those that must be judged again, because somebody cancelled them meanwhile."""
        now = self._clock.now()
        judged = [lease.job_id for lease, outcome in words.values() if not isinstance(outcome, Done)]
        known = await settling.read_running(self._access, judged)
        usual = self._handed.ends_of(words, self._names, now, together=self._access.sets_together)
        asked: list[tuple[str, int]] = []
        ends: list[tuple[str, ...]] = []
        for attempt, (lease, outcome) in words.items():
            if attempt in usual.attempts:
                continue
            running = known.get(lease.job_id)
            if isinstance(outcome, Done):
                ends.append((lease.job_id, str(lease.token), "done"))
            elif running is not None and running.token == lease.token:
                verdict = after_attempt(running.attempt, outcome, now, self._rules)
                ends.append(settling.end_of(running, verdict))
            else:
                continue
            asked.append(attempt)
        writing = []
        if usual.told:
            writing.append(settling.write_usual(self._access, usual, now=now))
        if ends:
            writing.append(settling.write_ends(self._access, ends, now=now))
        answers = chain.from_iterable(
            await asyncio.gather(*writing) if len(writing) > 1 else [await each for each in writing]
        )
        again = {}
        for attempt, answer in zip((*usual.attempts, *asked), answers, strict=True):
            if answer == SETTLED:
                settled.add(attempt)
            elif answer in (AGAIN, BY_TOKEN):
                again[attempt] = words[attempt]
        return again

    async def progress(self, lease: Lease, progress: Progress) -> bool:
        """Keep how far a running job is."""
        total = "" if progress.total is None else str(progress.total)
        told = (lease.job_id, str(lease.token), str(progress.done), total, progress.chunks)
        return bool(await self._access.run("progress", *told))

    async def beat(self, worker: WorkerId, *, concurrency: int) -> None:
        """Say that this worker process is alive and fetching."""
        await self._access.run(
            "beat",
            worker,
            os.getpid(),
            socket.gethostname(),
            self._process,
            concurrency,
            max(1, round(self._rules.dead_after_seconds)),
            keys=[self._names.heartbeat_of(worker), self._names.known_of(worker)],
        )

    async def leave(self, worker: WorkerId, *, died: bool = False) -> int:
        """Forget a worker and hand back what it still holds."""
        now = self._clock.now()
        judge = self._loss if died else self._release(now)
        handed_back = 0
        while True:
            rows = await self._access.run("held", worker, now=now)
            held = await settling.lost_of(self._access, rows)
            settled = await settling.settle_all(self._access, held, judge, how=settling.How.LEFT, now=now)
            handed_back += len(settled)
            if await self._access.run("leave", worker, keys=self._names.keys_of_worker(worker), now=now):
                break
        if self._access.rolls is not None:
            self._access.rolls.forget([worker])
        if handed_back:
            self._access.ring()
        return handed_back

    @staticmethod
    def _loss(running: settling.Running) -> Verdict:
        return after_loss(running.attempt, worker_died=True, started=running.started)

    def _release(self, now: float) -> Callable[[settling.Running], Verdict]:
        return lambda running: after_attempt(running.attempt, RELEASE, now, self._rules)

    async def rescue(self, *, certain: bool = False) -> list[JobId]:
        """Take back jobs of dead workers and run-out leases."""
        rescued = await self._rescuing.rescue(certain=certain)
        if rescued:
            self._access.ring()
        return rescued

    async def promote(self) -> float | None:
        """Make due jobs ready; when the next one is due."""
        return await self._promoting.promote()

    async def prune(self, *, done_before: float, failed_before: float, limit: int = 1000) -> int:
        """Remove ended jobs older than that."""
        told = (repr(done_before), repr(failed_before), limit, stamp(failed_before) or "")
        return int(await self._access.run("prune", *told, keys=[self._names.open_batches]))

    async def arrival(self, timeout: float) -> bool:
        """Wait until there may be something new to claim."""
        if self._watch is None or self._news is None:
            return await self._listen(timeout)
        loop = asyncio.get_running_loop()
        ends = loop.time() + timeout
        while True:
            self._watch.arm()
            left = ends - loop.time()
            if self._watch.works or left <= LOOK_SECONDS:
                return await self._news.wait(max(0.0, left))
            if await self._news.wait(LOOK_SECONDS) or await self._access.run("inboxes"):
                return True

    async def _listen(self, timeout: float) -> bool:
        """From the first wait on we listen; what came before it rings once, when we do."""
        self._watch = self._access.client.watch(
            [inbox.name for inbox in self._access.names.inboxes], self._access.ring
        )
        self._news = self._access.bell()
        self._promoting.listen()
        return await self._news.wait(max(timeout, LISTEN_SECONDS))
