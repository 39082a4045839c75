"""The database: transactions, shared commits, numbered events, guarded writes."""

import asyncio
import json
from collections.abc import Callable

import pytest

from penstock.model.catalogue import DebtKind, NewDebt, WorkspaceId
from penstock.model.errors import LeaseLost, Refused
from penstock.model.events import DocumentCreated, DocumentStatusUpdated, Event, JobStatusUpdated
from penstock.model.jobs import JobId, Lease
from penstock.model.outcomes import DONE, Failed
from penstock.model.states import State
from penstock.ports.database import Transaction
from tests.contract.engines import Home, Store, with_rules
from tests.contract.steps import LEASE, W2, all_jobs, claim_one, claimed, ending, state_of, submit
from tests.support.clock import FakeClock
from tests.support.jobs import OTHER_TENANT, a_job, a_tenant_delete, an_error

NEEDS_DATABASE = True

ANN, BO = "ann", "bo"


class Stumble(Exception):
    """What a caller's own function raises."""


def moved(number: int = 1) -> Event:
    return DocumentStatusUpdated(workspace_id="w", document_id=f"doc-{number}", status="parsed")


async def seqs(store: Store, user: str) -> list[int]:
    return [event.seq for event in await store.events_after(user, 0)]


async def test_a_write_answers_with_what_its_function_returned(store: Store) -> None:
    """D1: the function's result is the answer."""
    assert await store.write(lambda _: "forty-two") == "forty-two"


async def test_job_and_event_commit_together(home: Home, store: Store) -> None:
    """D1: after the answer both are there, also after a crash."""
    job = a_job()

    def work(tx: Transaction) -> int:
        tx.submit([job])
        return tx.append_event(ANN, moved())

    assert await store.write(work) == 1
    after = await home.crash(store)

    assert await state_of(after.desk, job.id) is State.READY
    assert await seqs(after, ANN) == [1]


async def test_a_function_that_raises_leaves_nothing(store: Store) -> None:
    """D2: its exception reaches the caller, its job and its event do not stay."""

    def work(tx: Transaction) -> None:
        tx.submit([a_job()])
        tx.append_event(ANN, moved())
        raise Stumble("over a stone")

    with pytest.raises(Stumble, match="over a stone"):
        await store.write(work)

    assert await all_jobs(store.desk) == []
    assert await seqs(store, ANN) == []


async def test_neighbours_of_a_raising_function_survive(store: Store) -> None:
    """D2: in one group commit, each function stands or falls by itself, and runs once."""
    ran: list[int] = []

    def work(number: int) -> Callable[[Transaction], JobId]:
        def one(tx: Transaction) -> JobId:
            ran.append(number)
            (receipt,) = tx.submit([a_job()])
            tx.append_event(ANN, moved(number))
            if number % 3 == 0:
                raise Stumble(str(number))
            return receipt.job_id

        return one

    answers = await asyncio.gather(
        *(store.write(work(number)) for number in range(60)), return_exceptions=True
    )

    kept = [answer for answer in answers if isinstance(answer, str)]
    assert [number for number, answer in enumerate(answers) if isinstance(answer, Stumble)] == list(
        range(0, 60, 3)
    )
    assert sorted(ran) == list(range(60))
    assert sorted(job.id for job in await all_jobs(store.desk)) == sorted(kept)
    assert await seqs(store, ANN) == list(range(1, 41))


async def test_a_refusal_inside_a_transaction_can_be_handled(store: Store) -> None:
    """D2: a submit that is refused leaves nothing of its list, and the function may go on."""
    taken = a_job(tenant=OTHER_TENANT)
    await submit(store.queue, taken)

    def work(tx: Transaction) -> int:
        with pytest.raises(Refused):
            tx.submit([a_job(), a_job(id=taken.id)])
        return tx.append_event(ANN, moved())

    assert await store.write(work) == 1

    assert [job.id for job in await all_jobs(store.desk)] == [taken.id]
    assert await seqs(store, ANN) == [1]


@with_rules(bulk_max=2)
async def test_limits_hold_inside_a_transaction(store: Store) -> None:
    """D1: the transaction's submit is the queue's submit."""
    with pytest.raises(Refused) as refused:
        await store.write(lambda tx: tx.submit([a_job(), a_job(), a_job()]))

    assert refused.value.code == "ERR_BULK_TOO_LARGE"
    assert await all_jobs(store.desk) == []


async def test_writes_see_what_came_before_them(store: Store) -> None:
    """D3: in whatever group they are committed, each sees the ones before it."""
    job = a_job()

    receipts = await asyncio.gather(*(store.write(lambda tx: tx.submit([job])[0].how) for _ in range(20)))

    assert sorted(receipts) == ["created"] + ["existing"] * 19


async def test_an_uncommitted_write_is_seen_by_nobody(store: Store) -> None:
    """D3: a function sees nothing of a neighbour that raised."""
    job = a_job()

    def stumble(tx: Transaction) -> None:
        tx.submit([job])
        raise Stumble

    answers = await asyncio.gather(
        store.write(stumble), store.write(lambda tx: tx.submit([job])[0].how), return_exceptions=True
    )

    assert isinstance(answers[0], Stumble)
    assert answers[1] == "created"


