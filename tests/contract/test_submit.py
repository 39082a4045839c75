"""Submitting: durable when it returns, and never twice."""

import asyncio
import json

import pytest

from penstock.model.errors import Refused
from penstock.model.fingerprints import idempotency_key, subject_of
from penstock.model.jobs import MATRIX, Accepted, NewJob, Operation
from penstock.model.outcomes import DONE, Failed
from penstock.model.payloads import (
    Content,
    DeleteDocument,
    DeleteTenant,
    File,
    Folder,
    ItemType,
    Library,
    Payload,
    Project,
    Rename,
)
from penstock.model.states import State
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from tests.contract.engines import Home, Store
from tests.contract.steps import all_jobs, claim_one, claimed, found, run_next, state_of, submit
from tests.support.clock import FakeClock
from tests.support.jobs import OTHER_TENANT, a_job, a_job_about, a_note, an_error

PAYLOADS: dict[ItemType, Payload] = {
    ItemType.CONTENT: Content(content="Grüße\n世界 \U0001f600 '\"\\", main_tag="a", full_tag="a/b"),
    ItemType.FILE: File(
        file_path='/d/it\'s "quoted" ü.md',
        file_type="code",
        file_hash="sha256:" + "0" * 64,
        size_bytes=2**40,
    ),
    ItemType.FOLDER: Folder(folder_path="/d", recursive=False, recursive_depth=3, patterns=("*.py", "*.rs")),
    ItemType.PROJECT: Project(project_root="/p", git_remote="https://example.org/p.git", project_type="rust"),
    ItemType.LIBRARY: Library(library_name="lib", library_version="1.2", source_url="https://example.org"),
    ItemType.DELETE_TENANT: DeleteTenant(tenant_id_to_delete="acme", reason="project_removed"),
    ItemType.DELETE_DOCUMENT: DeleteDocument(document_id="doc-7", point_ids=("p1", "p2")),
    ItemType.RENAME: Rename(old_path="/old", new_path="/new", is_folder=True),
}
CELLS = [(item_type, op) for item_type in ItemType for op in sorted(MATRIX[item_type])]


