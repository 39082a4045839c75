"""Stages follow their jobs: clauses K9 to K11."""

import json
from dataclasses import fields

import pytest

from penstock.model.catalogue import (
    LOCAL_USER,
    LOCAL_WORKSPACE,
    Document,
    DocumentId,
    DocumentState,
    Stage,
    StageKind,
    StageState,
)
from penstock.model.errors import MESSAGE_LENGTH_MAX, ErrorClass, ErrorReport, LeaseLost
from penstock.model.events import DocumentStatusUpdated, JobStatusUpdated, LoggedEvent
from penstock.model.jobs import JobId, Lease
from penstock.model.outcomes import DONE, Failed, Park, Retry
from penstock.ports.database import Transaction
from tests.contract.engines import Store
from tests.contract.steps import DEAD_AFTER, die
from tests.support.cataloguing import admitted, claimed_job, declared, ingested, new_document, write_version
from tests.support.clock import FakeClock
from tests.support.jobs import a_delete, a_job, an_error

NEEDS_DATABASE = True


async def document_of(store: Store, document: Document) -> Document:
    found = await store.catalogue.document(LOCAL_WORKSPACE, document.id)
    assert found is not None
    return found


async def only_stage(store: Store, job: JobId) -> Stage:
    (stage,) = await store.catalogue.stages_of_job(job)
    return stage


async def events(store: Store, after: int = 0) -> list[LoggedEvent]:
    return await store.events_after(LOCAL_USER, after)


def statuses(found: list[LoggedEvent]) -> list[tuple[str, str]]:
    """What the events tell, in short."""
    return [
        (event.type, told.get("status") or told["document"]["status"])
        for event in found
        for told in [json.loads(event.payload_json)]
    ]


def run(tx: Transaction, lease: Lease, document: DocumentId) -> None:
    """Everything a handler does for a document, in one transaction."""
    parse = tx.stages.begin(lease, document, StageKind.PARSE)
    tx.documents.describe(document, title="T", media="txt", pages=None, metadata_json="{}")
    tx.stages.finish(lease, parse)
    ingest = tx.stages.begin(lease, document, StageKind.INGEST)
    version = write_version(tx, document, declared(tx).generation, ["words"])
    tx.documents.publish(version.id, chunks=1)
    tx.stages.finish(lease, ingest)


async def test_a_document_goes_its_way_and_tells_each_step(store: Store) -> None:
    """K11: one event for each change, in order, none for settling what had already ended."""
    document, job = await admitted(store)
    lease = await claimed_job(store.queue)
    await store.write(lambda tx: run(tx, lease, document.id))
    assert await store.queue.settle([(lease, DONE)]) == [True]

    assert (await document_of(store, document)).state is DocumentState.INGESTED
    stages = await store.catalogue.stages_of_job(job)
    assert [(each.kind, each.state) for each in stages] == [
        (StageKind.PARSE, StageState.SUCCESS),
        (StageKind.INGEST, StageState.SUCCESS),
    ]
    first, *found = await events(store)
    assert first.type == "collection.created"
    assert statuses(found) == [
        ("document.created", "pending"),
        ("job.status_updated", "queued"),
        ("job.status_updated", "running"),
        ("document.status_updated", "parsed"),
        ("job.status_updated", "success"),
        ("job.status_updated", "queued"),
        ("job.status_updated", "running"),
        ("document.status_updated", "ingested"),
        ("job.status_updated", "success"),
    ]


async def test_events_have_the_fields_of_their_kind(store: Store) -> None:
    """K11: the payloads are those of the model, field by field, in order."""
    document, job = await admitted(store)
    await claimed_job(store.queue)
    stage = await only_stage(store, job)

    told = [json.loads(event.payload_json) for event in (await events(store))[1:]]

    assert list(told[1]) == [field.name for field in fields(JobStatusUpdated)]
    assert (told[1]["job_id"], told[1]["document_id"]) == (stage.id, document.id)
    assert told[2]["status"] == "running"
    await store.write(lambda tx: tx.documents.hide(document.id))
    last = json.loads((await events(store))[-1].payload_json)
    assert list(last) == [field.name for field in fields(DocumentStatusUpdated)]
    assert last["status"] == "deleted"


