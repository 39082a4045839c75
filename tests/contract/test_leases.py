"""Leases: only the current token may extend, settle or report."""

import pytest

from penstock.model.jobs import JobId, Lease, Progress, Renewal, WorkerId
from penstock.model.outcomes import DONE, RELEASE, Failed, Outcome, Park, Retry
from penstock.model.payloads import ItemType
from penstock.model.states import State
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from tests.contract.engines import with_rules
from tests.contract.steps import LEASE, W1, W2, claim_one, claimed, ending, found, submit
from tests.support.clock import FakeClock
from tests.support.jobs import a_folder, a_job, a_note, an_error

OUTCOMES: list[Outcome] = [DONE, Failed(an_error()), Retry(an_error()), Park(an_error()), RELEASE]
NAMES = [type(outcome).__name__.lower() for outcome in OUTCOMES]


async def a_lost_lease(queue: Queue, clock: FakeClock) -> Lease:
    """An attempt whose lease ran out and whose job was taken back."""
    await submit(queue, a_job())
    lease = await claim_one(queue)
    clock.advance(LEASE + 1)
    assert await queue.rescue() == [lease.job_id]
    return lease


async def test_extending_renews_the_lease(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C4: a lease that is extended in time never runs out."""
    (job,) = await submit(queue, a_job())
    lease = await claim_one(queue)
    for _ in range(5):
        clock.advance(LEASE - 1)
        assert await queue.extend([lease]) == [Renewal(job_id=job, held=True)]
        assert await queue.rescue() == []

    assert (await found(desk, job)).lease_until == clock.now() + LEASE


@with_rules(lease_seconds_by_type={ItemType.FOLDER: 3600.0})
async def test_extending_goes_by_the_item_type(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C4: each lease is renewed by the length of its own type."""
    folder, note = await submit(queue, a_folder(), a_note())
    leases = await queue.claim(W1, 2)
    clock.advance(100)

    await queue.extend(leases)

    assert (await found(desk, folder)).lease_until == clock.now() + 3600.0
    assert (await found(desk, note)).lease_until == clock.now() + LEASE


async def test_a_lost_lease_cannot_be_extended(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C4: extending after a rescue says that it is lost, and leaves the job as it is."""
    lease = await a_lost_lease(queue, clock)

    assert await queue.extend([lease]) == [Renewal(job_id=lease.job_id, held=False)]
    assert (await found(desk, lease.job_id)).state is State.READY


async def test_renewals_stand_in_the_order_asked(queue: Queue, clock: FakeClock) -> None:
    """C4: a lost lease among held ones is told apart."""
    lost = await a_lost_lease(queue, clock)
    await submit(queue, a_job(), a_job())
    again, one, two = await queue.claim(W2, 3)

    renewals = await queue.extend([one, lost, two])

    assert [(renewal.job_id, renewal.held) for renewal in renewals] == [
        (one.job_id, True),
        (lost.job_id, False),
        (two.job_id, True),
    ]
    assert again.job_id == lost.job_id


@pytest.mark.parametrize("outcome", OUTCOMES, ids=NAMES)
async def test_an_old_token_settles_nothing_before_the_job_is_claimed_again(
    queue: Queue, desk: Desk, clock: FakeClock, outcome: Outcome
) -> None:
    """C4: whatever a worker that lost its job reports, the job stays as the rescue left it."""
    lease = await a_lost_lease(queue, clock)
    before = await found(desk, lease.job_id)

    assert await queue.settle([(lease, outcome)]) == [False]

    assert await found(desk, lease.job_id) == before


@pytest.mark.parametrize("worker", [W1, W2], ids=["same worker", "another"])
@pytest.mark.parametrize("outcome", OUTCOMES, ids=NAMES)
async def test_an_old_token_settles_nothing_after_the_job_was_claimed_again(
    queue: Queue, desk: Desk, clock: FakeClock, outcome: Outcome, worker: WorkerId
) -> None:
    """C4: the token is compared, not the worker: the new attempt is untouched even by its own worker."""
    old = await a_lost_lease(queue, clock)
    (new,) = await queue.claim(worker, 1)
    before = await found(desk, old.job_id)

    assert await queue.settle([(old, outcome)]) == [False]
    assert await found(desk, old.job_id) == before
    assert await queue.settle([(new, DONE)]) == [True]


async def test_an_old_token_reports_no_progress(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C4: how far a lost attempt is interests nobody."""
    old = await a_lost_lease(queue, clock)
    await queue.claim(W2, 1)

    assert not await queue.progress(old, Progress(done=1))
    assert (await found(desk, old.job_id)).progress is None


@pytest.mark.parametrize("second", OUTCOMES, ids=NAMES)
@pytest.mark.parametrize("first", [DONE, Failed(an_error("ERR_BROKEN"))], ids=["done", "failed"])
async def test_an_ended_job_stays_ended(queue: Queue, desk: Desk, first: Outcome, second: Outcome) -> None:
    """C5: a second settle with the same token changes nothing, whatever it says."""
    (job,) = await submit(queue, a_job())
    lease = await claim_one(queue)
    await queue.settle([(lease, first)])
    before = await found(desk, job)

    await queue.settle([(lease, second)])

    assert await found(desk, job) == before
    assert await claimed(queue) == []


async def test_a_retry_reported_twice_spends_one(queue: Queue, desk: Desk) -> None:
    """C5: a lost reply to a settle costs no second retry."""
    (job,) = await submit(queue, a_job())
    lease = await claim_one(queue)

    await queue.settle([(lease, Retry(an_error()))])
    before = await found(desk, job)
    await queue.settle([(lease, Retry(an_error()))])

    assert await found(desk, job) == before
    assert before.retry_count == 1


@pytest.mark.parametrize("second", OUTCOMES, ids=NAMES)
@pytest.mark.parametrize("first", OUTCOMES, ids=NAMES)
async def test_the_same_attempt_twice_in_one_list(
    queue: Queue, desk: Desk, first: Outcome, second: Outcome
) -> None:
    """C5: a list that names an attempt twice ends it once, by its first word."""
    one, two = await submit(queue, a_job(), a_job())
    leases = {lease.job_id: lease for lease in await queue.claim(W1, 2)}
    await queue.settle([(leases[two], first)])

    answers = await queue.settle([(leases[one], first), (leases[one], second)])

    assert answers == [True, False]
    assert await ending(desk, one) == await ending(desk, two)


async def test_many_ends_at_once_are_told_apart(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C4: one lost lease in a list does not keep the others from ending."""
    lost = await a_lost_lease(queue, clock)
    one, two = await submit(queue, a_job(), a_job())
    leases = {lease.job_id: lease for lease in await queue.claim(W2, 3)}

    answers = await queue.settle(
        [(leases[one], DONE), (lost, DONE), (leases[two], Failed(an_error("ERR_BROKEN")))]
    )

    assert answers == [True, False, True]
    assert await ending(desk, one) == (State.DONE, None)
    assert await ending(desk, two) == (State.FAILED, "ERR_BROKEN")
    assert (await found(desk, lost.job_id)).state is State.LEASED


@pytest.mark.parametrize("old_first", [True, False], ids=["old first", "new first"])
@pytest.mark.parametrize("outcome", OUTCOMES, ids=NAMES)
async def test_an_old_and_a_new_token_of_one_job_in_one_list(
    queue: Queue, clock: FakeClock, outcome: Outcome, old_first: bool
) -> None:
    """C4: a worker that lost a job and claimed it again may report both attempts at once."""
    old = await a_lost_lease(queue, clock)
    new = await claim_one(queue)
    ends: list[tuple[Lease, Outcome]] = [(new, outcome), (old, outcome)]

    answers = await queue.settle(ends[::-1] if old_first else ends)

    assert answers == ([False, True] if old_first else [True, False])


async def test_a_lease_on_a_job_that_never_was(queue: Queue) -> None:
    """C4: a token for nothing opens nothing."""
    await submit(queue, a_job())
    lease = await claim_one(queue)
    forged = Lease(
        job_id=JobId("no-such-job"),
        token=lease.token,
        worker=W1,
        until=lease.until,
        item_type=lease.item_type,
        op=lease.op,
        tenant=lease.tenant,
        collection=lease.collection,
        payload=lease.payload,
        priority=5,
        attempt=1,
    )

    assert await queue.settle([(forged, DONE)]) == [False]
    assert await queue.extend([forged]) == [Renewal(job_id=forged.job_id, held=False)]


async def test_a_settled_job_shows_when_and_why_it_ended(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C5: the end is recorded with its time and its error; no holder remains."""
    (job,) = await submit(queue, a_job())
    lease = await claim_one(queue)
    clock.advance(7)

    await queue.settle([(lease, Failed(an_error("ERR_BROKEN", "torn page")))])

    kept = await found(desk, job)
    assert kept.error is not None
    assert (kept.error.code, kept.error.message) == ("ERR_BROKEN", "torn page")
    assert (kept.finished_at, kept.last_error_at) == (clock.now(), clock.now())
    assert (kept.worker, kept.lease_until, kept.run_at) == (None, None, None)


@pytest.mark.parametrize(
    "message", ["\udcff.pdf is torn", "a\0b", "x" * 1_000_000], ids=["no text", "NUL", "long"]
)
@pytest.mark.parametrize("outcome", [Failed, Retry, Park])
async def test_any_error_message_can_be_reported(
    queue: Queue, desk: Desk, outcome: type[Failed | Retry | Park], message: str
) -> None:
    """C5: a file name in another encoding, or a page of text, does not keep an attempt from ending."""
    (job,) = await submit(queue, a_job())
    lease = await claim_one(queue)

    assert await queue.settle([(lease, outcome(an_error("ERR_BROKEN", message)))]) == [True]

    kept = await found(desk, job)
    assert kept.error is not None
    assert kept.error.code == "ERR_BROKEN"
    assert kept.state is (State.FAILED if outcome is Failed else State.DELAYED)
