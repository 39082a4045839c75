"""The order of claims over long queues: every claim is judged against everything that was claimable."""

import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from penstock.model.jobs import Lease, NewJob, WorkerId
from penstock.model.outcomes import DONE, RELEASE, Outcome
from penstock.model.payloads import ItemType
from penstock.model.rules import Rules
from penstock.model.standing import PauseScope
from tests.contract.engines import ENGINES, SELF_SUFFICIENT, Engine, Home, Store
from tests.property.draws import workers
from tests.property.model_order import OrderJudge
from tests.property.model_queue import QueueModel
from tests.support.clock import FakeClock
from tests.support.jobs import a_delete, a_job, a_note, a_tenant_delete

T = TypeVar("T")
Maker = Callable[..., NewJob]
MAKERS: tuple[Maker, ...] = (a_job, a_job, a_note, a_note, a_delete)
SCOPES = (
    (PauseScope.TENANT, "a"),
    (PauseScope.TENANT, "c"),
    (PauseScope.TYPE, ItemType.FILE.value),
    (PauseScope.TYPE, ItemType.CONTENT.value),
)
requests = st.tuples(st.sampled_from(MAKERS), st.sampled_from("abcdef"), st.sampled_from([1, 5, 5, 5, 5, 9]))


class OrderMachine(RuleBasedStateMachine):
    """Many jobs that never meet, of several tenants; only their order is at stake."""

    engine: ClassVar[Engine]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory(prefix="penstock-order-")
        self.clock = FakeClock()
        self.leases: list[Lease] = []

    def run(self, verb: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(verb)

    @initialize(every=st.sampled_from([0, 2, 3, 10]), tenant_limit=st.sampled_from([0, 0, 1, 3]))
    def open(self, every: int, tenant_limit: int) -> None:
        rules = Rules(longest_waiting_every=every, tenant_limit=tenant_limit)
        self.model = QueueModel(rules)
        self.judge = OrderJudge(every)
        self.home = Home(self.engine, Path(self.folder.name), rules, self.clock)
        self.store: Store = self.run(self.home.open())

    @rule(several=st.lists(requests, min_size=8, max_size=25))
    def submit(self, several: list[tuple[Maker, str, int]]) -> None:
        self.send([make(tenant=tenant, priority=priority) for make, tenant, priority in several])
        self.judge.look(self.model.claimable())

    def send(self, jobs: list[NewJob]) -> None:
        for job in jobs:
            self.model.submit(job, self.clock.now())
        self.run(self.store.queue.submit(jobs))

    @rule(worker=workers, times=st.integers(1, 12))
    def claim_singly(self, worker: WorkerId, times: int) -> None:
        for _ in range(times):
            self.claim(worker, 1)

    @rule(worker=workers, limit=st.sampled_from([2, 3, 8, 30]))
    def claim(self, worker: WorkerId, limit: int) -> None:
        leases = self.run(self.store.queue.claim(worker, limit))
        for lease in leases:
            claimable = self.model.claimable()
            job = self.model.jobs[lease.job_id]
            assert job in claimable
            self.judge.judge(job, claimable)
            self.model.lease(lease)
        self.leases += leases
        assert len(leases) == limit or self.model.claimable() == []

    @precondition(lambda self: self.leases)
    @rule(keeps=st.booleans())
    def end(self, keeps: bool) -> None:
        """What runs ends, or is given back and keeps its place."""
        ends: list[tuple[Lease, Outcome]] = [(lease, RELEASE if keeps else DONE) for lease in self.leases]
        self.leases = []
        for lease, outcome in ends:
            self.model.settle(lease, outcome, self.clock.now())
        self.run(self.store.queue.settle(ends))
        self.run(self.store.queue.promote())
        self.judge.look(self.model.claimable())

    @rule(scope=st.sampled_from(SCOPES), what=st.sampled_from(["pause", "clock", "restart", "delete"]))
    def disturb(self, scope: tuple[PauseScope, str], what: str) -> None:
        """What must not change the order of those it does not concern."""
        if what == "pause":
            self.pause_or_resume(scope)
        elif what == "clock":
            self.clock.jump({PauseScope.TENANT: -100, PauseScope.TYPE: 100}[scope[0]])
        elif what == "restart":
            if self.leases:  # leases are a process's own: one that ends gives them back
                self.end(keeps=True)
            self.store = self.run(self.home.restart(self.store))
        elif scope[0] is PauseScope.TENANT:
            self.send([a_tenant_delete(tenant=scope[1])])
            self.run(self.store.queue.promote())
        self.judge.look(self.model.claimable())

    def pause_or_resume(self, scope: tuple[PauseScope, str]) -> None:
        if scope in self.model.pauses:
            self.run(self.store.desk.resume(*scope))
            self.model.pauses.remove(scope)
        else:
            self.run(self.store.desk.pause(*scope))
            self.model.pauses.add(scope)

    def teardown(self) -> None:
        if hasattr(self, "home"):
            self.run(self.home.close())
        self.runner.close()
        self.folder.cleanup()


@pytest.mark.timeout(0)
@pytest.mark.parametrize("engine", SELF_SUFFICIENT)
def test_claims_follow_the_order(engine: str) -> None:
    """C6: priority, tenants in turn, first in first out, and every nth the longest-waiting one."""
    machine = type(f"{engine.title()}Order", (OrderMachine,), {"engine": ENGINES[engine]})

    run_state_machine_as_test(machine)