async def test_a_change_undone_tells_nothing(store: Store) -> None:
    """K11: an event of a transaction that was rolled back was never there."""

    def undone(tx: Transaction) -> None:
        tx.documents.admit(new_document(declared(tx).id))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.write(undone)

    assert await events(store) == []


async def test_a_retry_shows_on_the_stage(store: Store, clock: FakeClock) -> None:
    """K9: queued again, with its count, its due time and the reason."""
    _, job = await admitted(store)
    lease = await claimed_job(store.queue)

    await store.queue.settle([(lease, Retry(an_error("ERR_HANDLER_FAILED", "no luck")))])

    stage = await only_stage(store, job)
    assert (stage.state, stage.retry_count) == (StageState.QUEUED, 1)
    assert stage.next_run_at is not None
    assert stage.next_run_at > clock.now()
    assert stage.error is not None
    assert (stage.error.code, stage.error.message) == ("ERR_HANDLER_FAILED", "no luck")


async def test_a_stage_whose_time_has_come_is_due_no_more(store: Store, clock: FakeClock) -> None:
    """K9: its job is ready, and waits for somebody to take it; nothing is told of that."""
    _, job = await admitted(store)
    await store.queue.settle([(await claimed_job(store.queue), Retry(an_error()))])
    due = (await only_stage(store, job)).next_run_at
    told = await events(store)
    assert due is not None

    clock.advance(due - clock.now() + 1.0)
    await store.queue.promote()

    stage = await only_stage(store, job)
    assert (stage.state, stage.retry_count, stage.next_run_at) == (StageState.QUEUED, 1, None)
    assert await events(store) == told


async def test_a_failed_job_is_the_documents_error(store: Store) -> None:
    """K9: with stage, code and message, and its last good version still answers."""
    before = await ingested(store)
    document, job = await admitted(store)
    lease = await claimed_job(store.queue)
    await store.write(lambda tx: tx.stages.begin(lease, document.id, StageKind.PARSE))

    await store.queue.settle([(lease, Failed(_permanent()))])

    after = await document_of(store, document)
    assert (after.id, after.state, after.error_stage) == (before.id, DocumentState.ERROR, StageKind.PARSE)
    assert after.error is not None
    assert (after.error.code, after.error.message) == ("ERR_PDF_INVALID", "page 3 is damaged")
    assert after.version == before.version
    assert (await only_stage(store, job)).state is StageState.FAILED
    assert statuses((await events(store))[-2:]) == [
        ("job.status_updated", "failed"),
        ("document.status_updated", "error"),
    ]


async def test_a_job_that_fails_between_its_stages_leaves_no_document_waiting(store: Store) -> None:
    """K9: parsed and never indexed is an error, not a state to rest in."""
    document, _ = await admitted(store)
    lease = await claimed_job(store.queue)

    def parse(tx: Transaction) -> None:
        stage = tx.stages.begin(lease, document.id, StageKind.PARSE)
        tx.documents.describe(document.id, title=None, media="txt", pages=None, metadata_json="{}")
        tx.stages.finish(lease, stage)

    await store.write(parse)
    await store.queue.settle([(lease, Failed(_permanent()))])

    assert (await document_of(store, document)).state is DocumentState.ERROR


async def test_a_parked_job_shows_why_it_waits(store: Store) -> None:
    """K9: no retry is spent, and the reason is told."""
    _, job = await admitted(store)
    lease = await claimed_job(store.queue)

    await store.queue.settle([(lease, Park(an_error("ERR_EMBEDDER_DOWN", "down"), 30))])

    stage = await only_stage(store, job)
    assert (stage.state, stage.retry_count) == (StageState.QUEUED, 0)
    assert stage.error is not None
    assert stage.error.code == "ERR_EMBEDDER_DOWN"


async def test_a_cancelled_job_ends_its_document(store: Store) -> None:
    """K9: a cancel by the desk reaches stage and document."""
    document, job = await admitted(store)

    await store.desk.cancel([job])

    after = await document_of(store, document)
    assert after.error is not None
    assert (after.state, after.error.code) == (DocumentState.ERROR, "ERR_CANCELLED")
    assert (await only_stage(store, job)).state is StageState.FAILED


