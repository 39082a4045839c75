"""A queue whose jobs are booked in the database and handed out by another engine.

The problem: a document and its job must be written together, which only the database can do, while order
and leases live elsewhere, and either side may be away or come back with less than it had. The idea: the book
comes first and decides. A submit is an entry and a message; the message reaches the engine afterwards, as
often as it takes. An attempt the engine hands out begins with an entry in the book, whose token is the one
every write of the job is fenced by; its end is booked before the engine hears of it. What the engine hands
out though the book says it is over is dropped there. So a lost message, a repeated one, an engine that forgot
everything or one that remembers too much cost time, never a job and never a second effect.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence

from penstock.model.errors import ErrorReport, Fault, Refused, Unavailable
from penstock.model.jobs import BatchId, JobId, Lease, NewJob, Progress, Receipt, Renewal, WorkerId
from penstock.model.outcomes import RELEASE, Done, Failed, Outcome, Park
from penstock.model.states import State
from penstock.ports.desk import Desk
from penstock.ports.ledger import Begun, Ledger, booked_id, told_again
from penstock.ports.queue import Queue
from penstock.ports.roll import Roll
from penstock.work.relay import Relay

log = logging.getLogger("penstock.booked")
EARLY_SECONDS = 1.0
"""How long a job waits that came before another of its subject has been booked as ended."""
LINE_MAX = 20
"""So many of a line are looked at; one further behind is found once those before it have run."""
_EARLY = Park(
    ErrorReport(code="ERR_STORE_BUSY", message="another job of its subject has not ended yet"), EARLY_SECONDS
)
_CROSSED = Failed(ErrorReport(code="ERR_SUPERSEDED", message="a job that was submitted earlier comes first"))
"""Of a job that stands before an earlier one in the engine alone: told again, it stands behind it."""


class BookedQueue:
    """The queue port over a ledger and an engine; leases carry the ledger's tokens."""

    def __init__(
        self,
        ledger: Ledger,
        engine: Queue,
        desk: Desk,
        done: Callable[[Mapping[JobId, JobId]], Awaitable[None]],
        strangers: Callable[[], list[NewJob]] = list,
    ) -> None:
        """`done` is told of jobs that were booked as done, before the engine is, by what it calls them.

        `strangers` gives what the engine took in from other programs since it was last asked.
        """
        self._ledger = ledger
        self._engine = engine
        self._desk = desk
        self._done = done
        self._strangers = strangers
        self._joining: list[NewJob] = []
        """Jobs of other programs that the book has not compared with its own yet."""
        self._relay = Relay(ledger, engine)
        self._theirs: dict[tuple[JobId, int], Lease] = {}
        """The engine's lease to each of ours."""
        self._more = False
        """A claim met jobs that are over: there may be others behind them."""
        self._taken: list[Lease] = []
        """What the engine handed out and the book could not begin."""
        self._booked: dict[tuple[JobId, int], bool] = {}
        """Ends the book has heard of and the engine has not: whether it took them."""
        self._ending: set[tuple[JobId, int]] = set()
        """Attempts whose worker ends them now."""
        self._owed: list[tuple[Lease, Outcome]] = []
        """What the engine must still hear of attempts nobody here runs; the keeper's thread adds to it."""

    @property
    def relay(self) -> Relay:
        """What brings messages to the engine."""
        return self._relay

    async def submit(self, jobs: Sequence[NewJob], *, batch: BatchId | None = None) -> list[Receipt]:
        """Accept all of them or none; the engine hears of them at once, or when it is back."""
        receipts = await self._ledger.submit(jobs, batch=batch)
        try:
            await self._relay.send()
        except Fault as fault:
            log.warning("jobs are booked, the queue hears of them later: %s", fault.message)
        return receipts

    async def claim(self, worker: WorkerId, limit: int, *, idle: bool = True) -> list[Lease]:
        """Lease up to `limit` ready jobs."""
        await self._pay()
        taken, self._taken = self._taken, []
        try:
            taken += await self._engine.claim(worker, limit - len(taken), idle=idle)
            await self._join()
            begun = await self._ledger.begin(worker, taken)
        except BaseException:
            self._taken += taken  # begun by the next claim
            raise
        self._theirs |= {_of(mine): theirs for theirs, mine in begun.held}
        held = [mine for _, mine in begun.held]
        try:
            await self._drop(begun)
            if begun.heirs:
                await self._engine.submit([told_again(job) for job in begun.heirs])
        except Fault as fault:
            # What was begun is ours to run all the same; the rest is told by the next claim.
            log.warning("the queue hears later of jobs that are over: %s", fault.message)
            return held
        if begun.heirs:
            return held or await self.claim(worker, limit, idle=idle)
        return held

    async def _join(self) -> None:
        """What a message asks for counts, also where a job of ours was waiting for the same.

        One the engine made a job of its own, because ours was claimed already, stays one.
        """
        self._joining += self._strangers()
        asked = list(self._joining)
        found = [(job, await self._desk.find(job.id)) for job in await self._ledger.met(asked)]
        await self._ledger.join([job for job, there in found if there is not None and there.id != job.id])
        del self._joining[: len(asked)]

    async def _drop(self, begun: Begun) -> None:
        """Jobs that are over end in the engine as they ended in the book; what came too early waits."""
        if not begun.ended and not begun.early:
            return
        self._more = True
        self._owed += begun.ended
        for lease, before in begun.early:
            self._owed.append((lease, await self._out_of_turn(lease, before)))
        await self._pay()

    async def _out_of_turn(self, lease: Lease, before: JobId) -> Outcome:
        """What came before its turn waits, unless the engine has the one before it wait for just this one.

        The engine heard of the two the other way round: the later one of a new submit, the earlier one only
        when book and engine were compared. Neither would ever run.
        """
        try:
            if await self._stands_before(lease.job_id, before):
                # Told first, then ended: whoever reads its status sees it wait, and never that it failed.
                entered = await self._ledger.entered([booked_id(lease.job_id)])
                await self._engine.submit([told_again(job) for job in entered])
                return _CROSSED
        except Refused:
            return _CROSSED  # comparing tells the book why the engine will not have it
        except Fault as fault:
            log.warning("a job before its turn waits: %s", fault.message)  # it comes again
        return _EARLY

    async def _stands_before(self, job: JobId, other: JobId) -> bool:
        """Whether the engine has `other` wait for `job`."""
        ahead: JobId | None = other
        for _ in range(LINE_MAX):
            there = None if ahead is None else await self._desk.find(ahead)
            ahead = None if there is None else there.behind
            if ahead == job:
                return True
        return False

    async def _pay(self) -> None:
        """Tell the engine of ends it has not heard of."""
        if owed := list(self._owed):
            await self._engine.settle(owed)
            del self._owed[: len(owed)]

    def roll(self, worker: WorkerId) -> Roll:
        """The book's, which the engine asks."""
        return self._ledger.roll(worker)

    async def extend(self, leases: Sequence[Lease]) -> list[Renewal]:
        """Renew leases; one that either side no longer knows is lost, one that either cancelled is."""
        # The keeper asks from a thread of its own, and the worker may settle meanwhile: look up once.
        known = {_of(lease): theirs for lease in leases if (theirs := self._theirs.get(_of(lease)))}
        renewals = await self._engine.extend(list(known.values()))
        told = dict(zip(known, renewals, strict=True))
        booked = await self._ledger.extend(leases)
        await self._let_go([lease for lease, each in zip(leases, booked, strict=True) if not each.held])
        return [_both(each, told.get(_of(lease))) for lease, each in zip(leases, booked, strict=True)]

    async def _let_go(self, lost: Sequence[Lease]) -> None:
        """What the book has given to another, or seen end, must not stay leased to us in the engine."""
        strays = [lease for lease in lost if _of(lease) not in self._ending]
        if not strays:
            return
        over = await self._ledger.ends([lease.job_id for lease in strays])
        for lease in strays:
            if theirs := self._theirs.pop(_of(lease), None):
                self._owed.append((theirs, over.get(lease.job_id, RELEASE)))

    async def settle(self, ends: Sequence[tuple[Lease, Outcome]]) -> list[bool]:
        """End attempts in the book, then in the engine.

        An end the book refuses is another's to make, or was made already: the engine is told how it ended,
        and gets the job back if it has not. Settling again because the engine was away asks the book no more.
        """
        self._ending |= {_of(lease) for lease, _ in ends}
        kept = await self._book(ends)
        refused = [lease.job_id for (lease, _), booked in zip(ends, kept, strict=True) if not booked]
        over = await self._ledger.ends(refused) if refused else {}
        told = [
            (theirs, outcome if booked else over.get(lease.job_id, RELEASE))
            for (lease, outcome), booked in zip(ends, kept, strict=True)
            if (theirs := self._theirs.get(_of(lease)))
        ]
        await self._done(
            {
                theirs.job_id: lease.job_id
                for (lease, outcome), booked in zip(ends, kept, strict=True)
                if booked and isinstance(outcome, Done) and (theirs := self._theirs.get(_of(lease)))
            }
        )
        await self._engine.settle(told)
        for lease, _ in ends:
            self._theirs.pop(_of(lease), None)
            self._booked.pop(_of(lease), None)
            self._ending.discard(_of(lease))
        return kept

    async def _book(self, ends: Sequence[tuple[Lease, Outcome]]) -> list[bool]:
        """Whether the book took each end, now or when it was asked before."""
        unheard = [end for end in ends if _of(end[0]) not in self._booked]
        taken = await self._ledger.settle(unheard) if unheard else []
        for (lease, _), booked in zip(unheard, taken, strict=True):
            self._booked[_of(lease)] = booked or self._booked.get(_of(lease), False)
        counted: set[tuple[JobId, int]] = set()
        kept = []
        for lease, _ in ends:
            kept.append(self._booked[_of(lease)] and _of(lease) not in counted)
            counted.add(_of(lease))
        return kept

    async def progress(self, lease: Lease, progress: Progress) -> bool:
        """Keep how far a running job is; False where the lease was lost."""
        if not await self._ledger.progress(lease, progress):
            return False
        theirs = self._theirs.get(_of(lease))
        if theirs is None:
            return False
        try:
            return await self._engine.progress(theirs, progress)
        except Unavailable:
            return True  # the book has it; work done is not thrown away because nobody may see how far it is

    async def beat(self, worker: WorkerId, *, concurrency: int) -> None:
        """Say that this worker process is alive and fetching."""
        await self._engine.beat(worker, concurrency=concurrency)

    async def leave(self, worker: WorkerId, *, died: bool = False) -> int:
        """Forget a worker and hand back what it still holds."""
        try:
            return await self._engine.leave(worker, died=died)  # which asks the book what had begun
        finally:
            await self._ledger.leave(worker, died=died)

    async def rescue(self, *, certain: bool = False) -> list[JobId]:
        """Take back jobs of dead workers and run-out leases; the book follows."""
        rescued = await self._engine.rescue(certain=certain)
        found = [await self._desk.find(job_id) for job_id in rescued]
        # One that is leased again has begun anew, and the book with it.
        await self._ledger.follow([job for job in found if job is not None and job.state is not State.LEASED])
        return [booked_id(job_id) for job_id in rescued]

    async def promote(self) -> float | None:
        """Make due jobs ready, in the engine and then in the book; when the engine's next one is due."""
        due = await self._engine.promote()
        await self._ledger.promote()
        return due

    async def prune(self, *, done_before: float, failed_before: float, limit: int = 1000) -> int:
        """Remove ended jobs older than that, on both sides; how many went from the book."""
        await self._engine.prune(done_before=done_before, failed_before=failed_before, limit=limit)
        return await self._ledger.prune(done_before=done_before, failed_before=failed_before, limit=limit)

    async def arrival(self, timeout: float) -> bool:
        """Wait until there may be something new to claim."""
        if self._more:
            self._more = False
            return True
        return await self._engine.arrival(timeout)


def _both(booked: Renewal, told: Renewal | None) -> Renewal:
    held = booked.held and told is not None and told.held
    code = booked.cancel_code or (None if told is None else told.cancel_code)
    return Renewal(job_id=booked.job_id, held=held, cancel_code=code)


def _of(lease: Lease) -> tuple[JobId, int]:
    return lease.job_id, lease.token