async def test_events_are_numbered_per_user_without_gaps(store: Store) -> None:
    """D4: each user has a sequence of his own, starting at 1."""
    for user in (ANN, BO, ANN, ANN, BO):
        await store.write(lambda tx, user=user: tx.append_event(user, moved()))  # type: ignore[misc]

    assert await seqs(store, ANN) == [1, 2, 3]
    assert await seqs(store, BO) == [1, 2]


async def test_many_writers_leave_no_gap(store: Store) -> None:
    """D4: the numbers told to concurrent callers are the numbers in the log, each once."""

    def two(tx: Transaction) -> tuple[int, int]:
        return tx.append_event(ANN, moved(1)), tx.append_event(ANN, moved(2))

    told = await asyncio.gather(*(store.write(two) for _ in range(40)))

    assert sorted(number for pair in told for number in pair) == list(range(1, 81))
    assert all(second == first + 1 for first, second in told)
    assert await seqs(store, ANN) == list(range(1, 81))


async def test_numbers_go_on_after_a_restart(home: Home, store: Store) -> None:
    """D4: the next number follows the last committed one."""
    await store.write(lambda tx: tx.append_event(ANN, moved()))

    after = await home.crash(store)

    assert await after.write(lambda tx: tx.append_event(ANN, moved())) == 2


async def test_an_event_is_kept_as_it_was_said(store: Store, clock: FakeClock) -> None:
    """D4: type, time and payload, with the documented fields."""
    event = JobStatusUpdated(
        job_id="j", job_type="parse", document_id="d", workspace_id="w", status="failed", retry_count=2
    )

    await store.write(lambda tx: tx.append_event(ANN, event))

    (logged,) = await store.events_after(ANN, 0)
    assert (logged.user, logged.seq, logged.ts, logged.type) == (ANN, 1, clock.now(), "job.status_updated")
    assert json.loads(logged.payload_json) == {
        "job_id": "j",
        "job_type": "parse",
        "document_id": "d",
        "workspace_id": "w",
        "status": "failed",
        "retry_count": 2,
        "error_message": None,
    }


async def test_an_event_may_carry_a_document(store: Store) -> None:
    """D4: nested values come back as they went in."""
    document = {"id": "d", "name": "Grüße 世界", "pages": [1, 2]}

    await store.write(lambda tx: tx.append_event(ANN, DocumentCreated(workspace_id="w", document=document)))

    (logged,) = await store.events_after(ANN, 0)
    assert json.loads(logged.payload_json) == {"workspace_id": "w", "document": document}


async def test_a_reader_goes_on_where_it_was(store: Store) -> None:
    """D4: events after a number, in order, at most so many."""

    def ten(tx: Transaction) -> None:
        for number in range(10):
            tx.append_event(ANN, moved(number))

    await store.write(ten)

    assert [event.seq for event in await store.events_after(ANN, 7)] == [8, 9, 10]
    assert [event.seq for event in await store.events_after(ANN, 2, limit=3)] == [3, 4, 5]
    assert await store.events_after(ANN, 10) == []
    assert await store.events_after(BO, 0) == []


async def test_old_events_are_forgotten_and_their_numbers_never_used_again(
    home: Home, store: Store, clock: FakeClock
) -> None:
    """D4: what is older goes, in portions; the next number follows the last one ever given."""
    for _ in range(3):
        await store.write(lambda tx: tx.append_event(ANN, moved()))
        clock.advance(10)

    assert await store.forget_events(clock.now() - 10, limit=1) == 1
    assert await seqs(store, ANN) == [2, 3]
    assert await store.forget_events(clock.now() + 1) == 2
    assert await store.forget_events(clock.now() + 1) == 0

    after = await home.restart(store)
    assert await after.write(lambda tx: tx.append_event(ANN, moved())) == 4


async def test_what_is_kept_of_a_log_has_no_gap_whatever_the_clock_did(
    store: Store, clock: FakeClock
) -> None:
    """D4: events dated too early take those before them along; those dated ahead go with the next old one."""

    def three_each(tx: Transaction) -> None:
        for user in (ANN, BO) * 3:
            tx.append_event(user, moved())

    for ahead in (0, -1_000, 1_000, 10):
        clock.jump(ahead)
        await store.write(three_each)
        clock.jump(-ahead)

    assert await store.forget_events(clock.now() - 10, limit=4) == 4
    kept = [await seqs(store, user) for user in (ANN, BO)]
    assert sum(map(len, kept)) == 20
    assert all(numbers == list(range(numbers[0], 13)) for numbers in kept)
    assert await store.forget_events(clock.now() - 10) == 8
    assert [await seqs(store, user) for user in (ANN, BO)] == [list(range(7, 13))] * 2
    assert await store.forget_events(clock.now() + 11) == 12


async def test_a_held_lease_passes_the_guard(store: Store) -> None:
    """D5: the attempt that holds its job may write, and settle with what it wrote."""
    (job,) = await submit(store.queue, a_job())
    lease = await claim_one(store.queue)

    def work(tx: Transaction) -> list[bool]:
        tx.guard(lease)
        tx.append_event(ANN, moved())
        return tx.settle([(lease, DONE)])

    assert await store.write(work) == [True]
    assert await state_of(store.desk, job) is State.DONE
    assert await seqs(store, ANN) == [1]