async def test_a_submitted_job_is_ready_under_its_own_id(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C1: the receipt names the job, and the job is kept as it was submitted."""
    job = a_job(priority=7, max_retries=1, branch="dev", metadata={"k": ["v", 1]}, document_id="doc-1")

    (receipt,) = await queue.submit([job])

    kept = await found(desk, job.id)
    assert (receipt.job_id, receipt.how) == (job.id, Accepted.CREATED)
    assert (kept.item_type, kept.op, kept.tenant, kept.collection) == (
        ItemType.FILE,
        Operation.INGEST,
        job.tenant,
        job.collection,
    )
    assert (kept.state, kept.priority, kept.max_retries, kept.branch) == (State.READY, 7, 1, "dev")
    assert (kept.document_id, json.loads(kept.metadata_json)) == ("doc-1", {"k": ["v", 1]})
    assert (kept.retry_count, kept.crashes, kept.error, kept.behind) == (0, 0, None, None)
    assert (kept.created_at, kept.updated_at) == (clock.now(), clock.now())
    assert kept.idempotency_key == idempotency_key(job.collection, job.payload)
    assert kept.subject == subject_of(job.collection, job.payload, "doc-1")


@pytest.mark.parametrize(("item_type", "op"), CELLS, ids=[f"{kind}-{op}" for kind, op in CELLS])
async def test_every_type_and_operation_reaches_its_worker(
    queue: Queue, desk: Desk, item_type: ItemType, op: Operation
) -> None:
    """C3: each legal cell of the matrix is handed out with the payload that went in."""
    job = a_job_about(PAYLOADS[item_type], op=op, branch="dev")
    await submit(queue, job)
    await queue.promote()

    lease = await claim_one(queue)

    assert (lease.job_id, lease.item_type, lease.op) == (job.id, item_type, op)
    assert (lease.payload, lease.branch) == (job.payload, "dev")
    kept = await found(desk, job.id)
    assert kept.subject == subject_of(job.collection, job.payload)
    assert kept.idempotency_key == idempotency_key(job.collection, job.payload)


async def test_a_crash_after_submit_loses_nothing(home: Home, store: Store) -> None:
    """C1: what submit returned for is there after a crash."""
    ids = await submit(store.queue, *(a_job() for _ in range(20)))

    after = await home.crash(store)

    assert await claimed(after.queue) == ids


async def test_a_restart_loses_nothing(home: Home, store: Store) -> None:
    """C1: waiting, running and ended jobs are what they were."""
    done, running, waiting = await submit(store.queue, a_job(), a_job(), a_job())
    await run_next(store.queue)
    await claim_one(store.queue)

    after = await home.restart(store)

    states = [await state_of(after.desk, job) for job in (done, running, waiting)]
    assert states == [State.DONE, State.LEASED, State.READY]


async def test_a_list_gives_one_receipt_each_in_order(queue: Queue) -> None:
    """C1: receipts stand in the order of the jobs."""
    jobs = [a_job() for _ in range(50)]

    receipts = await queue.submit(jobs)

    assert [receipt.job_id for receipt in receipts] == [job.id for job in jobs]
    assert {receipt.how for receipt in receipts} == {Accepted.CREATED}


async def test_an_empty_list_is_accepted(queue: Queue, desk: Desk) -> None:
    """C1: nothing to submit gives no receipt and no error."""
    assert await queue.submit([]) == []
    assert await all_jobs(desk) == []


async def test_the_same_job_again_changes_nothing(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C2: a lost reply makes no second job while the first waits."""
    job = a_job()
    await submit(queue, job)
    before = await found(desk, job.id)

    clock.advance(60)
    (receipt,) = await queue.submit([job])

    assert (receipt.job_id, receipt.how) == (job.id, Accepted.EXISTING)
    assert await all_jobs(desk) == [before]


async def test_the_same_job_again_while_it_runs(queue: Queue, desk: Desk) -> None:
    """C2: a lost reply makes no successor while the first runs."""
    job = a_job()
    await submit(queue, job)
    await claim_one(queue)

    (receipt,) = await queue.submit([job])

    assert (receipt.job_id, receipt.how) == (job.id, Accepted.EXISTING)
    assert [kept.state for kept in await all_jobs(desk)] == [State.LEASED]


@pytest.mark.parametrize("outcome", [DONE, Failed(an_error())], ids=["done", "failed"])
async def test_the_same_job_again_after_its_end(queue: Queue, desk: Desk, outcome: Failed) -> None:
    """C2: a lost reply found out long after the end still makes no second job."""
    job = a_job()
    await submit(queue, job)
    await run_next(queue, outcome)
    before = await found(desk, job.id)

    (receipt,) = await queue.submit([job])

    assert (receipt.job_id, receipt.how) == (job.id, Accepted.EXISTING)
    assert await all_jobs(desk) == [before]


async def test_an_id_stands_for_the_first_intent(queue: Queue, desk: Desk) -> None:
    """C2: the same id with another payload and priority changes nothing."""
    job = a_job("/one.txt", size=1, priority=1)
    await submit(queue, job)
    before = await found(desk, job.id)

    (receipt,) = await queue.submit([a_job("/one.txt", size=2, priority=9, id=job.id)])

    assert receipt.how is Accepted.EXISTING
    assert await found(desk, job.id) == before


async def test_the_same_job_twice_in_one_list(queue: Queue, desk: Desk) -> None:
    """C2: a list that repeats itself makes one job."""
    job = a_job()

    receipts = await queue.submit([job, job])

    assert [receipt.how for receipt in receipts] == [Accepted.CREATED, Accepted.EXISTING]
    assert len(await all_jobs(desk)) == 1


async def test_the_same_job_from_many_callers_at_once(queue: Queue, desk: Desk) -> None:
    """C2: of twenty that submit the same value at the same time, one creates it."""
    job = a_job()

    receipts = [one for (one,) in await asyncio.gather(*(queue.submit([job]) for _ in range(20)))]

    assert sorted(receipt.how for receipt in receipts) == [Accepted.CREATED] + [Accepted.EXISTING] * 19
    assert len(await all_jobs(desk)) == 1


async def test_an_id_of_another_tenant_is_taken(queue: Queue, desk: Desk) -> None:
    """C2: a tenant neither gets nor learns of another tenant's job by guessing its id."""
    theirs = a_job()
    await submit(queue, theirs)
    before = await found(desk, theirs.id)

    with pytest.raises(Refused) as refused:
        await queue.submit([a_job(tenant=OTHER_TENANT, id=theirs.id)])

    assert refused.value.code == "ERR_JOB_ID_TAKEN"
    assert await all_jobs(desk) == [before]


async def test_a_taken_id_refuses_the_whole_list(queue: Queue, desk: Desk) -> None:
    """C1: all are accepted or none, also when the bad one comes last."""
    theirs = a_job()
    await submit(queue, theirs)

    with pytest.raises(Refused):
        await queue.submit([a_job(tenant=OTHER_TENANT), a_note(tenant=OTHER_TENANT, id=theirs.id)])

    assert [job.id for job in await all_jobs(desk)] == [theirs.id]


@pytest.mark.parametrize("end_first", ["waiting", "running", "ended"])
async def test_an_intent_that_joined_a_job_is_never_run_twice(
    queue: Queue, desk: Desk, end_first: str
) -> None:
    """C2: the id of a coalesced submit stands for the job it joined, whatever became of that one."""
    first, joined = a_job("/one.txt", size=1), a_job("/one.txt", size=2)
    await submit(queue, first, joined)
    if end_first == "running":
        await claim_one(queue)
    if end_first == "ended":
        await run_next(queue)

    (receipt,) = await queue.submit([joined])

    assert receipt.job_id == first.id
    assert [job.id for job in await all_jobs(desk)] == [first.id]


async def test_a_scheduled_job_waits_for_its_time(queue: Queue, desk: Desk, clock: FakeClock) -> None:
    """C8: a job with a time to come is delayed, and says until when."""
    (job,) = await submit(queue, a_job(run_at=clock.now() + 60))

    kept = await found(desk, job)
    assert (kept.state, kept.run_at) == (State.DELAYED, clock.now() + 60)
    assert await claimed(queue) == []


async def test_a_time_that_has_passed_means_now(queue: Queue, clock: FakeClock) -> None:
    """C8: a job scheduled for the past is claimable after the next promote."""
    (job,) = await submit(queue, a_job(run_at=clock.now() - 60))

    await queue.promote()

    assert await claimed(queue) == [job]


@pytest.mark.parametrize("moment", [float("nan"), float("inf"), 1e18, -1e18], ids=str)
async def test_a_time_that_is_none_is_refused(queue: Queue, desk: Desk, moment: float) -> None:
    """C1: a due time no calendar has is refused like any other wrong value."""
    with pytest.raises(Refused):
        await queue.submit([a_job(), a_job(run_at=moment)])

    assert await all_jobs(desk) == []


async def test_any_documented_id_may_be_chosen(queue: Queue) -> None:
    """C1: the submitter makes the id, in whatever legal form."""
    job: NewJob = a_job()
    chosen = a_job(id=type(job.id)("Batch-7:page_3.final"))

    assert await submit(queue, chosen) == [chosen.id]