async def test_a_rescued_job_waits_again(store: Store, clock: FakeClock) -> None:
    """K9: a dead worker's stage goes back to queued with the job."""
    _, job = await admitted(store)
    lease = await claimed_job(store.queue)
    await store.queue.beat(lease.worker, concurrency=1)

    clock.advance(DEAD_AFTER + 1)
    assert await store.queue.rescue() == [job]

    assert (await only_stage(store, job)).state is StageState.QUEUED


async def test_a_poisonous_file_fails_its_document(store: Store) -> None:
    """K9: the third death ends the job, and the document says why."""
    document, _ = await admitted(store)
    for _ in range(3):
        lease = await claimed_job(store.queue)
        await store.queue.beat(lease.worker, concurrency=1)
        await die(store.queue, lease.worker)

    after = await document_of(store, document)
    assert after.error is not None
    assert (after.state, after.error.code) == (DocumentState.ERROR, "ERR_POISON")


async def test_a_stage_without_retries_ends_with_the_worker_that_died(store: Store, clock: FakeClock) -> None:
    """K9: three retries spent, then its worker is dead: failed, told as such, and the document in error."""
    document, _ = await admitted(store)
    for _ in range(3):
        lease = await claimed_job(store.queue)
        await store.queue.settle([(lease, Retry(an_error()))])
        clock.advance(60)
        await store.queue.promote()
    lease = await claimed_job(store.queue)
    await store.queue.beat(lease.worker, concurrency=1)
    seq = (await events(store))[-1].seq

    await die(store.queue, lease.worker)

    told = await events(store, seq)
    assert statuses(told) == [("job.status_updated", "failed"), ("document.status_updated", "error")]
    payload = json.loads(told[0].payload_json)
    assert payload["retry_count"] == 3
    assert payload["error_message"]
    assert (await document_of(store, document)).state is DocumentState.ERROR


async def test_a_long_error_is_told_shortened(store: Store) -> None:
    """K9: an event never carries more of a message than the store keeps."""
    await admitted(store)
    lease = await claimed_job(store.queue)

    await store.queue.settle([(lease, Failed(an_error("ERR_HANDLER_FAILED", "x" * 100_000)))])

    (failed,) = [each for each in await events(store) if '"failed"' in each.payload_json]
    assert json.loads(failed.payload_json)["error_message"] == "x" * MESSAGE_LENGTH_MAX


async def test_a_later_job_keeps_the_document_from_being_called_failed(store: Store) -> None:
    """K9: while a newer request has its say, an older one's failure is not the document's end."""
    document, _ = await admitted(store)
    lease = await claimed_job(store.queue)
    _, later = await admitted(store)

    await store.queue.settle([(lease, Failed(_permanent()))])

    assert later != lease.job_id
    assert (await document_of(store, document)).state is DocumentState.PENDING


async def test_a_delete_ends_the_stage_of_what_waited(store: Store) -> None:
    """K9: the superseded ingest's stage is failed; nothing waits for it any more."""
    document, first = await admitted(store)
    lease = await claimed_job(store.queue)
    _, waiting = await admitted(store)

    await store.queue.submit([a_delete("/a.txt")])

    stages = await store.catalogue.stages_of_job(waiting)
    assert first == lease.job_id
    assert document.id == stages[0].document
    assert all(stage.finished_at is not None for stage in stages if stage.state is StageState.FAILED)


async def test_finishing_a_stage_gives_the_retries_back(store: Store, clock: FakeClock) -> None:
    """K10: four attempts at parsing and four at ingesting."""
    document, job = await admitted(store)
    lease = await claimed_job(store.queue)
    await store.queue.settle([(lease, Retry(an_error()))])
    clock.advance(60)
    await store.queue.promote()
    again = await claimed_job(store.queue)

    def parsed(tx: Transaction) -> None:
        tx.stages.finish(again, tx.stages.begin(again, document.id, StageKind.PARSE))
        tx.stages.begin(again, document.id, StageKind.INGEST)

    await store.write(parsed)
    await store.queue.settle([(again, Retry(an_error()))])

    parse, ingest = await store.catalogue.stages_of_job(job)
    assert (parse.state, parse.retry_count) == (StageState.SUCCESS, 1)
    assert (ingest.state, ingest.retry_count) == (StageState.QUEUED, 1)


