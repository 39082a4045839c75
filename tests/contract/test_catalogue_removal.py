"""A removed collection and its jobs: clause K17."""

import pytest

from penstock.intake.admission import Admission, Order
from penstock.model.errors import LeaseLost
from penstock.model.jobs import Accepted, JobId, WorkerId
from penstock.model.outcomes import DONE, Park
from penstock.model.standing import PauseScope
from penstock.model.states import State
from penstock.ports.desk import Wanted
from tests.contract.engines import Store
from tests.support.cataloguing import admitted, claimed_job, declared, pay_purges, submitted
from tests.support.jobs import COLLECTION, TENANT, a_folder, a_job, a_tenant_delete, an_error

NEEDS_DATABASE = True

MANY = 1300
"""More than are ended in one write."""


async def remove(store: Store) -> None:
    await store.write(lambda tx: tx.shelves.remove(declared(tx).id))


async def end_of(store: Store, job: JobId) -> tuple[State, str | None]:
    found = await store.desk.find(job)
    assert found is not None
    return found.state, None if found.error is None else found.error.code


GONE = (State.FAILED, "ERR_COLLECTION_UNKNOWN")


async def test_whatever_waits_ends_with_the_collection(store: Store) -> None:
    """K17: ready, behind another, parked or paused; jobs of other collections go on."""
    await store.write(declared)
    _, parked = await admitted(store, "/parked.txt")
    lease = await claimed_job(store.queue)
    await store.queue.settle([(lease, Park(an_error(), 3600.0))])
    first = await submitted(store, a_job("/a.txt"))
    lease = await claimed_job(store.queue)
    behind = await submitted(store, a_job("/a.txt"))
    await store.desk.pause(PauseScope.COLLECTION, COLLECTION)
    paused = await submitted(store, a_job("/b.txt"))
    assert await store.queue.claim(WorkerId("w"), 1) == []
    other = await submitted(store, a_job("/c.txt", collection="other"))
    tenant = await submitted(store, a_tenant_delete(tenant="globex"))

    await remove(store)

    assert [await end_of(store, job) for job in (parked, first, behind, paused)] == [GONE] * 4
    assert await store.queue.settle([(lease, DONE)]) == [False]
    assert {(await end_of(store, job))[0] for job in (other, tenant)} == {State.READY}


async def test_a_running_attempt_writes_nothing_after_the_removal(store: Store) -> None:
    """K17: not even into a collection of the same name."""
    await store.write(declared)
    await submitted(store, a_job("/a.txt"))
    lease = await claimed_job(store.queue)

    await remove(store)
    await store.write(declared)

    with pytest.raises(LeaseLost):
        await store.write(lambda tx: tx.guard(lease))
    (renewal,) = await store.queue.extend([lease])
    assert not renewal.held


async def test_a_folder_whose_attempt_is_over_makes_no_more_children(store: Store) -> None:
    """K17: what it still finds comes into no collection of the same name."""
    await store.write(declared)
    await submitted(store, a_folder())
    lease = await claimed_job(store.queue)
    order = Order(tenant=TENANT, collection=COLLECTION, priority=3, lease=lease)
    (child,) = await Admission(store).files(order, ["/a.txt"])

    await remove(store)
    await store.write(declared)

    with pytest.raises(LeaseLost):
        await Admission(store).files(order, ["/b.txt"])
    with pytest.raises(LeaseLost):
        await Admission(store).removals(order, ["/b.txt"])
    assert await end_of(store, child.job) == GONE
    assert (await store.desk.counts()).ready == 0


async def test_jobs_of_a_removed_collection_never_run_for_its_successor(store: Store) -> None:
    """K17: those too many for one write are not claimed; a later intent on the same key is its own."""
    await store.write(declared)
    jobs = [a_job(f"/{at}.txt") for at in range(MANY)]
    await store.queue.submit(jobs)

    await remove(store)
    await store.write(declared)
    again = a_job(f"/{MANY - 1}.txt")
    (receipt,) = await store.queue.submit([again])
    counts = await store.desk.counts()
    leases = await store.queue.claim(WorkerId("w"), MANY)

    assert (receipt.job_id, receipt.how) == (again.id, Accepted.CREATED)
    assert [lease.job_id for lease in leases] == [again.id]
    assert counts.ready == 1
    assert counts.failed + counts.waiting == MANY
    assert counts.waiting
    await pay_purges(store.catalogue)
    counts = await store.desk.counts()
    assert (counts.failed, counts.waiting, counts.leased) == (MANY, 0, 1)
    ended = await store.desk.jobs(
        Wanted(state=State.FAILED, error_code=GONE[1], tenants=[TENANT], limit=2000)
    )
    assert len(ended) == MANY