async def lost(store: Store, clock: FakeClock, way: str) -> Lease:
    """A lease that is no longer current."""
    await submit(store.queue, a_job())
    lease = await claim_one(store.queue)
    if way == "settled":
        await store.queue.settle([(lease, DONE)])
    else:
        clock.advance(LEASE + 1)
        await store.queue.rescue()
    if way == "claimed again":
        await claim_one(store.queue, W2)
    return lease


@pytest.mark.parametrize("way", ["rescued", "claimed again", "settled"])
async def test_a_lost_lease_writes_nothing(store: Store, clock: FakeClock, way: str) -> None:
    """D5: a guarded write of a lost attempt fails, whatever it wrote before the guard."""
    lease = await lost(store, clock, way)

    def work(tx: Transaction) -> None:
        tx.submit([a_job()])
        tx.append_event(ANN, moved())
        tx.guard(lease)

    with pytest.raises(LeaseLost) as refused:
        await store.write(work)

    assert refused.value.code == "ERR_LEASE_LOST"
    assert len(await all_jobs(store.desk)) == 1
    assert await seqs(store, ANN) == []


async def test_a_settle_in_a_transaction_says_when_the_lease_is_lost(store: Store, clock: FakeClock) -> None:
    """C4: the token is compared inside a transaction as well."""
    lease = await lost(store, clock, "claimed again")

    assert await store.write(lambda tx: tx.settle([(lease, Failed(an_error()))])) == [False]
    assert await state_of(store.desk, lease.job_id) is State.LEASED


async def test_a_settle_that_is_rolled_back_did_not_happen(store: Store) -> None:
    """D2: the attempt still holds its job, and can end it another way."""
    (job,) = await submit(store.queue, a_job())
    lease = await claim_one(store.queue)

    def work(tx: Transaction) -> None:
        tx.settle([(lease, DONE)])
        raise Stumble

    with pytest.raises(Stumble):
        await store.write(work)

    assert await store.queue.settle([(lease, Failed(an_error("ERR_BROKEN")))]) == [True]
    assert await ending(store.desk, job) == (State.FAILED, "ERR_BROKEN")


async def test_a_transaction_may_submit_into_a_batch(store: Store) -> None:
    """C17: children that are rolled back are not counted."""
    batch = await store.batches.open_batch()

    def stumble(tx: Transaction) -> None:
        tx.submit([a_job()], batch=batch)
        raise Stumble

    with pytest.raises(Stumble):
        await store.write(stumble)
    await store.write(lambda tx: tx.submit([a_job()], batch=batch))

    found = await store.batches.batch(batch)
    assert found is not None
    assert found.total == 1


async def test_what_a_transaction_submits_wakes_who_waits(store: Store) -> None:
    """D1: a worker learns of jobs that came with a document."""
    while await store.queue.arrival(0.001):
        pass
    waiting = asyncio.create_task(store.queue.arrival(60))
    await asyncio.sleep(0)

    await store.write(lambda tx: tx.submit([a_job()]))

    assert await asyncio.wait_for(waiting, 30)


async def test_what_a_transaction_writes_without_a_job_wakes_nobody(store: Store) -> None:
    """D1: signing in, talking and owing make no job ready; removing a workspace does."""

    def talk(tx: Transaction) -> WorkspaceId:
        tx.accounts.sign_in(ANN)
        there = tx.accounts.open(ANN, "Plans").id
        tx.conversations.post(there, tx.conversations.open(there).id, "Who is there?", owner="me")
        tx.debts.owe(NewDebt(kind=DebtKind.FREE_BLOB, about="a1"))
        return there

    while await store.queue.arrival(0.001):
        pass

    there = await store.write(talk)

    assert await store.queue.arrival(0.1) is False
    assert await store.write(lambda tx: tx.accounts.remove(ANN, there))
    assert await store.queue.arrival(10)


async def test_a_barrier_submitted_in_a_transaction_closes_its_tenant(store: Store) -> None:
    """C12: the queue's clauses hold for jobs that come by a transaction."""
    (earlier,) = await submit(store.queue, a_job())
    barrier, later = a_tenant_delete(), a_job()
    await store.write(lambda tx: tx.submit([barrier, later]))
    await store.queue.promote()

    assert await ending(store.desk, earlier) == (State.FAILED, "ERR_SUPERSEDED")
    assert await claimed(store.queue) == [barrier.id]


async def test_closing_finishes_what_was_accepted(home: Home, store: Store) -> None:
    """D1: a write that was under way when the store was closed is there or was refused, never half."""
    writes = [asyncio.create_task(store.write(lambda tx: tx.append_event(ANN, moved()))) for _ in range(20)]
    await asyncio.sleep(0)

    after = await home.restart(store)
    answers = await asyncio.gather(*writes, return_exceptions=True)

    told = [answer for answer in answers if isinstance(answer, int)]
    assert await seqs(after, ANN) == sorted(told)
