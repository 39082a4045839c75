"""Jobs that return to long lists: in their order, at a cost the length of a list does not decide."""

import re
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass

import pytest

from penstock.engines.redis.dialling import Limits
from penstock.engines.redis.names import Names
from penstock.engines.redis.scripts import SCRIPTS, Script
from penstock.engines.redis.store import RedisPorts, open_redis
from penstock.model.jobs import NewJob, WorkerId
from penstock.model.outcomes import DONE, Retry
from penstock.model.rules import Rules
from penstock.model.standing import PauseScope
from penstock.settings import RedisServer
from tests.conformance.redis.foreign import QUEUE, message, translated
from tests.support.clock import FakeClock
from tests.support.jobs import a_job, an_error
from tests.support.servers.bare import Bare

W1, W2 = WorkerId("w1"), WorkerId("w2")
MANY, RETURNS = 30_000, 1_000
RATIO_MAX = 10.0
"""About one on a quiet machine; searching the list for each of them makes thirty to seventy of it."""
DUE = 60.0


@pytest.fixture
async def ports(
    redis: RedisServer, names: Names, rules: Rules, clock: FakeClock
) -> AsyncIterator[RedisPorts]:
    """With time enough for a server that is as slow as these tests forbid."""
    patient = Limits(operation_seconds=120.0)
    async with open_redis(
        redis, names=names, rules=rules, clock=clock, translate=translated, limits=patient
    ) as opened:
        yield opened


async def submitted(
    ports: RedisPorts, clock: FakeClock, many: int, collection: str = "notes"
) -> list[NewJob]:
    """So many, in portions, each a little younger."""
    jobs = [a_job(collection=collection) for _ in range(many)]
    for first in range(0, many, 5_000):
        clock.advance(0.001)
        await ports.queue.submit(jobs[first : first + 5_000])
    return jobs


async def claimed(ports: RedisPorts, worker: WorkerId = W2) -> list[str]:
    """Everything that may run, in the order it is handed out."""
    found: list[str] = []
    while leases := await ports.queue.claim(worker, 1_000):
        found += [lease.job_id for lease in leases]
        await ports.queue.settle([(lease, DONE) for lease in leases])
    return found


def spent(bare: Bare) -> int:
    """Microseconds the server has spent in scripts, by its own count."""
    told = bare.call("INFO", "commandstats").decode()
    return sum(int(usec) for usec in re.findall(r"cmdstat_eval(?:sha)?:calls=\d+,usec=(\d+)", told))


@dataclass(frozen=True)
class Costs:
    """What the server spent on a thousand jobs, the least of three times each."""

    ends: int
    """Their attempts end as retries, and no list is touched: the yardstick."""
    retries: int
    """They are due."""
    releases: int
    """Their worker leaves."""
    resumes: int
    """A pause is lifted that had set them aside."""


async def costs(ports: RedisPorts, bare: Bare, clock: FakeClock) -> Costs:
    """Measured on the thousand oldest, which are all there is of their collection."""
    ends, retries, releases, resumes = [], [], [], []
    for _ in range(3):
        leases = await ports.queue.claim(W1, RETURNS)
        again = [(lease, Retry(an_error())) for lease in leases]
        ends.append(await cost_of(bare, ports.queue.settle(again)))
        clock.advance(DUE)
        retries.append(await cost_of(bare, ports.queue.promote()))
        assert len(await ports.queue.claim(W1, RETURNS)) == RETURNS
        releases.append(await cost_of(bare, ports.queue.leave(W1)))
        await ports.desk.pause(PauseScope.COLLECTION, "first")
        await ports.queue.claim(W1, 1)
        await ports.queue.leave(W1)
        assert (await ports.desk.counts()).paused == RETURNS
        resumes.append(await cost_of(bare, ports.desk.resume(PauseScope.COLLECTION, "first")))
    return Costs(min(ends), min(retries), min(releases), min(resumes))


async def cost_of(bare: Bare, work: Awaitable[object]) -> int:
    before = spent(bare)
    await work
    return spent(bare) - before


async def test_returning_costs_what_ending_does_however_many_wait(
    ports: RedisPorts, bare: Bare, clock: FakeClock
) -> None:
    """Retries, releases and a resume of a thousand jobs, before thirty thousand that wait."""
    await submitted(ports, clock, RETURNS, "first")
    await submitted(ports, clock, MANY, "second")

    spent_on = await costs(ports, bare, clock)

    assert max(spent_on.retries, spent_on.releases, spent_on.resumes) < RATIO_MAX * spent_on.ends, spent_on


