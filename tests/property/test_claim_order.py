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
from tests.contract.engines import ENGINES, Engine, Home, Store
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
requests = st.tuples(st.sampled_from(MAKERS), st.sampled_from("abcdef"), st.sampled_from([1, 5, 5, 9, 10]))


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

    @rule(several=st.lists(requests, min_size=1, max_size=12))
    def submit(self, several: list[tuple[Maker, str, int]]) -> None:
        jobs = [make(tenant=tenant, priority=priority) for make, tenant, priority in several]
        for job in jobs:
            self.model.submit(job, self.clock.now())
        self.run(self.store.queue.submit(jobs))
        self.judge.look(self.model.claimable())

    @rule(tenant=st.sampled_from("ab"))
    def delete_a_tenant(self, tenant: str) -> None:
        job = a_tenant_delete(tenant=tenant)
        self.model.submit(job, self.clock.now())
        self.run(self.store.queue.submit([job]))
        self.run(self.store.queue.promote())
        self.judge.look(self.model.claimable())

    @rule(worker=workers, limit=st.sampled_from([1, 1, 2, 3, 8, 30]))
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

    @rule(scope=st.sampled_from(SCOPES))
    def pause_or_resume(self, scope: tuple[PauseScope, str]) -> None:
        if scope in self.model.pauses:
            self.run(self.store.desk.resume(*scope))
            self.model.pauses.remove(scope)
        else:
            self.run(self.store.desk.pause(*scope))
            self.model.pauses.add(scope)
        self.judge.look(self.model.claimable())

    @rule(seconds=st.sampled_from([-100, -1, 1, 100]))
    def jump(self, seconds: int) -> None:
        self.clock.jump(seconds)

    @rule()
    def restart(self) -> None:
        self.store = self.run(self.home.restart(self.store))

    def teardown(self) -> None:
        if hasattr(self, "home"):
            self.run(self.home.close())
        self.runner.close()
        self.folder.cleanup()


@pytest.mark.timeout(0)
@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_claims_follow_the_order(engine: str) -> None:
    """C6: priority, tenants in turn, first in first out, and every nth the longest-waiting one."""
    machine = type(f"{engine.title()}Order", (OrderMachine,), {"engine": ENGINES[engine]})

    run_state_machine_as_test(machine)
