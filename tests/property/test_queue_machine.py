"""Each queue engine against a plain model, through any order of submits, claims, faults and crashes."""

import asyncio
import os
import tempfile
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from penstock.model.jobs import BatchId, Job, JobId, Lease, NewJob, Renewal, WorkerId
from penstock.model.outcomes import DONE, Outcome
from penstock.model.rules import Rules
from penstock.model.standing import PauseScope
from penstock.model.states import ENDED, TRANSITIONS, State
from penstock.ports.desk import Wanted
from tests.contract.engines import ENGINES, SELF_SUFFICIENT, Engine, Home, Store
from tests.property.draws import SCOPES, WORKERS, Intent, intents, outcomes, picks, scopes, workers
from tests.property.model_order import OrderJudge
from tests.property.model_queue import Known, QueueModel
from tests.support.clock import FakeClock

T = TypeVar("T")
SWEEP = os.environ.get("PENSTOCK_SWEEP") == "1"


class QueueMachine(RuleBasedStateMachine):
    """Drives one store, and the model beside it."""

    engine: ClassVar[Engine]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory(prefix="penstock-machine-")
        self.clock = FakeClock()
        self.sent: list[NewJob] = []
        self.leases: list[Lease] = []
        self.settled: set[tuple[JobId, int]] = set()
        self.states: dict[JobId, State] = {}
        self.children: dict[JobId, Known] = {}

    def run(self, verb: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(verb)

    @property
    def now(self) -> float:
        return self.clock.now()

    @initialize(every=st.sampled_from([0, 3, 10]), tenant_limit=st.sampled_from([0, 0, 2]))
    def open(self, every: int, tenant_limit: int) -> None:
        # Lengths with a fraction against whole steps: no step ends exactly where a lease or a beat does.
        rules = Rules(
            lease_seconds=300.25,
            dead_after_seconds=9.25,
            park_seconds_max=100.25,
            longest_waiting_every=every,
            tenant_limit=tenant_limit,
        )
        self.model = QueueModel(rules)
        self.judge = OrderJudge(every)
        self.home = Home(self.engine, Path(self.folder.name), rules, self.clock)
        self.store: Store = self.run(self.home.open())
        self.batch: BatchId = self.run(self.store.batches.open_batch())

    # Submitting

    @rule(intent=intents, joins=st.booleans())
    def submit(self, intent: Intent, joins: bool) -> None:
        new = intent.job(self.now)
        self.sent.append(new)
        self.submit_all([new], joins=joins)

    @rule(several=st.lists(intents, min_size=2, max_size=4))
    def submit_a_list(self, several: list[Intent]) -> None:
        jobs = [intent.job(self.now) for intent in several]
        self.sent += jobs
        self.submit_all(jobs)

    @precondition(lambda self: self.sent)
    @rule(pick=picks)
    def submit_again(self, pick: int) -> None:
        """A lost reply."""
        self.submit_all([self.sent[pick % len(self.sent)]])

    def submit_all(self, jobs: Sequence[NewJob], *, joins: bool = False) -> None:
        expected = [self.model.submit(job, self.now) for job in jobs]
        receipts = self.run(self.store.queue.submit(jobs, batch=self.batch if joins else None))
        assert [(receipt.job_id, receipt.how) for receipt in receipts] == expected
        if joins:
            self.children |= {job_id: self.model.jobs[job_id] for job_id, _ in expected}
        # A tenant's deletion clears its way with the next promote.
        self.promote()

    # Working

    @rule(worker=workers)
    def claim_all(self, worker: WorkerId) -> None:
        self.claim(worker, limit=20, idle=False)

    @rule(worker=workers, limit=st.integers(1, 5), idle=st.booleans())
    def claim(self, worker: WorkerId, limit: int, idle: bool) -> None:
        self.beat(worker)
        self.promote()
        leases = self.run(self.store.queue.claim(worker, limit, idle=idle))
        assert len(leases) <= limit
        if leases and leases[0].alone:
            self.take_suspect(leases, idle=idle)
            return
        for lease in leases:
            self.take(lease, worker)
        if len(leases) < limit:
            assert self.model.claimable() == []
        if not leases and idle:
            assert self.model.claimable(suspects=True) == []

    def take(self, lease: Lease, worker: WorkerId) -> None:
        claimable = self.model.claimable()
        job = self.model.jobs[lease.job_id]
        assert job in claimable, f"{lease.job_id} is not claimable: {job}"
        self.judge.judge(job, claimable)
        assert (lease.worker, lease.alone) == (worker, False)
        self.hand_over(job, lease)

    def take_suspect(self, leases: list[Lease], *, idle: bool) -> None:
        (lease,) = leases
        job = self.model.jobs[lease.job_id]
        assert idle
        assert job in self.model.claimable(suspects=True)
        self.judge.suspect_served()
        self.hand_over(job, lease)

    def hand_over(self, job: Known, lease: Lease) -> None:
        assert (lease.op, lease.delete_first) == (job.op, job.delete_first)
        assert lease.payload == job.new.payload
        assert (lease.attempt, lease.crashes) == (job.retry_count + 1, job.crashes)
        assert lease.until == self.now + self.model.rules.lease_seconds
        assert all((known.job_id, known.token) != (lease.job_id, lease.token) for known in self.leases)
        self.leases.append(lease)
        self.model.lease(lease)

    @precondition(lambda self: self.held())
    @rule(pick=picks, outcome=outcomes)
    def settle_a_held_one(self, pick: int, outcome: Outcome) -> None:
        held = self.held()
        self.settle([(held[pick % len(held)], outcome)])

    @precondition(lambda self: self.stale())
    @rule(pick=picks, outcome=outcomes)
    def settle_a_stale_one(self, pick: int, outcome: Outcome) -> None:
        """Lost or settled before, and its job may be in other hands now."""
        stale = self.stale()
        self.settle([(stale[pick % len(stale)], outcome)])

    @precondition(lambda self: self.leases)
    @rule(several=st.dictionaries(picks, outcomes, min_size=2, max_size=5))
    def settle_several(self, several: dict[int, Outcome]) -> None:
        """Held, lost and settled ones in one call, each named once."""
        ends = {pick % len(self.leases): outcome for pick, outcome in several.items()}
        self.settle([(self.leases[at], outcome) for at, outcome in ends.items()])

    def settle(self, ends: list[tuple[Lease, Outcome]]) -> None:
        expected = [self.model.settle(lease, outcome, self.now) for lease, outcome in ends]
        answers = self.run(self.store.queue.settle(ends))
        for (lease, _), answer, told_to in zip(ends, answers, expected, strict=True):
            token = (lease.job_id, lease.token)
            # What a repeated settle answers is left open; that it changes nothing is checked below.
            assert answer is told_to or token in self.settled
            if told_to:
                self.settled.add(token)

    @precondition(lambda self: self.leases)
    @rule(chosen=st.lists(picks, min_size=1, max_size=4))
    def extend(self, chosen: list[int]) -> None:
        leases = [self.leases[pick % len(self.leases)] for pick in chosen]
        expected = []
        for lease in leases:
            job = self.model.jobs.get(lease.job_id)
            held = job is not None and job.matches(lease)
            code = job.cancel_code if job is not None and held else None
            expected.append(Renewal(job_id=lease.job_id, held=held, cancel_code=code))
            if job is not None and held:
                job.until = self.now + self.model.rules.lease_seconds
        assert self.run(self.store.queue.extend(leases)) == expected

    def beat(self, worker: WorkerId) -> None:
        self.run(self.store.queue.beat(worker, concurrency=5))
        self.model.beats[worker] = self.now

    @rule(worker=workers, died=st.booleans())
    def leave(self, worker: WorkerId, died: bool) -> None:
        held = [lease for lease in self.held() if lease.worker == worker]
        assert self.run(self.store.queue.leave(worker, died=died)) == len(held)
        self.model.beats.pop(worker, None)
        for lease in sorted(held, key=lambda lease: self.model.jobs[lease.job_id].seq):
            if died:
                self.model.lose(lease.job_id, self.now, died=True)
            else:
                self.model.give_back(lease.job_id, self.now)

    @rule(beating=st.sets(workers))
    def rescue(self, beating: set[WorkerId]) -> None:
        """Some have beaten in time, some have fallen silent."""
        for worker in sorted(beating):
            self.beat(worker)
        lost = self.model.lost(self.now)
        assert sorted(self.run(self.store.queue.rescue())) == sorted(lost)
        for job_id, died in lost.items():
            self.model.lose(job_id, self.now, died=died)

    def promote(self) -> None:
        self.run(self.store.queue.promote())
        self.model.promote(self.now)

    # Taking in hand

    @precondition(lambda self: self.model.jobs)
    @rule(pick=picks)
    def cancel(self, pick: int) -> None:
        job_id = list(self.model.jobs)[pick % len(self.model.jobs)]
        expected = self.model.cancel(job_id, self.now)
        assert self.run(self.store.desk.cancel([job_id])) == [expected]

    @rule(scope=scopes)
    def pause_or_resume(self, scope: tuple[PauseScope, str]) -> None:
        if scope in self.model.pauses:
            assert self.run(self.store.desk.resume(*scope))
            self.model.pauses.remove(scope)
        else:
            assert not self.run(self.store.desk.resume(*scope))
            self.run(self.store.desk.pause(*scope, by="machine"))
            self.model.pauses.add(scope)

    @precondition(lambda self: self.ended())
    @rule(pick=picks)
    def replay(self, pick: int) -> None:
        ended = self.ended()
        old = ended[pick % len(ended)]
        (receipt,) = self.run(self.store.desk.replay([old.new.id]))
        expected = self.model.replay(old, receipt.job_id, self.now)
        assert (receipt.job_id, receipt.how) == expected
        self.promote()

    @precondition(lambda self: self.ended())
    @rule(age=st.sampled_from([0, 50, 1000]), limit=st.sampled_from([1, 1000]))
    def prune(self, age: int, limit: int) -> None:
        before = self.now - age
        count = self.run(self.store.queue.prune(done_before=before, failed_before=before, limit=limit))
        left = {job.id for job in self.jobs()}
        gone = set(self.model.jobs) - left
        old = {job.new.id for job in self.ended() if (job.finished_at or 0.0) < before}
        # A clock that was set back may keep one longer than it must be kept.
        due = {job_id for job_id in old if self.model.jobs[job_id].created_at < before}
        assert len(gone) == count <= limit
        assert gone <= old
        assert count == limit or due <= gone
        self.model.forget(gone)

    # Time and faults

    @rule(seconds=st.sampled_from([1, 6, 35, 120, 301]), promotes=st.booleans())
    def advance(self, seconds: int, promotes: bool) -> None:
        self.clock.advance(seconds)
        if promotes:
            self.promote()

    @rule(seconds=st.sampled_from([-7200, -60, -1, 60, 7200]))
    def jump(self, seconds: int) -> None:
        self.clock.jump(seconds)

    @rule(crashes=st.booleans())
    def restart(self, crashes: bool) -> None:
        again = self.home.crash if crashes else self.home.restart
        self.store = self.run(again(self.store))

    # Looking

    def jobs(self) -> list[Job]:
        return self.run(self.store.desk.jobs(Wanted(limit=1000)))

    def held(self) -> list[Lease]:
        """Leases that are current."""
        return [lease for lease in self.leases if self.model.holds(lease)]

    def stale(self) -> list[Lease]:
        """Leases that are not, first those whose job is held by another attempt."""
        stale = [lease for lease in self.leases if not self.model.holds(lease)]
        again = {lease.job_id for lease in self.held()}
        return [lease for lease in stale if lease.job_id in again] or stale

    def ended(self) -> list[Known]:
        return [job for job in self.model.jobs.values() if not job.unfinished]

    @invariant()
    def the_engine_is_where_the_model_is(self) -> None:
        """Nothing lost, nothing invented, every job as the clauses say."""
        jobs = self.jobs()
        assert sorted(job.id for job in jobs) == sorted(self.model.jobs)
        for job in jobs:
            self.model.adopt(job)
            assert seen(job) == told(self.model.jobs[job.id])
            assert job.retry_count <= job.max_retries
        self.judge.look(self.model.claimable())
        self.check_holders(jobs)
        self.check_transitions(jobs)

    def check_holders(self, jobs: list[Job]) -> None:
        """One holder per job and per subject."""
        running = [(job.tenant, job.subject) for job in jobs if job.state is State.LEASED]
        assert len(running) == len(set(running))
        assert all((job.worker is not None) == (job.state is State.LEASED) for job in jobs)

    def check_transitions(self, jobs: list[Job]) -> None:
        """States only along the table."""
        for job in jobs:
            assert reachable(self.states.get(job.id, State.ACCEPTED), job.state)
        self.states = {job.id: job.state for job in jobs}

    @invariant()
    def counts_agree(self) -> None:
        """The desk's counts and the batch's are the model's."""
        counts = self.run(self.store.desk.counts())
        known = [job.state for job in self.model.jobs.values()]
        assert (counts.leased, counts.done, counts.failed) == (
            known.count(State.LEASED),
            known.count(State.DONE),
            known.count(State.FAILED),
        )
        waiting = counts.ready + counts.delayed + counts.waiting + counts.paused + counts.suspects
        assert waiting == sum(state not in ENDED and state is not State.LEASED for state in known)
        batch = self.run(self.store.batches.batch(self.batch))
        ends = [job.state for job in self.children.values()]
        assert batch is not None
        assert (batch.total, batch.done, batch.failed) == (
            len(ends),
            ends.count(State.DONE),
            ends.count(State.FAILED),
        )

    def teardown(self) -> None:
        """When the faults are over, everything that was accepted ends."""
        try:
            if hasattr(self, "store"):
                self.drain()
        finally:
            if hasattr(self, "home"):
                self.run(self.home.close())
            self.runner.close()
            self.folder.cleanup()

    def drain(self) -> None:
        for scope in SCOPES:
            self.run(self.store.desk.resume(*scope))
        for worker in WORKERS:
            self.run(self.store.queue.leave(worker))
        self.clock.advance(1_000_000)
        for _ in range(500):
            self.run(self.store.queue.promote())
            leases = self.run(self.store.queue.claim(WORKERS[0], 50))
            self.run(self.store.queue.settle([(lease, DONE) for lease in leases]))
            if not leases:
                break
        assert [job.id for job in self.jobs() if job.state not in ENDED] == []


def reachable(before: State, after: State) -> bool:
    """Whether the table leads from one state to the other, in any number of steps."""
    known: set[State] = set()
    ahead = {before}
    while ahead:
        known |= ahead
        ahead = {state for one in ahead for state in TRANSITIONS[one]} - known
    return after in known


ALIKE = (
    "state",
    "op",
    "priority",
    "created_at",
    "retry_count",
    "max_retries",
    "crashes",
    "delete_first",
    "worker",
    "cancel_code",
    "finished_at",
)
"""What engine and model call by the same name."""


def seen(job: Job) -> dict[str, object]:
    """A job as the engine shows it."""
    return {
        **{name: getattr(job, name) for name in ALIKE},
        "run_at": job.run_at,
        "lease_until": job.lease_until,
        "parked_since": job.parked_since if job.state not in ENDED else None,
        "code": job.error.code if job.error and job.state is State.FAILED else None,
    }


def told(job: Known) -> dict[str, object]:
    """The same job as the model has it."""
    return {
        **{name: getattr(job, name) for name in ALIKE},
        "run_at": job.due,
        "lease_until": job.until,
        "parked_since": job.parked_since if job.unfinished else None,
        "code": job.code if job.state is State.FAILED else None,
    }


@pytest.mark.timeout(0 if SWEEP else 300)
@pytest.mark.parametrize("engine", SELF_SUFFICIENT)
def test_an_engine_does_what_the_clauses_say(engine: str) -> None:
    """C1 to C19: nothing lost, one holder at a time, states only along the table, whatever happens."""
    machine = type(f"{engine.title()}Machine", (QueueMachine,), {"engine": ENGINES[engine]})

    run_state_machine_as_test(machine)