async def test_a_retry_repeats_no_finished_stage(store: Store, clock: FakeClock) -> None:
    """K9: beginning a finished stage again gives it back as it is, and finishing it again tells nothing."""
    document, job = await admitted(store)
    lease = await claimed_job(store.queue)

    def to_ingest(tx: Transaction, lease: Lease) -> None:
        tx.documents.admit(new_document(declared(tx).id), job=lease.job_id)
        tx.stages.finish(lease, tx.stages.begin(lease, document.id, StageKind.PARSE))
        tx.stages.begin(lease, document.id, StageKind.INGEST)

    await store.write(lambda tx: to_ingest(tx, lease))
    await store.queue.settle([(lease, Retry(an_error()))])
    clock.advance(60)
    await store.queue.promote()
    again = await claimed_job(store.queue)
    told = len(await events(store))
    await store.write(lambda tx: to_ingest(tx, again))

    stages = await store.catalogue.stages_of_job(job)
    assert [(each.kind, each.state) for each in stages] == [
        (StageKind.PARSE, StageState.SUCCESS),
        (StageKind.INGEST, StageState.RUNNING),
    ]
    assert stages[1].retry_count == 1
    assert len(await events(store)) == told


async def test_an_attempt_that_lost_its_job_moves_no_stage(store: Store, clock: FakeClock) -> None:
    """K9: the token decides, also for stages."""
    document, _ = await admitted(store)
    lease = await claimed_job(store.queue)
    await store.queue.beat(lease.worker, concurrency=1)
    clock.advance(DEAD_AFTER + 1)
    await store.queue.rescue()

    with pytest.raises(LeaseLost):
        await store.write(lambda tx: tx.stages.begin(lease, document.id, StageKind.PARSE))


async def test_other_jobs_on_a_document_are_tasks(store: Store) -> None:
    """K11: they tell `task.status_updated` with their type and operation."""
    document = await ingested(store)
    await store.queue.submit([a_delete("/a.txt")])
    lease = await claimed_job(store.queue)

    def delete(tx: Transaction) -> None:
        stage = tx.stages.begin(lease, document.id, StageKind.TASK)
        tx.documents.hide(document.id)
        tx.stages.finish(lease, stage)

    before = len(await events(store))
    await store.write(delete)

    found = (await events(store))[before:]
    assert statuses(found) == [
        ("task.status_updated", "running"),
        ("document.status_updated", "deleted"),
        ("task.status_updated", "success"),
    ]
    told = json.loads(found[0].payload_json)
    assert (told["item_type"], told["op"]) == ("file", "delete")


async def test_an_ended_job_is_awaited_by_nobody(store: Store) -> None:
    """K9: admitting for a job that is over leaves the document as it is."""
    document = await ingested(store)
    (receipt,) = await store.queue.submit([a_job("/elsewhere.txt")])
    await store.desk.cancel([receipt.job_id])

    admitted_again = await store.write(
        lambda tx: tx.documents.admit(new_document(document.collection), job=receipt.job_id)
    )

    assert admitted_again.state is DocumentState.INGESTED
    assert await store.catalogue.stages_of_job(receipt.job_id) == []


async def test_a_document_keeps_a_bounded_number_of_stages(store: Store) -> None:
    """K9: years of re-ingests leave the latest stages, not all of them."""
    document = await ingested(store)
    for _ in range(60):
        (receipt,) = await store.queue.submit([a_job("/a.txt")])
        lease = await claimed_job(store.queue)
        await store.write(
            lambda tx, lease=lease: tx.stages.finish(  # type: ignore[misc]
                lease, tx.stages.begin(lease, document.id, StageKind.PARSE)
            )
        )
        await store.queue.settle([(lease, DONE)])

    stages = await store.catalogue.stages(document.id)
    assert 50 <= len(stages) <= 52
    assert stages[-1].job == receipt.job_id


def _permanent() -> ErrorReport:
    return an_error("ERR_PDF_INVALID", "page 3 is damaged", ErrorClass.PERMANENT)