async def test_retries_of_several_portions_stand_in_their_order(ports: RedisPorts, clock: FakeClock) -> None:
    """Whichever of them is due first: claimed again, they come as they were submitted, before the backlog."""
    jobs = await submitted(ports, clock, 6_000)
    leases = [lease for _ in range(25) for lease in await ports.queue.claim(W1, 100)]
    for first in range(0, 2_500, 500):
        clock.advance(0.1)
        part = leases[2_500 - first - 500 : 2_500 - first]
        await ports.queue.settle([(lease, Retry(an_error())) for lease in part])
    clock.advance(DUE)
    while (await ports.desk.counts()).delayed:
        await ports.queue.promote()

    assert await claimed(ports) == [job.id for job in jobs]


async def test_what_a_pause_had_set_aside_returns_in_its_order(ports: RedisPorts, clock: FakeClock) -> None:
    """More than one script lets go, and more than one looks back for: the order stays."""
    jobs = await submitted(ports, clock, 7_000, "first")
    jobs += await submitted(ports, clock, 100, "second")
    await ports.desk.pause(PauseScope.COLLECTION, "first")
    while not (leases := await ports.queue.claim(W1, 1)):
        pass
    await ports.queue.leave(W1)
    assert [lease.job_id for lease in leases] == [jobs[7_000].id]

    await ports.desk.resume(PauseScope.COLLECTION, "first")

    assert await claimed(ports) == [job.id for job in jobs]


async def test_what_returns_stands_before_messages_nobody_has_read(
    ports: RedisPorts, bare: Bare, clock: FakeClock
) -> None:
    """Among tickets and strangers in one list, a job that returns is where its age puts it."""
    jobs = await submitted(ports, clock, 30)
    leases = await ports.queue.claim(W1, 20)
    for number in range(1, 6):
        bare.call("LPUSH", f"{QUEUE}:normal", message(number))
    await ports.queue.leave(W1)

    ids = [job.id for job in jobs]
    assert len(leases) == 20
    assert (await claimed(ports))[:30] == ids


async def test_a_late_submit_takes_the_place_its_clock_gives_it(ports: RedisPorts, clock: FakeClock) -> None:
    """A submitter whose clock is behind stands before those of whom it says that they came later."""
    early = await submitted(ports, clock, 50)
    clock.advance(10)
    late = await submitted(ports, clock, 5_000)
    clock.jump(-5)
    between = await submitted(ports, clock, 3)

    clock.jump(5)
    assert await claimed(ports) == [job.id for job in early + between + late]


@pytest.mark.parametrize(("before", "after"), [(4_500, 8_000), (8_000, 4_500)])
@pytest.mark.parametrize("many", [1, 16, 60])
async def test_what_belongs_deep_between_others_goes_there(
    ports: RedisPorts, clock: FakeClock, bare: Bare, before: int, after: int, many: int
) -> None:
    """Jobs that come due in the middle of a long backlog are claimed by their age, a few or many of them."""
    jobs = await submitted(ports, clock, before)
    due = clock.now() + DUE
    for _ in range(many):
        clock.advance(0.001)
        jobs += await waiting_until(ports, due)
        jobs += await submitted(ports, clock, 2)
    jobs += await submitted(ports, clock, after)
    clock.advance(DUE)

    await ports.queue.promote()

    assert (await ports.desk.counts()).ready == len(jobs) == bare.call("LLEN", f"{QUEUE}:normal")
    assert await claimed(ports) == [job.id for job in jobs]


async def test_many_too_deep_to_be_moved_come_early_and_none_is_lost(
    ports: RedisPorts, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a small bound in place of the usual one: never later than by their age, the others in order."""
    text = SCRIPTS["promote"].text.decode()
    assert "local MOVED_MAX = 100000" in text
    small = Script.of("promote", text.replace("local MOVED_MAX = 100000", "local MOVED_MAX = 4200"))
    monkeypatch.setitem(SCRIPTS._read, "promote", small)
    first = await submitted(ports, clock, 4_500)
    due = clock.now() + DUE
    deep = [job for _ in range(20) for job in await waiting_until(ports, due)]
    last = await submitted(ports, clock, 4_500)
    clock.advance(DUE)

    await ports.queue.promote()

    order = await claimed(ports)
    late = {job.id for job in deep}
    assert [job for job in order if job not in late] == [job.id for job in first + last]
    assert [job for job in order if job in late] == [job.id for job in deep]
    assert order.index(deep[-1].id) < len(first) + len(deep)


async def waiting_until(ports: RedisPorts, due: float) -> list[NewJob]:
    job = a_job(run_at=due)
    await ports.queue.submit([job])
    return [job]
